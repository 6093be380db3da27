import type { Fact } from './fact.ts';
import type { Failure } from './failure.ts';
import type { Gpu, GpuProcess } from './gpu.ts';
import type { Identity } from './host.ts';
import type { MemInfo, Pressure } from './memory.ts';
import type { CgroupSum, Process } from './process.ts';
import type { Container, Unit } from './unit.ts';

/**
 * Everything known of one host at one tick of its probe: each part with its own source and time, since they are read
 * at different rates. Parts that could not be read are empty and have an entry in `failures`.
 */
export type Observation = {
	readonly host: string;
	/** When the tick arrived, by the console's clock (ms since the epoch). */
	readonly at: number;
	/** Ticks since the probe started. */
	readonly sequence: number;
	/** False until every part has been read (or has failed) once. */
	readonly complete: boolean;
	readonly identity: Identity;
	/** Seconds since boot on the host at this tick. */
	readonly uptime: number;
	readonly memory: Fact<MemInfo>;
	readonly pressure: Fact<Pressure> | null;
	/** Share of CPU time that was not idle since the tick before, 0 to 1. */
	readonly cpuBusy: number | null;
	readonly gpus: Fact<readonly Gpu[]> | null;
	readonly gpuProcesses: Fact<readonly GpuProcess[]> | null;
	/** Processes that hold GPU memory or are large by themselves. */
	readonly processes: readonly Process[];
	readonly cgroups: Fact<readonly CgroupSum[]> | null;
	readonly units: Fact<readonly Unit[]> | null;
	readonly containers: Fact<readonly Container[]> | null;
	readonly failures: readonly Failure[];
};

/**
 * Whether CPU and GPU share one pool. A discrete GPU reports memory of its own; a GB10 reports none, and a number there
 * comes from a shim that invents it (nvml-unified-shim), so the name decides before the figure does.
 */
export const sharesOnePool = (seen: Observation): boolean =>
	!(seen.gpus?.value ?? []).some((gpu) => gpu.memoryTotalBytes !== null && !/\bGB10\b/.test(gpu.name));
