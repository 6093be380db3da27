import { type Options, type OptionTable, readOptions } from '../options.ts';
import { comm, loads, startTicks, stateOf } from '../procFiles.ts';
import { type Call, OPERATOR, type Program } from '../program.ts';
import { memoryOf, SWAP_KB } from '../worldMemory.ts';
import { anonBytes } from '../worldProcs.ts';
import type { SimHost } from '../worldTypes.ts';
import { ctime, wallAt } from './time.ts';

/** Programs that say who and how the host is. */

export const KERNEL = '6.17.0-1021-nvidia';
export const MACHINE = 'aarch64';

const tool =
	(table: OptionTable, body: (call: Call, options: Options, host: SimHost) => number): Program =>
	(call) => {
		const read = readOptions(call.args, table);
		if (read.ok) return body(call, read.options, call.machine.see());
		call.err(`${call.name}: ${read.fault}\nTry '${call.name} --help' for more information.\n`);
		return 1;
	};

const extra = (call: Call, operand: string): number => {
	call.err(`${call.name}: extra operand '${operand}'\nTry '${call.name} --help' for more information.\n`);
	return 1;
};

export const hostname = tool({ '-s': ['short', false] }, (call, { rest }, host) => {
	if (rest.length > 0) {
		call.err('hostname: you must be root to change the host name\n');
		return 1;
	}
	call.out(`${host.name}\n`);
	return 0;
});

export const uname = tool(
	{ '-a': ['a', false], '-s': ['s', false], '-n': ['n', false], '-r': ['r', false], '-m': ['m', false] },
	(call, options, host) => {
		if (options.rest[0] !== undefined) return extra(call, options.rest[0]);
		const version = '#21-Ubuntu SMP PREEMPT_DYNAMIC Wed May 27 19:14:05 UTC 2026';
		if (options.has('a')) {
			call.out(`Linux ${host.name} ${KERNEL} ${version} ${MACHINE} ${MACHINE} ${MACHINE} GNU/Linux\n`);
			return 0;
		}
		const parts = { s: 'Linux', n: host.name, r: KERNEL, m: MACHINE };
		const asked = (['s', 'n', 'r', 'm'] as const).filter((key) => options.has(key));
		call.out(`${(asked.length > 0 ? asked : (['s'] as const)).map((key) => parts[key]).join(' ')}\n`);
		return 0;
	},
);

export const id = tool({ '-u': ['u', false], '-g': ['g', false], '-n': ['n', false] }, (call, options) => {
	if (options.rest.length > 0 && options.rest[0] !== OPERATOR.name) {
		call.err(`id: ‘${options.rest[0]}’: no such user\n`);
		return 1;
	}
	const name = call.root ? 'root' : OPERATOR.name;
	const number = call.root ? 0 : OPERATOR.uid;
	if (options.has('u') || options.has('g')) call.out(`${options.has('n') ? name : number}\n`);
	else if (options.has('n')) {
		call.err('id: cannot print only names or real IDs in default format\n');
		return 1;
	} else if (call.root) call.out('uid=0(root) gid=0(root) groups=0(root)\n');
	else call.out('uid=1000(spark) gid=1000(spark) groups=1000(spark),4(adm),27(sudo),988(docker)\n');
	return 0;
});

export const uptime = tool({}, (call, { rest }, host) => {
	if (rest[0] !== undefined) return extra(call, rest[0]);
	const days = Math.floor(host.now / 86_400);
	const clock = `${Math.floor((host.now % 86_400) / 3600)}:${String(Math.floor((host.now % 3600) / 60)).padStart(2, '0')}`;
	const now = wallAt(host, host.now).toISOString().slice(11, 19);
	call.out(` ${now} up ${days} days, ${clock.padStart(5)},  1 user,  load average: ${loads(host).join(', ')}\n`);
	return 0;
});

export const date = tool({ '-u': ['utc', false] }, (call, { rest }, host) => {
	const [format] = rest;
	if (format === undefined) call.out(`${ctime(wallAt(host, host.now), 'UTC ')}\n`);
	else if (format === '+%s') call.out(`${Math.floor(wallAt(host, host.now).getTime() / 1000)}\n`);
	else {
		call.err(`date: invalid date '${format}'\n`);
		return 1;
	}
	return 0;
});

