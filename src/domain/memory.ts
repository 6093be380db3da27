/** Fields of /proc/meminfo in bytes; absent fields are null, since kernels differ. See proc_meminfo(5). */
export type MemInfo = {
	readonly total: number;
	readonly free: number;
	readonly available: number;
	readonly buffers: number | null;
	readonly cached: number | null;
	readonly anonPages: number | null;
	readonly shmem: number | null;
	readonly slabUnreclaimable: number | null;
	readonly kernelStack: number | null;
	readonly pageTables: number | null;
	readonly percpu: number | null;
	readonly swapTotal: number | null;
	readonly swapFree: number | null;
	readonly hugePagesTotal: number | null;
	readonly hugePagesFree: number | null;
	readonly hugePageSize: number | null;
	readonly cmaTotal: number | null;
	readonly cmaFree: number | null;
};

/** /proc/pressure/memory: share of time in which some or all tasks waited for memory, in percent. */
export type Pressure = {
	readonly some10: number;
	readonly full10: number;
};
