import { type Options, type OptionTable, readOptions } from '../options.ts';
import { readFile } from '../procFiles.ts';
import type { Call, Program } from '../program.ts';

/** The GNU tools that read text, as far as somebody looking at a host needs them. */

const fail = (call: Call, fault: string, code = 1): number => {
	call.err(`${call.name}: ${fault}\nTry '${call.name} --help' for more information.\n`);
	return code;
};

const tool =
	(table: OptionTable, wrong: number, body: (call: Call, options: Options) => Promise<number> | number): Program =>
	(call) => {
		const read = readOptions(call.args, table);
		return read.ok ? body(call, read.options) : fail(call, read.fault, wrong);
	};

/** Texts of the files named, or of the input; faults are told and counted. */
const texts = async (call: Call, files: readonly string[]): Promise<{ text: string[]; faults: number }> => {
	const text: string[] = [];
	let faults = 0;
	for (const file of files.length > 0 ? files : ['-']) {
		const read = file === '-' ? { text: await call.input.all() } : readFile(call.machine.see(), file);
		if ('text' in read) text.push(read.text);
		else {
			const prefix =
				call.name === 'sed'
					? `can't read ${file}`
					: call.name === 'head' || call.name === 'tail'
						? `cannot open '${file}' for reading`
						: file;
			call.err(`${call.name}: ${prefix}: ${read.fault}\n`);
			faults += 1;
		}
	}
	return { text, faults };
};

const linesOf = (text: string): string[] => {
	const lines = text.split('\n');
	if (lines.at(-1) === '') lines.pop();
	return lines;
};

export const cat = tool({}, 1, async (call, { rest }) => {
	const { text, faults } = await texts(call, rest);
	call.out(text.join(''));
	return faults > 0 ? 1 : 0;
});

const some =
	(take: (lines: string[], count: number) => string[]): Program =>
	async (call) => {
		// `head -5` is `head -n 5`.
		const args = call.args.map((arg) => (/^-\d+$/.test(arg) ? `-n${arg.slice(1)}` : arg));
		const read = readOptions(args, { '-n': ['lines', true], '--lines': ['lines', true] });
		if (!read.ok) return fail(call, read.fault);
		const count = read.options.value('lines') ?? '10';
		if (!/^\d+$/.test(count)) {
			call.err(`${call.name}: invalid number of lines: ‘${count}’\n`);
			return 1;
		}
		const { text, faults } = await texts(call, read.options.rest);
		for (const one of text)
			call.out(
				take(linesOf(one), Number(count))
					.map((line) => `${line}\n`)
					.join(''),
			);
		return faults > 0 ? 1 : 0;
	};

export const head = some((lines, count) => lines.slice(0, count));
export const tail = some((lines, count) => (count === 0 ? [] : lines.slice(-count)));

/** A basic or extended regular expression of POSIX as one of JavaScript. */
const expression = (pattern: string, extended: boolean, flags = ''): RegExp => {
	const js = extended
		? pattern
		: pattern.replace(/\\?[(){}+?|]/g, (found) => (found.length === 2 ? found[1]! : `\\${found}`));
	return new RegExp(js.replace(/\[\[:space:\]\]/g, '\\s').replace(/\[\[:digit:\]\]/g, '\\d'), flags);
};

export const grep = tool(
	{
		'-c': ['count', false],
		'-i': ['case', false],
		'-v': ['invert', false],
		'-q': ['quiet', false],
		'-E': ['extended', false],
		'-F': ['fixed', false],
	},
	2,
	async (call, options) => {
		const [pattern, ...files] = options.rest;
		if (pattern === undefined) {
			call.err("Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.\n");
			return 2;
		}
		const fixed = pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
		const test = expression(
			options.has('fixed') ? fixed : pattern,
			options.has('fixed') || options.has('extended'),
			options.has('case') ? 'i' : '',
		);
		const { text, faults } = await texts(call, files);
		const found = text.flatMap(linesOf).filter((line) => test.test(line) !== options.has('invert'));
		if (options.has('count')) call.out(`${found.length}\n`);
		else if (!options.has('quiet')) call.out(found.map((line) => `${line}\n`).join(''));
		return faults > 0 ? 2 : found.length > 0 ? 0 : 1;
	},
);

export const wc = tool(
	{ '-l': ['lines', false], '-c': ['bytes', false], '-w': ['words', false] },
	1,
	async (call, options) => {
		const { text, faults } = await texts(call, options.rest);
		const all = text.join('');
		const counts = {
			lines: all.split('\n').length - 1,
			words: all.split(/\s+/).filter(Boolean).length,
			bytes: Buffer.byteLength(all),
		};
		const keys = (['lines', 'words', 'bytes'] as const).filter((key) => options.has(key));
		const shown = (keys.length > 0 ? keys : (['lines', 'words', 'bytes'] as const)).map((key) => counts[key]);
		const name = options.rest[0] === undefined ? '' : ` ${options.rest[0]}`;
		call.out(`${shown.length === 1 ? shown[0] : shown.map((one) => String(one).padStart(7)).join(' ')}${name}\n`);
		return faults > 0 ? 1 : 0;
	},
);

export const cut = tool({ '-d': ['delimiter', true], '-f': ['fields', true] }, 1, async (call, options) => {
	const fields = options.value('fields');
	const delimiter = options.value('delimiter') ?? '\t';
	if (fields === undefined) return fail(call, 'you must specify a list of bytes, characters, or fields');
	if (delimiter.length !== 1) return fail(call, 'the delimiter must be a single character');
	const ranges = fields.split(',').map((one) => /^(\d+)(-(\d*))?$/.exec(one));
	if (ranges.includes(null)) return fail(call, `invalid field value ‘${fields}’`);
	const wanted = (at: number): boolean =>
		ranges.some((range) => {
			const from = Number(range![1]);
			const to = range![2] === undefined ? from : range![3] === '' ? Number.POSITIVE_INFINITY : Number(range![3]);
			return at >= from && at <= to;
		});
	const { text, faults } = await texts(call, options.rest);
	for (const line of text.flatMap(linesOf)) {
		const parts = line.split(delimiter);
		call.out(`${parts.length === 1 ? line : parts.filter((_, at) => wanted(at + 1)).join(delimiter)}\n`);
	}
	return faults > 0 ? 1 : 0;
});

/** `s/RE/TEXT/[g]` and `Np`, which is what one-liners use. */
export const sed = tool(
	{ '-n': ['silent', false], '-E': ['extended', false], '-r': ['extended', false] },
	1,
	async (call, options) => {
		const [script = '', ...files] = options.rest;
		const replace = /^s(.)((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1(g?)$/s.exec(script);
		const print = /^(\d+)p$/.exec(script);
		if (!replace && !print) {
			call.err(`sed: -e expression #1, char 1: unknown command: \`${script.slice(0, 1)}'\n`);
			return 1;
		}
		const { text, faults } = await texts(call, files);
		for (const [at, line] of text.flatMap(linesOf).entries()) {
			if (replace) {
				const [, , pattern, to, flags] = replace;
				const js = to!
					.replaceAll('$', '$$$$')
					.replace(/\\(\d)/g, '$$$1')
					.replace(/(?<!\\)&/g, '$$&')
					.replaceAll('\\/', '/');
				const changed = line.replace(expression(pattern!, options.has('extended'), flags), js);
				if (!options.has('silent')) call.out(`${changed}\n`);
			} else if (print) {
				if (!options.has('silent')) call.out(`${line}\n`);
				if (at + 1 === Number(print[1])) call.out(`${line}\n`);
			}
		}
		return faults > 0 ? 2 : 0;
	},
);
