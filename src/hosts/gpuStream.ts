import type { Gpu, GpuProcess } from '../domain/gpu.ts';
import { GPU_COLUMNS, headerOf, parseGpuRow, parseProcessRow, processColumnsOf } from './parse/nvidiaSmi.ts';

/**
 * The two standing nvidia-smi loops, line by line. A loop does not mark where a round ends, and a round without
 * processes prints nothing at all, so rounds are told apart by time: rows that come within half a second belong
 * together, and "no process" is what silence of one loop means while the other one speaks.
 */
export type GpuStream = {
	readonly queryColumns: readonly string[] | null;
	readonly appsColumns: readonly string[] | null;
	readonly gpus: ReadonlyMap<number, Gpu>;
	readonly queryAt: number | null;
	readonly queryRounds: number;
	readonly apps: ReadonlyMap<number, GpuProcess>;
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
/** Silence (seconds) of the process loop after which there are no processes, while the GPU loop goes on. */
const SILENT = 2.5;

/** Lines of `nvidia-smi --query-gpu`, read on the host at `at` (seconds of its monotonic clock). */
export const pushQuery = (stream: GpuStream, lines: readonly string[], at: number): GpuStream => {
	let { queryColumns: columns } = stream;
	const gpus = new Map(stream.gpus);
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

/** Lines of `nvidia-smi --query-compute-apps`. */
export const pushApps = (stream: GpuStream, lines: readonly string[], at: number): GpuStream => {
	let { appsColumns: columns } = stream;
	const sameRound = stream.appsAt !== null && at - stream.appsAt < ROUND;
	const apps = new Map(sameRound ? stream.apps : []);
	const seen = new Set<number>();
	let rows = 0;
	for (const line of lines) {
		const header = headerOf(line);
		if (header) {
			columns = header;
			continue;
		}
		const row = parseProcessRow(line, columns ?? processColumnsOf(line));
		if (!row) continue;
		rows += 1;
		// A process on several GPUs has a row for each; within one chunk they add up.
		const before = seen.has(row.pid) ? apps.get(row.pid)?.bytes : null;
		seen.add(row.pid);
		apps.set(row.pid, { ...row, bytes: before ? before + (row.bytes ?? 0) : row.bytes });
	}
	if (rows === 0) return { ...stream, appsColumns: columns };
	return { ...stream, appsColumns: columns, apps, appsAt: sameRound ? stream.appsAt : at };
};

/** The list as it stands at `now` (host seconds): rows, an empty list that is known to be empty, or null (unknown). */
export const appsAt = (stream: GpuStream, now: number): { list: readonly GpuProcess[]; at: number } | null => {
	const alive = stream.queryAt !== null && now - stream.queryAt < SILENT;
	const { appsAt: last } = stream;
	if (last !== null && (now - last < SILENT || !alive)) return { list: [...stream.apps.values()], at: last };
	if (alive && (last !== null || stream.queryRounds >= 3)) return { list: [], at: stream.queryAt ?? now };
	return null;
};