export const free = tool({ '-b': ['b', false], '-h': ['h', false] }, (call, options, host) => {
	const memory = memoryOf(host);
	const swapUsed = host.role === 'head' ? 211_400 : 0;
	const shown = (kb: number): string => {
		if (options.has('h'))
			return kb >= 10 * 1024 ** 2
				? `${Math.round(kb / 1024 ** 2)}Gi`
				: kb >= 1024 ** 2
					? `${(kb / 1024 ** 2).toFixed(1)}Gi`
					: `${Math.round(kb / 1024)}Mi`;
		return String(options.has('b') ? kb * 1024 : kb);
	};
	const width = options.has('b') ? 16 : 12;
	const row = (name: string, figures: readonly number[]): string =>
		`${name.padEnd(7)}${figures.map((kb) => shown(kb).padStart(width)).join('')}\n`;
	const titles = ['total', 'used', 'free', 'shared', 'buff/cache', 'available'];
	call.out(`${' '.repeat(7)}${titles.map((title) => title.padStart(width)).join('')}\n`);
	call.out(row('Mem:', [memory.total, memory.used, memory.free, memory.shmem, memory.cache, memory.available]));
	call.out(row('Swap:', [SWAP_KB, swapUsed, SWAP_KB - swapUsed]));
	return 0;
});

/** `ps`, `ps -e`, `ps -ef`, `ps aux`, `ps -p PID`, with `-o pid,ppid,user,rss,comm,args`. */
export const ps = tool(
	{ '-e': ['all', false], '-A': ['all', false], '-f': ['full', false], '-p': ['pid', true], '-o': ['format', true] },
	(call, options, host) => {
		const [bsd] = options.rest;
		if (bsd !== undefined && bsd !== 'aux' && bsd !== 'ax') {
			call.err(`error: unsupported option (BSD syntax): ${bsd}\n`);
			return 1;
		}
		const columns =
			options.value('format')?.split(',') ??
			(options.has('full') || bsd === 'aux' ? ['user', 'pid', 'ppid', 'rss', 'stat', 'args'] : ['pid', 'comm']);
		const read: Readonly<Record<string, (proc: (typeof list)[number]) => string>> = {
			pid: (proc) => String(proc.pid),
			ppid: (proc) => String(proc.parent),
			user: (proc) => proc.user,
			rss: (proc) => String(Math.round(anonBytes(proc, host.now) / 1024) + 6000),
			stat: (proc) => stateOf(host, proc),
			comm,
			args: (proc) => proc.command,
			cgroup: (proc) => `0::${proc.cgroup}`,
			lstart: (proc) => ctime(wallAt(host, startTicks(proc) / 100)),
		};
		const wrong = columns.find((column) => !read[column.replace(/=$/, '')]);
		if (wrong !== undefined) {
			call.err(`error: unknown user-defined format specifier "${wrong}"\n`);
			return 1;
		}
		const pids = options
			.values('pid')
			.flatMap((one) => one.split(','))
			.map(Number);
		const all = options.has('all') || bsd !== undefined;
		const list = [...host.procs.values()].filter((proc) =>
			pids.length > 0 ? pids.includes(proc.pid) : all || proc.cgroup === call.session,
		);
		const names = columns.map((column) => column.replace(/=$/, ''));
		const rows = list.map((proc) => names.map((name) => read[name]!(proc)));
		if (!columns.every((column) => column.endsWith('=')))
			rows.unshift(names.map((name) => (name === 'args' || name === 'comm' ? 'COMMAND' : name.toUpperCase())));
		const widths = names.map((_, at) => Math.max(0, ...rows.map((row) => row[at]!.length)));
		call.out(
			rows
				.map((row) => `${row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at]!))).join(' ')}\n`)
				.join(''),
		);
		return list.length > 0 ? 0 : 1;
	},
);

export const loginctl = tool(
	{ '--no-legend': ['no-legend', false], '--no-pager': ['no-pager', false] },
	(call, options, host) => {
		const [verb = 'list-sessions', ...names] = options.rest;
		if (verb === 'show-user' && names.length <= 1) {
			call.out(`UID=1000\nGID=1000\nName=${OPERATOR.name}\nRuntimePath=/run/user/1000\nState=active\nLinger=yes\n`);
			return 0;
		}
		if (verb !== 'list-sessions' || names.length > 0) {
			call.err(`Unknown command verb '${verb}'.\n`);
			return 1;
		}
		const number = /session-(\d+)\.scope/.exec(call.session)?.[1] ?? '2';
		const rows = [
			'     c1  120 gdm   seat0 tty1',
			...[...new Set(['2', number])].map((one) => `${one.padStart(7)} 1000 spark -     -`),
		];
		if (!options.has('no-legend')) call.out('SESSION  UID USER  SEAT  TTY\n');
		call.out(`${rows.join('\n')}\n`);
		if (!options.has('no-legend')) call.out(`\n${rows.length} sessions listed.\n`);
		return host.name === '' ? 1 : 0;
	},
);
