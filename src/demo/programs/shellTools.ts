import { isDirectory, readFile } from '../procFiles.ts';
import { type Call, OPERATOR, type Program, pause } from '../program.ts';
import { terminate } from '../world.ts';

/** What shells bring along, and the programs that start others. */

export const echo: Program = (call) => {
	const bare = call.args[0] === '-n';
	call.out(call.args.slice(bare ? 1 : 0).join(' ') + (bare ? '' : '\n'));
	return 0;
};

/** `%s`, `%d`, `%%` and the usual escapes; the format is used again while there are arguments. */
export const printf: Program = (call) => {
	const [format, ...args] = call.args;
	if (format === undefined) {
		call.err('sh: 1: printf: usage: printf format [arg ...]\n');
		return 2;
	}
	const text = format.replace(
		/\\([nt\\"r])/g,
		(_, letter: string) => ({ n: '\n', t: '\t', r: '\r' })[letter] ?? letter,
	);
	if (/%(?![sd%])/.test(text.replaceAll('%%', ''))) {
		call.err(`sh: 1: printf: %${/%(?![sd%])(.?)/.exec(text)?.[1] ?? ''}: invalid directive\n`);
		return 2;
	}
	let at = 0;
	do {
		const before = at;
		call.out(
			text.replace(/%([sd%])/g, (_, kind: string) => (kind === '%' ? '%' : (args[at++] ?? (kind === 'd' ? '0' : '')))),
		);
		if (at === before) break;
	} while (at < args.length);
	return 0;
};

const truth = (call: Call, words: readonly string[]): boolean | null => {
	const [first, second, third] = words;
	if (first === '!' && words.length > 1) {
		const inner = truth(call, words.slice(1));
		return inner === null ? null : !inner;
	}
	switch (words.length) {
		case 0:
			return false;
		case 1:
			return first !== '';
		case 2:
			if (first === '-n') return second !== '';
			if (first === '-z') return second === '';
			if (first === '-f') return 'text' in readFile(call.machine.see(), second!);
			if (first === '-d') return isDirectory(second!);
			if (first === '-e') return isDirectory(second!) || 'text' in readFile(call.machine.see(), second!);
			break;
		case 3: {
			if (second === '=') return first === third;
			if (second === '!=') return first !== third;
			const compare = NUMBERS[second!];
			if (compare && /^-?\d+$/.test(first!) && /^-?\d+$/.test(third!)) return compare(Number(first), Number(third));
			if (compare) {
				call.err(`sh: 1: ${call.name}: Illegal number: ${/^-?\d+$/.test(first!) ? third : first}\n`);
				return null;
			}
			break;
		}
	}
	call.err(`sh: 1: ${call.name}: ${words.length > 2 ? second : first}: unexpected operator\n`);
	return null;
};

const NUMBERS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
	'-eq': (a, b) => a === b,
	'-ne': (a, b) => a !== b,
	'-lt': (a, b) => a < b,
	'-le': (a, b) => a <= b,
	'-gt': (a, b) => a > b,
	'-ge': (a, b) => a >= b,
};

export const test: Program = (call) => {
	if (call.name === '[' && call.args.at(-1) !== ']') {
		call.err('sh: 1: [: missing ]\n');
		return 2;
	}
	const value = truth(call, call.name === '[' ? call.args.slice(0, -1) : call.args);
	return value === null ? 2 : value ? 0 : 1;
};

/** `env [-i] [NAME=VALUE…] [COMMAND…]` */
export const env: Program = (call) => {
	const changed = new Map(call.env);
	let at = 0;
	for (; at < call.args.length; at += 1) {
		const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(call.args[at]!) ?? [];
		if (name === undefined) break;
		changed.set(name, value!);
	}
	const [command, ...args] = call.args.slice(at);
	if (command === undefined) {
		call.out([...changed].map(([name, value]) => `${name}=${value}\n`).join(''));
		return 0;
	}
	if (command.startsWith('-')) {
		call.err(
			`env: ${command.startsWith('--') ? `unrecognized option '${command}'` : `invalid option -- '${command[1]}'`}\nTry 'env --help' for more information.\n`,
		);
		return 125;
	}
	return call.run(command, args, { env: changed });
};

export const sleep: Program = async (call) => {
	const found = /^(\d+(?:\.\d+)?)(s|m|h)?$/.exec(call.args[0] ?? '');
	if (!found || call.args.length !== 1) {
		call.err(
			call.args.length === 0
				? "sleep: missing operand\nTry 'sleep --help' for more information.\n"
				: `sleep: invalid time interval ‘${call.args[0]}’\nTry 'sleep --help' for more information.\n`,
		);
		return 1;
	}
	const seconds = Number(found[1]) * ({ m: 60, h: 3600 }[found[2] ?? ''] ?? 1);
	return (await pause(seconds * 1000, call.signal)) ? 0 : 143;
};

/** `kill [-TERM] PID…`: only what belongs to the user may be ended. */
export const kill: Program = (call) => {
	const args = [...call.args];
	if (args[0]?.startsWith('-')) {
		const signal = args.shift()!;
		if (!/^-(TERM|SIGTERM|15)$/.test(signal)) {
			call.err(`sh: 1: kill: invalid signal for this simulated host: ${signal}\n`);
			return 2;
		}
	}
	if (args.length === 0 || args.some((arg) => !/^\d+$/.test(arg))) {
		call.err(
			args.length === 0
				? 'sh: 1: kill: Usage: kill [-s sigspec | -signum | -sigspec] [pid | job]...\n'
				: `sh: 1: kill: Illegal number: ${args.find((arg) => !/^\d+$/.test(arg))}\n`,
		);
		return 2;
	}
	let code = 0;
	for (const arg of args) {
		const pid = Number(arg);
		const owner = call.machine.see().procs.get(pid)?.user;
		if (owner !== undefined && owner !== OPERATOR.name && !call.root) {
			call.err('sh: 1: kill: Operation not permitted\n\n');
			code = 1;
		} else if (!call.machine.act((host) => terminate(host, pid))) {
			call.err('sh: 1: kill: No such process\n\n');
			code = 1;
		}
	}
	return code;
};
