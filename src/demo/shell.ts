import type { Machine } from './machine.ts';
import { type Call, type Input, OPERATOR, type Program, textInput } from './program.ts';
import { type List, type Pipeline, parseShell, type Simple, SyntaxFault, type Word } from './shellParse.ts';

/** Where a shell runs: what it shares with its programs. */
export type Surroundings = Pick<Call, 'machine' | 'root' | 'input' | 'out' | 'err' | 'signal' | 'session'> & {
	readonly programs: ReadonlyMap<string, Program>;
};

type State = {
	readonly around: Surroundings;
	readonly name: string;
	readonly args: readonly string[];
	readonly variables: Map<string, string>;
	readonly exported: Set<string>;
	last: number;
};

/** Ends the shell: `exit`, and a command after `exec`. */
class Exit extends Error {
	readonly code: number;
	constructor(code: number) {
		super('exit');
		this.code = code;
	}
}

export const loginEnvironment = (machine: Machine): Map<string, string> =>
	new Map([
		['HOME', OPERATOR.home],
		['USER', OPERATOR.name],
		['LOGNAME', OPERATOR.name],
		['SHELL', '/bin/bash'],
		['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
		['LANG', 'C.UTF-8'],
		['XDG_RUNTIME_DIR', `/run/user/${OPERATOR.uid}`],
		['SSH_CONNECTION', `10.0.0.1 50000 ${machine.name} 22`],
	]);

/** Runs a script, as `sh -c SCRIPT NAME ARGS…` does. */
export const runShell = async (
	script: string,
	around: Surroundings,
	env: ReadonlyMap<string, string>,
	name = 'sh',
	args: readonly string[] = [],
): Promise<number> => {
	const state: State = { around, name, args, variables: new Map(env), exported: new Set(env.keys()), last: 0 };
	try {
		return await runList(state, parseShell(script), around);
	} catch (error) {
		if (error instanceof Exit) return error.code;
		if (!(error instanceof SyntaxFault)) throw error;
		around.err(`${name}: 1: ${error.message}\n`);
		return 2;
	}
};

const runList = async (state: State, list: List, around: Surroundings): Promise<number> => {
	let code = 0;
	for (const { joint, pipeline } of list) {
		if (around.signal.aborted) return 130;
		if ((joint === '&&' && code !== 0) || (joint === '||' && code === 0)) continue;
		code = await runPipeline(state, pipeline, around);
		state.last = code;
	}
	return code;
};

const runPipeline = async (state: State, { commands, negated }: Pipeline, around: Surroundings): Promise<number> => {
	let code = 0;
	let input: Input = around.input;
	for (const [at, command] of commands.entries()) {
		const last = at === commands.length - 1;
		let text = '';
		const out = last
			? around.out
			: (more: string): void => {
					text += more;
				};
		const stage = { ...around, input, out };
		// Each part of a pipe is a shell of its own: an `exit` ends that part only.
		code =
			commands.length === 1
				? await runSimple(state, command, stage)
				: await inSubshell(state, stage, (own) => runSimple(own, command, stage));
		input = textInput(text);
	}
	return negated ? Number(code === 0) : code;
};

const inSubshell = async (
	state: State,
	around: Surroundings,
	body: (own: State) => Promise<number>,
): Promise<number> => {
	const own = { ...state, around, variables: new Map(state.variables), exported: new Set(state.exported) };
	try {
		return await body(own);
	} catch (error) {
		if (error instanceof Exit) return error.code;
		throw error;
	}
};

const runSimple = async (state: State, command: Simple, before: Surroundings): Promise<number> => {
	const words: string[] = [];
	for (const word of command.words) words.push(...(await expand(state, word)));
	const around = await redirected(state, command, before);
	if (around === null) return 2;
	const assigned: [string, string][] = [];
	for (const [name, word] of command.assignments) assigned.push([name, (await expand(state, word, false)).join('')]);
	if (words.length === 0) {
		for (const [name, value] of assigned) state.variables.set(name, value);
		const parts = [...command.words, ...command.assignments.map(([, word]) => word)].flat();
		return parts.some((part) => part.kind === 'command') ? state.last : 0;
	}
	const env = new Map([...state.exported].map((name) => [name, state.variables.get(name) ?? '']));
	for (const [name, value] of assigned) env.set(name, value);
	return runWords(state, words, around, env);
};

const runWords = async (
	state: State,
	words: readonly string[],
	around: Surroundings,
	env: ReadonlyMap<string, string>,
): Promise<number> => {
	const [name = '', ...args] = words;
	switch (name) {
		case 'exit': {
			const code = args[0] ?? String(state.last);
			if (!/^\d+$/.test(code)) {
				around.err(`${state.name}: 1: exit: Illegal number: ${code}\n`);
				throw new Exit(2);
			}
			throw new Exit(Number(code) & 255);
		}
		case 'exec':
			if (args.length === 0) return 0;
			throw new Exit(await runWords(state, args, around, env));
		case 'export':
			for (const one of args) {
				const [, variable, value] = /^([A-Za-z_]\w*)(?:=([\s\S]*))?$/.exec(one) ?? [];
				if (variable === undefined) {
					around.err(`${state.name}: 1: export: ${one}: bad variable name\n`);
					throw new Exit(2);
				}
				state.exported.add(variable);
				if (value !== undefined) state.variables.set(variable, value);
			}
			return 0;
		case 'cd':
		case ':':
			return 0;
		default:
			return runProgram(around, name, args, env);
	}
};

/** A program by its name or by an absolute path to it. */
export const runProgram = async (
	around: Surroundings,
	name: string,
	args: readonly string[],
	env: ReadonlyMap<string, string>,
): Promise<number> => {
	const program = around.programs.get(name.replace(/^\/(usr\/)?s?bin\//, ''));
	if (!program) {
		around.err(`sh: 1: ${name}: not found\n`);
		return 127;
	}
	return program({
		...around,
		name,
		args,
		env,
		run: (other, more, changes = {}) =>
			runProgram(
				{ ...around, ...(changes.root !== undefined && { root: changes.root }) },
				other,
				more,
				changes.env ?? env,
			),
	});
};

const redirected = async (state: State, command: Simple, before: Surroundings): Promise<Surroundings | null> => {
	let around = before;
	for (const { fd, to } of command.redirects) {
		if (typeof to === 'number') {
			if (fd === 0) return refuse(before, 'Bad fd number');
			around =
				fd === 1
					? { ...around, out: to === 1 ? around.out : around.err }
					: { ...around, err: to === 2 ? around.err : around.out };
			continue;
		}
		const [path] = await expand(state, to, false);
		// Nothing can be written on a simulated host: a script that needs a file must not seem to work.
		if (path !== '/dev/null') return refuse(before, `cannot open ${path}: Read-only file system`);
		if (fd === 0) around = { ...around, input: textInput('') };
		else around = fd === 1 ? { ...around, out: () => {} } : { ...around, err: () => {} };
	}
	return around;
};

const refuse = (around: Surroundings, why: string): null => {
	around.err(`sh: 1: ${why}\n`);
	return null;
};

/** A word as the words that it becomes: unquoted expansions are split at blanks, quoted ones never. */
const expand = async (state: State, word: Word, split = true): Promise<string[]> => {
	const words: string[] = [];
	let current: string | null = null;
	const add = (text: string): void => {
		current = (current ?? '') + text;
	};
	const flush = (): void => {
		if (current !== null) words.push(current);
		current = null;
	};
	for (const part of word) {
		if (part.kind === 'text') {
			add(part.text);
			continue;
		}
		if (part.kind === 'variable' && (part.name === '@' || part.name === '*') && part.quoted && split) {
			for (const [at, arg] of state.args.entries()) {
				if (at > 0) flush();
				add(arg);
			}
			continue;
		}
		const value = part.kind === 'command' ? await substitute(state, part.list) : await read(state, part);
		if (part.quoted || !split) {
			add(value);
			continue;
		}
		const pieces = value.split(/[ \t\n]+/);
		for (const [at, piece] of pieces.entries()) {
			if (at > 0) flush();
			if (piece !== '') add(piece);
		}
	}
	flush();
	return words;
};

const read = async (state: State, part: { name: string; fallback: Word | null }): Promise<string> => {
	const value = variable(state, part.name);
	return value === '' && part.fallback ? (await expand(state, part.fallback, false)).join('') : value;
};

const variable = (state: State, name: string): string => {
	if (name === '0') return state.name;
	if (/^\d$/.test(name)) return state.args[Number(name) - 1] ?? '';
	if (name === '@' || name === '*') return state.args.join(' ');
	if (name === '#') return String(state.args.length);
	if (name === '?') return String(state.last);
	if (name === '$') return '48999';
	return state.variables.get(name) ?? '';
};

const substitute = async (state: State, list: List): Promise<string> => {
	let text = '';
	const around = {
		...state.around,
		out: (more: string): void => {
			text += more;
		},
	};
	state.last = await inSubshell(state, around, (own) => runList(own, list, around));
	return text.replace(/\n+$/, '');
};
