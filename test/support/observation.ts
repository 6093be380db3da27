import { GiB, MiB } from '../../src/domain/bytes.ts';
import type { Observation } from '../../src/domain/observation.ts';
import type { CgroupSum, Process } from '../../src/domain/process.ts';
import type { Unit } from '../../src/domain/unit.ts';

export const AT = 1_700_000_000_000;

export const unit = (name: string, more: Partial<Unit> = {}): Unit => ({
	name,
	manager: 'system',
	description: `${name} of a test`,
	loadState: 'loaded',
	activeState: 'active',
	subState: 'running',
	type: 'simple',
	mainPid: 100,
	cgroup: `/system.slice/${name}`,
	invocationId: '0123456789abcdef0123456789abcdef',
	hasJob: false,
	result: 'success',
	restart: 'always',
	restarts: 0,
	unitFileState: 'enabled',
	triggeredBy: [],
	stopsWith: [],
	upheldBy: [],
	execStart: [['/usr/bin/x']],
	stopTimeoutMs: 90_000,
	activeSince: 10,
	...more,
});

export const process_ = (pid: number, cgroup: string, more: Partial<Process> = {}): Process => ({
	pid,
	startTicks: pid * 10,
	state: 'S',
	name: 'python3',
	cgroup,
	anonBytes: 100 * MiB,
	...more,
});

export const sum = (path: string, anonBytes: number, processes = 1, doubtfulBytes = 0): CgroupSum => ({
	path,
	anonBytes,
	processes,
	doubtfulBytes,
});

const fact = <T>(value: T, source = 'a test', observedAt = AT) => ({ value, source, observedAt });

export type Parts = {
	readonly host?: string;
	readonly at?: number;
	readonly memory?: Partial<Observation['memory']['value']>;
	readonly units?: readonly Unit[];
	readonly processes?: readonly Process[];
	readonly cgroups?: readonly CgroupSum[];
	readonly gpu?: readonly (readonly [pid: number, bytes: number | null])[] | null;
	readonly containers?: Observation['containers'] extends infer F ? (F extends { value: infer V } ? V : never) : never;
	readonly more?: Partial<Observation>;
};

/** An observation of a host with 120 GiB, with what a test needs in it. */
export const observation = (parts: Parts = {}): Observation => {
	const at = parts.at ?? AT;
	return {
		host: parts.host ?? 'spark-a',
		at,
		sequence: 1,
		complete: true,
		identity: { hostname: 'a', kernel: '6.17', machine: 'aarch64', bootId: 'boot-1', user: 'spark', uid: 1000 },
		uptime: 1000,
		memory: fact(
			{
				total: 120 * GiB,
				free: 5 * GiB,
				available: 15 * GiB,
				buffers: 0,
				cached: 10 * GiB,
				anonPages: 5 * GiB,
				shmem: 0,
				slabUnreclaimable: GiB,
				kernelStack: 0,
				pageTables: 0,
				percpu: 0,
				swapTotal: 16 * GiB,
				swapFree: 16 * GiB,
				hugePagesTotal: 0,
				hugePagesFree: 0,
				hugePageSize: 2 * MiB,
				cmaTotal: 0,
				cmaFree: 0,
				...parts.memory,
			},
			'/proc/meminfo',
			at,
		),
		pressure: null,
		cpuBusy: 0.1,
		gpus: fact([], 'nvidia-smi --query-gpu', at),
		gpuProcesses:
			parts.gpu === null
				? null
				: fact(
						(parts.gpu ?? []).map(([pid, bytes]) => ({ pid, bytes, name: 'VLLM::EngineCore' })),
						'nvidia-smi --query-compute-apps',
						at,
					),
		processes: parts.processes ?? [],
		cgroups: fact(parts.cgroups ?? [], '/proc/PID/statm', at),
		units: fact(parts.units ?? [], 'systemctl show', at),
		containers: fact(parts.containers ?? [], 'docker ps', at),
		failures: [],
		...parts.more,
	};
};

export const settings = { name: 'spark-a', role: null, keep: [] as string[] };
