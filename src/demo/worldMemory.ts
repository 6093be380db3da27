import { KiB, MiB } from '../domain/bytes.ts';
import { wobble } from './random.ts';
import { anonBytes, gpuMiB } from './worldProcs.ts';
import { level, type SimHost } from './worldTypes.ts';

/** All parts of a host's memory at one instant, in kB; they close: used = gpu + anon + … + returning. */
export type Memory = {
	readonly total: number;
	readonly free: number;
	readonly available: number;
	/** total - available. */
	readonly used: number;
	readonly gpu: number;
	readonly anon: number;
	readonly shmem: number;
	readonly slab: number;
	readonly stack: number;
	readonly tables: number;
	readonly percpu: number;
	/** In nobody's figures, though it is in use. */
	readonly unexplained: number;
	/** Of processes that have ended, not given back yet. */
	readonly returning: number;
	/** available - free. */
	readonly cache: number;
};

/** Free pages that the kernel does not hand out to the page cache. */
const CACHE_LEAVES_KB = 512 * 1024;

export const memoryOf = (host: SimHost): Memory => {
	const { now, totalKb: total, kernelKb, percpuKb: percpu } = host;
	let gpu = 0;
	let anonymous = 0;
	for (const proc of host.procs.values()) {
		gpu += gpuMiB(proc, now) * (MiB / KiB);
		anonymous += anonBytes(proc, now);
	}
	const anon = anonymous / KiB;
	const returning = Math.round(host.returning.reduce((sum, ramp) => sum + level(ramp, now), 0) / KiB);
	const residue = Math.round([...host.residue.values()].reduce((sum, ramp) => sum + level(ramp, now), 0) / KiB);
	const unexplained = host.unexplainedKb + residue;
	const { shmem, stack, tables } = kernelKb;
	const slab = kernelKb.slab + Math.round(wobble(host.seed, 'slab', now) * 1024);
	const used = gpu + anon + shmem + slab + stack + tables + percpu + unexplained + returning;
	const available = total - used;
	const wanted = host.cacheKb + Math.round(wobble(host.seed, 'cache', now) * 20 * 1024);
	// The page cache gives way before anything else does.
	const cache = Math.max(0, Math.min(wanted, available - CACHE_LEAVES_KB));
	return {
		total,
		free: available - cache,
		available,
		used,
		gpu,
		anon,
		shmem,
		slab,
		stack,
		tables,
		percpu,
		unexplained,
		returning,
		cache,
	};
};

export const SWAP_KB = 16_777_212;

const line = (name: string, kb: number): string => `${`${name}:`.padEnd(16)}${String(kb).padStart(8)} kB\n`;

/** /proc/meminfo with the fields and the order of kernel 6.17 on arm64. */
export const meminfoText = (host: SimHost): string => {
	const memory = memoryOf(host);
	const buffers = Math.min(412_300, Math.floor(memory.cache * 0.06));
	const reclaimable = Math.min(820_412, Math.floor(memory.cache * 0.1));
	const cached = memory.cache - buffers - reclaimable + memory.shmem;
	const file = cached + buffers - memory.shmem;
	const swapFree = SWAP_KB - (host.role === 'head' ? 211_400 : 0);
	const fields: readonly (readonly [string, number])[] = [
		['MemTotal', memory.total],
		['MemFree', memory.free],
		['MemAvailable', memory.available],
		['Buffers', buffers],
		['Cached', cached],
		['SwapCached', host.role === 'head' ? 10_212 : 0],
		['Active', Math.floor(file * 0.4) + Math.floor(memory.anon * 0.7)],
		['Inactive', file - Math.floor(file * 0.4) + memory.anon - Math.floor(memory.anon * 0.7)],
		['Active(anon)', Math.floor(memory.anon * 0.7)],
		['Inactive(anon)', memory.anon - Math.floor(memory.anon * 0.7)],
		['Active(file)', Math.floor(file * 0.4)],
		['Inactive(file)', file - Math.floor(file * 0.4)],
		['Unevictable', 48],
		['Mlocked', 48],
		['SwapTotal', SWAP_KB],
		['SwapFree', swapFree],
		['Zswap', 0],
		['Zswapped', 0],
		['Dirty', 412 + Math.abs(Math.round(wobble(host.seed, 'dirty', host.now) * 3000))],
		['Writeback', 0],
		['AnonPages', memory.anon],
		['Mapped', 512_044],
		['Shmem', memory.shmem],
		['KReclaimable', reclaimable],
		['Slab', reclaimable + memory.slab],
		['SReclaimable', reclaimable],
		['SUnreclaim', memory.slab],
		['KernelStack', memory.stack],
		['PageTables', memory.tables],
		['SecPageTables', 4],
		['NFS_Unstable', 0],
		['Bounce', 0],
		['WritebackTmp', 0],
		['CommitLimit', SWAP_KB + Math.floor(memory.total / 2)],
		['Committed_AS', memory.anon + memory.gpu + memory.shmem],
		['VmallocTotal', 133_141_626_880],
		['VmallocUsed', 228_840],
		['VmallocChunk', 0],
		['Percpu', memory.percpu],
		['HardwareCorrupted', 0],
		['AnonHugePages', 0],
		['ShmemHugePages', 0],
		['ShmemPmdMapped', 0],
		['FileHugePages', 0],
		['FilePmdMapped', 0],
		['CmaTotal', 0],
		['CmaFree', 0],
	];
	const pages =
		'HugePages_Total:       0\nHugePages_Free:        0\nHugePages_Rsvd:        0\nHugePages_Surp:        0\n';
	return `${fields.map(([name, kb]) => line(name, kb)).join('')}${pages}${line('Hugepagesize', 2048)}${line('Hugetlb', 0)}`;
};
