import type { Process } from './process.ts';
import type { Container, Unit } from './unit.ts';

export type Manager = 'system' | 'user' | 'container' | 'process';

export type ServiceState = 'running' | 'exited' | 'starting' | 'stopping' | 'stopped' | 'failed';

/** Something on a host that can be stopped and started as one. */
export type Service = {
	/** `HOST/MANAGER/NAME`: stable over restarts of the service, of the host and of the console. */
	readonly id: string;
	readonly host: string;
	readonly name: string;
	readonly manager: Manager;
	readonly state: ServiceState;
	/** What the service says of itself; text of the host, to be shown as data. */
	readonly description: string;
	/** GPU memory of its processes; null where that can't be told. */
	readonly gpuBytes: number | null;
	/** True where a process of it has GPU memory without a figure: then `gpuBytes` is a lower bound. */
	readonly gpuAtLeast: boolean;
	/** Anonymous memory of its processes, which is disjoint from GPU memory on a unified pool. */
	readonly hostBytes: number;
	/** How many of `hostBytes` may be counted more than once (see CgroupSum): then it is an upper bound. */
	readonly doubtfulBytes: number;
	/** The operator's word that it must not be stopped. */
	readonly keep: boolean;
	/** Why it must never be stopped from here, such as the ssh server; null for most. */
	readonly guarded: string | null;
	readonly unit: Unit | null;
	readonly container: Container | null;
	/** Those of its processes that hold GPU memory or are large. */
	readonly processes: readonly Process[];
	readonly processCount: number;
};

export const serviceId = (host: string, manager: Manager, name: string): string => `${host}/${manager}/${name}`;

/** Bytes it is known to hold on a unified pool. */
export const heldBytes = (service: Service): number => (service.gpuBytes ?? 0) + service.hostBytes;

export const isActive = (service: Service): boolean => service.state !== 'stopped' && service.state !== 'failed';
