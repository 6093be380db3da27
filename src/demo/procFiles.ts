import { wobble } from './random.ts';
import { meminfoText } from './worldMemory.ts';
import { anonBytes } from './worldProcs.ts';
import { level, type Proc, type SimHost } from './worldTypes.ts';

/** The files of a simulated host; everything else does not exist. */

const CORES = 20;
const HERTZ = 100;
const PAGE = 4096;

export const startTicks = (proc: Proc): number => Math.round(proc.startedAt * HERTZ);

/** As the kernel has it: 15 characters. */
export const comm = (proc: Proc): string => proc.name.split('/').at(-1)!.slice(0, 15);

const STATES: Readonly<Record<string, string>> = { S: 'S (sleeping)', R: 'R (running)' };

export const stateOf = (host: SimHost, proc: Proc): 'R' | 'S' =>
	proc.gpuType === 'C' && proc.gpu.to > 40_000 && level(host.serving, host.now) > 0.5 ? 'R' : 'S';

/** Total and busy clock ticks over all cores. */
const cpuLine = (host: SimHost): string => {
	const total = Math.floor(host.now * CORES * HERTZ);
	const busy = Math.floor(host.cpuSeconds * HERTZ);
	const user = Math.floor(busy * 0.8);
	const io = Math.floor(total * 0.0004);
	return `cpu  ${user} ${Math.floor(busy * 0.01)} ${busy - user - Math.floor(busy * 0.01)} ${total - busy - io} ${io} 0 0 0 0 0`;
};

export const statText = (host: SimHost): string =>
	`${cpuLine(host)}\nctxt ${Math.floor(host.now * 9000)}\nbtime ${Math.floor(host.bootedAt / 1000)}\nprocesses ${host.nextPid}\nprocs_running 2\nprocs_blocked 0\n`;

export const psiText = (host: SimHost): string => {
	const total = Math.floor(host.now * 3);
	const line = (name: string): string => `${name} avg10=0.00 avg60=0.00 avg300=0.00 total=${total}\n`;
	return line('some') + line('full');
};

/** Shared pages: mapped files; not part of what is anonymous. */
const sharedPages = (proc: Proc): number => (proc.gpuType === 'C' ? 60_000 : 1500);

const ofProcess = (host: SimHost, proc: Proc, file: string): string | undefined => {
	const shared = sharedPages(proc);
	const resident = anonBytes(proc, host.now) / PAGE + shared;
	switch (file) {
		case 'stat':
			return `${proc.pid} (${comm(proc)}) ${stateOf(host, proc)} ${proc.parent} ${proc.pid} ${proc.pid} 0 -1 4194304 ${resident} 0 12 0 4012 911 0 0 20 0 8 0 ${startTicks(proc)} ${(resident + 20_000) * PAGE} ${resident} 18446744073709551615 1 1 0 0 0 0 0 16781312 17442 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n`;
		case 'statm':
			return `${resident + 20_000} ${resident} ${shared} 600 0 ${resident} 0\n`;
		case 'cgroup':
			return `0::${proc.cgroup}\n`;
		case 'comm':
			return `${comm(proc)}\n`;
		case 'cmdline':
			return `${proc.command.replaceAll(' ', '\0')}\0`;
		case 'status':
			return `Name:\t${comm(proc)}\nState:\t${STATES[stateOf(host, proc)]}\nPid:\t${proc.pid}\nPPid:\t${proc.parent}\nVmRSS:\t${resident * 4} kB\nRssAnon:\t${anonBytes(proc, host.now) / 1024} kB\nRssFile:\t${shared * 4} kB\nRssShmem:\t0 kB\nThreads:\t8\n`;
		default:
			return undefined;
	}
};

/** Text of a file, or why there is none. */
export const readFile = (host: SimHost, path: string): { text: string } | { fault: string } => {
	const found = /^\/proc\/(\d+)\/([a-z]+)$/.exec(path);
	const proc = found ? host.procs.get(Number(found[1])) : undefined;
	const text = proc ? ofProcess(host, proc, found![2]!) : FILES[path]?.(host);
	if (text !== undefined) return { text };
	return { fault: DIRECTORIES.has(path) ? 'Is a directory' : 'No such file or directory' };
};

const DIRECTORIES = new Set(['/', '/proc', '/etc', '/home', '/home/spark', '/tmp', '/run', '/run/user/1000']);

export const isDirectory = (path: string): boolean => DIRECTORIES.has(path);

const FILES: Readonly<Record<string, (host: SimHost) => string>> = {
	'/proc/meminfo': meminfoText,
	'/proc/pressure/memory': psiText,
	'/proc/stat': statText,
	'/proc/uptime': (host) => `${host.now.toFixed(2)} ${(host.now * CORES - host.cpuSeconds).toFixed(2)}\n`,
	'/proc/loadavg': (host) => `${loads(host).join(' ')} 3/1240 ${host.nextPid}\n`,
	'/proc/sys/kernel/random/boot_id': (host) => `${host.bootId}\n`,
	'/etc/machine-id': (host) => `${host.machineId}\n`,
	'/etc/hostname': (host) => `${host.name}\n`,
	'/etc/os-release': () =>
		'PRETTY_NAME="Ubuntu 24.04.4 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\nVERSION="24.04.4 LTS (Noble Numbat)"\nVERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian\nHOME_URL="https://www.ubuntu.com/"\nUBUNTU_CODENAME=noble\n',
	'/etc/dgx-release': () =>
		'DGX_NAME="DGX Spark"\nDGX_PRETTY_NAME="NVIDIA DGX Spark"\nDGX_SWBUILD_DATE="2025-09-10-13-50-03"\nDGX_SWBUILD_VERSION="7.2.3"\nDGX_PLATFORM="DGX Server for KVM"\nDGX_OTA_VERSION="7.4.0"\nDGX_OTA_DATE="Tue Feb 17 22:17:46 UTC 2026"\n',
};

/** Load averages. */
export const loads = (host: SimHost): string[] => {
	const base = 0.3 + 2.4 * level(host.serving, host.now);
	return ['1', '5', '15'].map((span) => Math.max(0, base + wobble(host.seed, span, host.now / 60) * 0.2).toFixed(2));
};
