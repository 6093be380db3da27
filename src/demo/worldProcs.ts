import { MiB } from '../domain/bytes.ts';
import type { Proc, ProcSpec, SimHost } from './worldTypes.ts';
import { level, steady } from './worldTypes.ts';

/** Plans something for `seconds` (at speed 1) from now. */
export const later = (host: SimHost, seconds: number, act: () => void): void => {
	host.order += 1;
	host.plans.push({ at: host.now + seconds / host.speed, order: host.order, act });
};

export type Spawn = ProcSpec & {
	readonly cgroup: string;
	readonly gpuType?: 'C' | 'G' | null;
	readonly parent?: number;
	/** Seconds (speed 1) until host memory is there; 0 for a process that has been there for long. */
	readonly grows?: number;
	readonly startedAt?: number;
};

export const spawn = (host: SimHost, spec: Spawn): Proc => {
	host.nextPid += 1 + Math.floor(host.random.next() * 7);
	const bytes = pages(spec.hostMiB * MiB);
	const { grows = 0 } = spec;
	const proc: Proc = {
		pid: host.nextPid,
		startedAt: spec.startedAt ?? host.now,
		name: spec.name,
		command: spec.command,
		user: spec.user,
		parent: spec.parent ?? 1,
		cgroup: spec.cgroup,
		anon: grows > 0 ? { from: 0, to: bytes, at: host.now, takes: grows / host.speed } : steady(bytes),
		gpu: steady(grows > 0 ? 0 : spec.gpuMiB),
		gpuType: spec.gpuType === undefined ? (spec.gpuMiB > 0 ? 'C' : null) : spec.gpuType,
	};
	host.procs.set(proc.pid, proc);
	return proc;
};

/** Whole pages of 4 KiB, so that sums over /proc/PID/statm are those of /proc/meminfo. */
const pages = (bytes: number): number => Math.round(bytes / 4096) * 4096;

export const anonBytes = (proc: Proc, now: number): number => pages(level(proc.anon, now));

/** Whole MiB, as the driver counts. */
export const gpuMiB = (proc: Proc, now: number): number => Math.round(level(proc.gpu, now));

/** Ends a process: it is in no list any more, but the driver gives its memory back over `takes` seconds (speed 1). */
export const endProc = (host: SimHost, pid: number, takes: number): void => {
	const proc = host.procs.get(pid);
	if (!proc) return;
	host.procs.delete(pid);
	const bytes = anonBytes(proc, host.now) + gpuMiB(proc, host.now) * MiB;
	if (bytes > 0) host.returning.push({ from: bytes, to: 0, at: host.now, takes: takes / host.speed });
};

/** The memory of a process that loads a model: nothing until it asks the GPU, then up to its full figure. */
export const fillGpu = (host: SimHost, proc: Proc, mib: number, seconds: number): void => {
	proc.gpu = { from: gpuMiB(proc, host.now), to: mib, at: host.now, takes: seconds / host.speed };
};
