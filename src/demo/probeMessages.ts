import type { Machine } from './machine.ts';
import { comm, psiText, startTicks, stateOf, statText } from './procFiles.ts';
import { OPERATOR } from './program.ts';
import { KERNEL, MACHINE } from './programs/hostTools.ts';
import { meminfoText } from './worldMemory.ts';
import { anonBytes, spawn } from './worldProcs.ts';
import type { Proc, SimHost } from './worldTypes.ts';

/** The contents of the probe's messages, taken from the simulated world. */

/** The probe and its two nvidia-smi loops are processes like any other. */
export const ownProcesses = (host: SimHost, cgroup: string): number[] => {
	const common = { user: OPERATOR.name, gpuMiB: 0, cgroup };
	const own = spawn(host, { ...common, name: 'python3', command: 'python3 -uc import os,sys', hostMiB: 8.5 });
	const smi = ['--query-gpu', '--query-compute-apps'].map((what) =>
		spawn(host, { ...common, name: 'nvidia-smi', command: `nvidia-smi ${what} -l 1`, hostMiB: 3.1, parent: own.pid }),
	);
	return [own, ...smi].map(({ pid }) => pid);
};

export const hello = (machine: Machine, pid: number): object => {
	const host = machine.see();
	return {
		at: host.now,
		hostname: host.name,
		kernel: KERNEL,
		machine: MACHINE,
		boot: host.bootId,
		uid: OPERATOR.uid,
		user: OPERATOR.name,
		hertz: 100,
		python: '3.12.3',
		pid,
	};
};

const row = (host: SimHost, proc: Proc): unknown[] => [
	proc.pid,
	startTicks(proc),
	stateOf(host, proc),
	comm(proc),
	proc.cgroup,
	anonBytes(proc, host.now),
];

const LARGE = 64 * 1024 * 1024;
const KERNEL_THREADS = 412;

/** [processes, anonymous bytes, how they are known, bytes of the largest process]: from memory.stat where there are several. */
type Group = [processes: number, bytes: number, known: 'process' | 'cgroup' | 'rss', largest: number];

export const walk = (host: SimHost): { groups: Record<string, Group>; large: unknown[][] } => {
	const groups: Record<string, Group> = { '/': [KERNEL_THREADS, 0, 'rss', 0] };
	const large: unknown[][] = [];
	for (const proc of host.procs.values()) {
		const bytes = anonBytes(proc, host.now);
		const [count, sum, , largest] = groups[proc.cgroup] ?? [0, 0, 'process', 0];
		groups[proc.cgroup] = [count + 1, sum + bytes, count === 0 ? 'process' : 'cgroup', Math.max(largest, bytes)];
		if (bytes >= LARGE) large.push(row(host, proc));
	}
	return { groups, large };
};

export const tick = (host: SimHost, sequence: number, held: Map<number, number>): object => {
	const procs: unknown[][] = [];
	for (const [pid, at] of held) {
		const proc = host.procs.get(pid);
		if (proc) procs.push(row(host, proc));
		else if (host.now - at > 3) held.delete(pid);
	}
	return {
		n: sequence,
		at: host.now,
		meminfo: meminfoText(host),
		psi: psiText(host),
		cpu: statText(host).split('\n')[0],
		gone: [...held.keys()].filter((pid) => !host.procs.has(pid)),
		procs,
	};
};
