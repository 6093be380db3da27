import type { Random } from './random.ts';

/** A figure that goes from one value to another in a straight line; times are seconds since boot. */
export type Ramp = { readonly from: number; readonly to: number; readonly at: number; readonly takes: number };

export const steady = (value: number): Ramp => ({ from: value, to: value, at: 0, takes: 0 });

export const level = ({ from, to, at, takes }: Ramp, now: number): number => {
	if (now >= at + takes) return to;
	return now <= at ? from : from + ((to - from) * (now - at)) / takes;
};

export type Manager = 'system' | 'user';

/** A process as /proc and nvidia-smi show it. */
export type Proc = {
	readonly pid: number;
	readonly startedAt: number;
	/** As nvidia-smi prints it; /proc/PID/stat has its first 15 characters. */
	readonly name: string;
	readonly command: string;
	readonly user: string;
	readonly parent: number;
	readonly cgroup: string;
	/** Anonymous memory, bytes. */
	readonly anon: Ramp;
	/** GPU memory, MiB. */
	gpu: Ramp;
	readonly gpuType: 'C' | 'G' | null;
};

/** What to start for a unit or a container; the first of a list is the main process. */
export type ProcSpec = {
	readonly name: string;
	readonly command: string;
	readonly user: string;
	readonly hostMiB: number;
	readonly gpuMiB: number;
};

export type ContainerSpec = {
	readonly name: string;
	readonly image: string;
	readonly command: string;
	readonly procs: readonly ProcSpec[];
	/** `--rm`: it vanishes when it ends. */
	readonly remove: boolean;
};

/** How a unit behaves: what a unit file says, and how long things take (in seconds at speed 1). */
export type UnitSpec = {
	readonly name: string;
	readonly manager: Manager;
	readonly description: string;
	readonly type: string;
	readonly restart: 'always' | 'on-failure' | 'no';
	readonly restartSeconds: number;
	readonly unitFileState: string;
	readonly fragment: string;
	readonly execStart: readonly string[];
	readonly execStartPre: readonly string[];
	readonly execStop: readonly string[];
	readonly user: string;
	readonly wants: readonly string[];
	readonly triggeredBy: readonly string[];
	readonly requiredBy: readonly string[];
	readonly aliases: readonly string[];
	readonly timeoutStop: string;
	/** Where its processes sit; empty for one that has none. */
	readonly cgroup: string;
	readonly procs: readonly ProcSpec[];
	readonly container: ContainerSpec | null;
	readonly state: 'running' | 'exited' | 'dead' | 'failed';
	readonly stopTakes: number;
	readonly returnTakes: number;
	/** Time until the GPU is asked for memory, and how long it takes to fill it. */
	readonly loadAfter: number;
	readonly loadTakes: number;
	readonly log: readonly string[];
};

export type Unit = {
	readonly spec: UnitSpec;
	active: 'active' | 'activating' | 'deactivating' | 'inactive' | 'failed';
	sub: string;
	result: string;
	mainPid: number;
	/** Pid, start, end and exit of the last main process, for ExecStart=. */
	main: { pid: number; startedAt: number; endedAt: number | null; exit: string } | null;
	pids: number[];
	container: string | null;
	invocation: string;
	restarts: number;
	activeSince: number | null;
	inactiveSince: number | null;
	job: { readonly id: number; readonly type: 'start' | 'stop' } | null;
	/** Goes up with every change of direction, so that what was planned before is dropped. */
	epoch: number;
	startAfterStop: boolean;
	/** Messages of the manager about it: seconds since boot and text. */
	messages: { at: number; text: string }[];
};

export type Container = {
	readonly id: string;
	readonly spec: ContainerSpec;
	readonly createdAt: number;
	pids: number[];
	running: boolean;
	startedAt: number;
	endedAt: number;
	exitCode: number;
	/** Key of the unit that runs it, or null. */
	readonly unit: string | null;
};

/** What a subscriber of systemd's signals would hear of. */
export type Change = { readonly manager: Manager; readonly unit: string } | { readonly scope: string };

export type Planned = { readonly at: number; readonly order: number; readonly act: () => void };

export type SimHost = {
	readonly name: string;
	readonly role: 'head' | 'secondary';
	readonly speed: number;
	readonly bootId: string;
	readonly machineId: string;
	readonly gpuUuid: string;
	/** Wall clock at boot, ms. */
	readonly bootedAt: number;
	readonly totalKb: number;
	readonly cacheKb: number;
	readonly kernelKb: { readonly shmem: number; readonly slab: number; readonly stack: number; readonly tables: number };
	readonly percpuKb: number;
	readonly unexplainedKb: number;
	readonly random: Random;
	readonly seed: number;
	/** Seconds since boot. */
	now: number;
	cpuSeconds: number;
	readonly units: Map<string, Unit>;
	readonly procs: Map<number, Proc>;
	readonly containers: Map<string, Container>;
	/** Memory of ended processes that the driver has not given back yet, bytes. */
	returning: Ramp[];
	/** By unit: what came back less (or more) than was held, bytes; gone with its next start. */
	readonly residue: Map<string, Ramp>;
	/** How busy the GPU is with serving, 0 to 1. */
	serving: Ramp;
	plans: Planned[];
	order: number;
	nextPid: number;
	nextJob: number;
	nextSession: number;
	readonly heard: Set<(change: Change) => void>;
	readonly faults: {
		/** Whether sudo wants a password, and whether it allows anything after it. */
		sudo: 'free' | 'asks' | 'refuses';
		gpuHung: boolean;
		frozen: boolean;
		readonly sticky: Set<string>;
	};
};

export const keyOf = (manager: Manager, unit: string): string => `${manager}/${unit}`;
