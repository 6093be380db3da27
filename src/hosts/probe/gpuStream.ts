import type { Gpu, GpuProcess } from '../../domain/gpu.ts';
import { GPU_COLUMNS, headerOf, parseGpuRow, parseProcessRow, processColumnsOf } from '../parse/nvidiaSmi.ts';

/**
 * The two standing nvidia-smi loops, line by line. A loop does not mark where a round ends, so rounds are told apart by
 * what comes: a process (on the same GPU) that is named again begins a new round, and so does half a second of silence.
 * Silence itself says nothing: the list stays, gets old, and its processes leave it when they are gone.
 */
export type GpuStream = {
	readonly queryColumns: readonly string[] | null;
	readonly appsColumns: readonly string[] | null;
	readonly gpus: ReadonlyMap<number, Gpu>;
	readonly queryAt: number | null;
	readonly queryRounds: number;
	/** By pid and GPU. */
	readonly apps: ReadonlyMap<string, GpuProcess>;
	readonly appsAt: number | null;
};

export const emptyGpuStream: GpuStream = {
	queryColumns: null,
	appsColumns: null,
	gpus: new Map(),
	queryAt: null,
	queryRounds: 0,
	apps: new Map(),
	appsAt: null,
};

/** Rows further apart than this (seconds) belong to different rounds of `-l 1`. */
const ROUND = 0.5;
/** Rounds of the GPU loop after which a process loop that has printed nothing at all, not even a header, has nothing. */
const NOTHING_AFTER = 5;

/** Lines of `nvidia-smi --query-gpu`, read on the host at `at` (seconds of its monotonic clock). */
export const pushQuery = (stream: GpuStream, lines: readonly string[], at: number): GpuStream => {
	let { queryColumns: columns } = stream;
	// A GPU that is not named any more is not there any more.
	const sameRound = stream.queryAt !== null && at - stream.queryAt < ROUND;
	const gpus = new Map(sameRound ? stream.gpus : []);
	let rows = 0;
	for (const line of lines) {
		const header = headerOf(line);
		if (header) {
			columns = header;
			continue;
		}
		const row = parseGpuRow(line, columns ?? GPU_COLUMNS, rows);
		if (!row) continue;
		gpus.set(row.index, row);
		rows += 1;
	}
	if (rows === 0) return { ...stream, queryColumns: columns };
	return { ...stream, queryColumns: columns, gpus, queryAt: at, queryRounds: stream.queryRounds + 1 };
};

/** Lines of `nvidia-smi --query-compute-apps`. A header without rows says that there are none. */
export const pushApps = (stream: GpuStream, lines: readonly string[], at: number): GpuStream => {
	let { appsColumns: columns } = stream;
	const sameRound = stream.appsAt !== null && at - stream.appsAt < ROUND;
	let apps = new Map(sameRound ? stream.apps : []);
	const seen = new Set<string>();
	let said = false;
	for (const line of lines) {
		const header = headerOf(line);
		if (header) {
			columns = header;
			said = true;
			continue;
		}
		const row = parseProcessRow(line, columns ?? processColumnsOf(line));
		if (!row) continue;
		said = true;
		const key = `${row.pid} ${row.uuid}`;
		if (seen.has(key)) {
			apps = new Map();
			seen.clear();
		}
		seen.add(key);
		apps.set(key, { pid: row.pid, name: row.name, bytes: row.bytes });
	}
	if (!said) return { ...stream, appsColumns: columns };
	return { ...stream, appsColumns: columns, apps, appsAt: sameRound ? stream.appsAt : at };
};

/** Every process with what it holds on all GPUs, and when it was said (host seconds); null while nothing is known. */
export const gpuProcesses = (stream: GpuStream): { list: readonly GpuProcess[]; at: number } | null => {
	if (stream.appsAt === null) {
		return stream.queryRounds >= NOTHING_AFTER && stream.queryAt !== null ? { list: [], at: stream.queryAt } : null;
	}
	const byPid = new Map<number, GpuProcess>();
	for (const row of stream.apps.values()) {
		const before = byPid.get(row.pid);
		const bytes = before ? sum(before.bytes, row.bytes) : row.bytes;
		byPid.set(row.pid, { ...row, bytes });
	}
	return { list: [...byPid.values()], at: stream.appsAt };
};

/** A part without a figure makes the whole unknown. */
const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
