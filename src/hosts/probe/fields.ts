import type { Identity } from '../../domain/host.ts';
import type { CgroupSum, Process } from '../../domain/process.ts';
import type { ProbeMessage } from './lines.ts';

// Fields of the probe's messages. A host may send anything: what is not of its type is as if it were not there.

export const number = (value: unknown): number | null =>
	typeof value === 'number' && Number.isFinite(value) ? value : null;
export const string = (value: unknown): string => (typeof value === 'string' ? value : '');
export const strings = (value: unknown): string[] =>
	Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

export const readIdentity = (message: ProbeMessage): Identity => ({
	hostname: string(message['hostname']),
	kernel: string(message['kernel']),
	machine: string(message['machine']),
	bootId: string(message['boot']),
	user: string(message['user']),
	uid: number(message['uid']) ?? -1,
});

const readProcess = (value: unknown): Process | null => {
	if (!Array.isArray(value)) return null;
	const [pid, startTicks, state, name, cgroup, anonBytes] = value as unknown[];
	if (number(pid) === null || number(startTicks) === null) return null;
	return {
		pid: pid as number,
		startTicks: startTicks as number,
		state: string(state),
		name: string(name),
		cgroup: string(cgroup),
		anonBytes: Math.max(0, number(anonBytes) ?? 0),
	};
};

export const readProcesses = (value: unknown): Process[] =>
	Array.isArray(value) ? value.map(readProcess).filter((process) => process !== null) : [];

/** The sums of a walk: path -> [processes, bytes, how they are known, bytes of the largest process]. */
export const readSums = (value: unknown): CgroupSum[] => {
	const sums: CgroupSum[] = [];
	for (const [path, sum] of Object.entries(typeof value === 'object' && value !== null ? value : {})) {
		if (!Array.isArray(sum)) continue;
		const anonBytes = Math.max(0, number(sum[1]) ?? 0);
		const largest = number(sum[3]) ?? anonBytes;
		const doubtfulBytes = sum[2] === 'rss' ? Math.max(0, anonBytes - largest) : 0;
		sums.push({ path, processes: number(sum[0]) ?? 0, anonBytes, doubtfulBytes });
	}
	return sums;
};
