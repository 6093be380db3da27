import { failure } from '../../domain/failure.ts';
import type { MemInfo, Pressure } from '../../domain/memory.ts';
import { fail, ok, type Result } from '../../domain/result.ts';

const FIELD = /^([A-Za-z][\w()]*):\s+(\d{1,15})(?: (kB))?\s*$/;

/** /proc/meminfo (proc_meminfo(5)): kB are KiB. Total, free and available must be there and fit into each other. */
export const parseMemInfo = (text: string): Result<MemInfo> => {
	const bytes = new Map<string, number>();
	for (const line of text.split('\n')) {
		const found = FIELD.exec(line);
		if (found) bytes.set(found[1]!, Number(found[2]) * (found[3] ? 1024 : 1));
	}
	const get = (name: string): number | null => bytes.get(name) ?? null;
	const total = get('MemTotal');
	const free = get('MemFree');
	const available = get('MemAvailable');
	const bad = (what: string): Result<MemInfo> =>
		fail(failure('unreadable', `/proc/meminfo ${what}`, 'Look at it on the host: cat /proc/meminfo'));
	if (total === null || free === null || available === null) {
		return bad('has no MemTotal, MemFree or MemAvailable');
	}
	if (total === 0 || free > total || available > total) return bad('says that more is free than there is');
	return ok({
		total,
		free,
		available,
		buffers: get('Buffers'),
		cached: get('Cached'),
		anonPages: get('AnonPages'),
		shmem: get('Shmem'),
		slabUnreclaimable: get('SUnreclaim'),
		kernelStack: get('KernelStack'),
		pageTables: get('PageTables'),
		percpu: get('Percpu'),
		swapTotal: get('SwapTotal'),
		swapFree: get('SwapFree'),
		hugePagesTotal: get('HugePages_Total'),
		hugePagesFree: get('HugePages_Free'),
		hugePageSize: get('Hugepagesize'),
		cmaTotal: get('CmaTotal'),
		cmaFree: get('CmaFree'),
	});
};

/** /proc/pressure/memory. A kernel built without PSI has no such file; that is null upstream, not a failure. */
export const parsePressure = (text: string): Result<Pressure> => {
	const some = /^some avg10=(\d+\.\d+)/m.exec(text);
	const full = /^full avg10=(\d+\.\d+)/m.exec(text);
	if (!some || !full) {
		return fail(failure('unreadable', '/proc/pressure/memory is not in its usual form', 'cat /proc/pressure/memory'));
	}
	return ok({ some10: Number(some[1]), full10: Number(full[1]) });
};

export type CpuTimes = { readonly busy: number; readonly total: number };

/** The `cpu` line of /proc/stat, in clock ticks. Guest time is part of user time already (proc_stat(5)). */
export const parseCpu = (line: string): Result<CpuTimes> => {
	const fields = /^cpu\s+(\d[\d ]*)$/.exec(line.trimEnd())?.[1]?.split(' ').map(Number) ?? [];
	if (fields.length < 4) return fail(failure('unreadable', '/proc/stat has no cpu line', 'head -1 /proc/stat'));
	const total = fields.slice(0, 8).reduce((sum, value) => sum + value, 0);
	return ok({ total, busy: total - fields[3]! - (fields[4] ?? 0) });
};
