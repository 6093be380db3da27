/** The part of the POSIX shell's grammar that command lines of ours and of people need; the rest is a syntax error. */
export type Part =
	| { readonly kind: 'text'; readonly text: string; readonly quoted: boolean }
	| { readonly kind: 'variable'; readonly name: string; readonly fallback: Word | null; readonly quoted: boolean }
	| { readonly kind: 'command'; readonly list: List; readonly quoted: boolean };
export type Word = readonly Part[];
export type Redirect = { readonly fd: 0 | 1 | 2; readonly to: Word | 1 | 2 };
export type Simple = {
	readonly assignments: readonly (readonly [string, Word])[];
	readonly words: readonly Word[];
	readonly redirects: readonly Redirect[];
};
export type Pipeline = { readonly negated: boolean; readonly commands: readonly Simple[] };
export type List = readonly { readonly joint: ';' | '&&' | '||'; readonly pipeline: Pipeline }[];

export class SyntaxFault extends Error {}

const RESERVED = new Set([
	'if',
	'then',
	'else',
	'elif',
	'fi',
	'do',
	'done',
	'case',
	'esac',
	'while',
	'until',
	'for',
	'{',
	'}',
]);
const WORD_END = ' \t\n;&|<>()';

export const parseShell = (source: string): List => {
	let at = 0;
	const peek = (ahead = 0): string => source[at + ahead] ?? '';
	const unexpected = (what: string): SyntaxFault => new SyntaxFault(`Syntax error: ${what} unexpected`);

	const blanks = (newlines = false): void => {
		for (;;) {
			if (peek() === ' ' || peek() === '\t' || (newlines && peek() === '\n')) at += 1;
			else if (peek() === '\\' && peek(1) === '\n') at += 2;
			else if (peek() === '#') while (at < source.length && peek() !== '\n') at += 1;
			else return;
		}
	};

	const list = (closing: ')' | ''): List => {
		const parts: { joint: ';' | '&&' | '||'; pipeline: Pipeline }[] = [];
		let joint: ';' | '&&' | '||' = ';';
		let needed = false;
		for (;;) {
			blanks(true);
			if (at >= source.length || peek() === ')') {
				if (peek() === ')' && closing !== ')') throw unexpected('")"');
				if (at >= source.length && closing === ')')
					throw new SyntaxFault('Syntax error: end of file unexpected (expecting ")")');
				if (needed) throw unexpected(at >= source.length ? 'end of file' : '")"');
				return parts;
			}
			parts.push({ joint, pipeline: pipeline() });
			blanks();
			const two = source.slice(at, at + 2);
			if (two === '&&' || two === '||') {
				joint = two;
				needed = true;
				at += 2;
			} else if (two === ';;') throw unexpected('";;"');
			else if (peek() === '&')
				throw new SyntaxFault('Syntax error: "&": this simulated host runs nothing in the background');
			else {
				joint = ';';
				needed = false;
				if (peek() === ';' || peek() === '\n') at += 1;
				else if (at < source.length && peek() !== ')') throw unexpected(`"${peek()}"`);
			}
		}
	};

	const pipeline = (): Pipeline => {
		let negated = false;
		if (peek() === '!' && ' \t'.includes(peek(1))) {
			negated = true;
			at += 1;
			blanks();
		}
		const commands = [simple()];
		for (;;) {
			blanks();
			if (peek() !== '|' || peek(1) === '|') return { negated, commands };
			at += 1;
			blanks(true);
			if (at >= source.length) throw unexpected('end of file');
			commands.push(simple());
		}
	};

	const simple = (): Simple => {
		const assignments: [string, Word][] = [];
		const words: Word[] = [];
		const redirects: Redirect[] = [];
		for (;;) {
			blanks();
			const redirect = /^([012]?)(>>|>|<)/.exec(source.slice(at, at + 3));
			if (redirect) {
				at += redirect[0].length;
				redirects.push(target(redirect[1]!, redirect[2]!));
			} else if (at >= source.length || WORD_END.includes(peek())) {
				if (peek() === '(') throw unexpected('"("');
				if (assignments.length + words.length + redirects.length === 0) throw unexpected(`"${peek()}"`);
				return { assignments, words, redirects };
			} else {
				const assigned = words.length === 0 ? /^([A-Za-z_]\w*)=/.exec(source.slice(at)) : null;
				if (assigned) {
					at += assigned[0].length;
					assignments.push([assigned[1]!, word()]);
				} else {
					const next = word();
					const [only] = next;
					if (
						words.length === 0 &&
						next.length === 1 &&
						only?.kind === 'text' &&
						!only.quoted &&
						RESERVED.has(only.text)
					)
						throw unexpected(`"${only.text}"`);
					words.push(next);
				}
			}
		}
	};

	const target = (number: string, sign: string): Redirect => {
		const fd = (number === '' ? (sign === '<' ? 0 : 1) : Number(number)) as 0 | 1 | 2;
		if (peek() === '&') {
			const to = peek(1);
			if (to !== '1' && to !== '2') throw new SyntaxFault('Syntax error: Bad fd number');
			at += 2;
			return { fd, to: Number(to) as 1 | 2 };
		}
		blanks();
		if (at >= source.length) throw unexpected('end of file');
		if (WORD_END.includes(peek())) throw unexpected(`"${peek()}"`);
		return { fd, to: word() };
	};

	/** Up to an unquoted end of word; with `inBraces`, up to the closing brace of `${…}`. */
	const word = (inBraces = false, quotedBraces = false): Word => {
		const parts: Part[] = [];
		const text = (value: string, quoted: boolean): void => {
			const last = parts.at(-1);
			if (last?.kind === 'text' && last.quoted === quoted)
				parts[parts.length - 1] = { ...last, text: last.text + value };
			else parts.push({ kind: 'text', text: value, quoted });
		};
		for (;;) {
			const next = peek();
			if (at >= source.length) {
				if (inBraces) throw new SyntaxFault('Syntax error: Missing "}"');
				return parts;
			}
			if (inBraces ? next === '}' : WORD_END.includes(next)) return parts;
			if (next === "'" && !quotedBraces) {
				const end = source.indexOf("'", at + 1);
				if (end < 0) throw new SyntaxFault('Syntax error: Unterminated quoted string');
				text(source.slice(at + 1, end), true);
				at = end + 1;
			} else if (next === '"') {
				at += 1;
				text('', true);
				while (peek() !== '"') {
					if (at >= source.length) throw new SyntaxFault('Syntax error: Unterminated quoted string');
					if (peek() === '\\' && '$`"\\\n'.includes(peek(1)) && peek(1) !== '') {
						if (peek(1) !== '\n') text(peek(1), true);
						at += 2;
					} else if (peek() === '$') expansion(parts, text, true);
					else if (peek() === '`') throw unexpected('"`"');
					else {
						text(peek(), true);
						at += 1;
					}
				}
				at += 1;
			} else if (next === '\\') {
				if (peek(1) !== '\n') text(peek(1) === '' ? '\\' : peek(1), true);
				at += 2;
			} else if (next === '$') expansion(parts, text, quotedBraces);
			else if (next === '`') throw unexpected('"`"');
			else {
				text(next, quotedBraces);
				at += 1;
			}
		}
	};

	const expansion = (parts: Part[], text: (value: string, quoted: boolean) => void, quoted: boolean): void => {
		at += 1;
		if (peek() === '(') {
			if (peek(1) === '(') throw unexpected('"(("');
			at += 1;
			const inner = list(')');
			at += 1;
			parts.push({ kind: 'command', list: inner, quoted });
			return;
		}
		if (peek() === '{') {
			const found = /^\{([A-Za-z_]\w*|[0-9]|[@#?$*])(:-)?/.exec(source.slice(at));
			if (!found) throw new SyntaxFault('Bad substitution');
			at += found[0].length;
			const fallback = found[2] === undefined ? null : word(true, quoted);
			if (peek() !== '}') throw new SyntaxFault('Bad substitution');
			at += 1;
			parts.push({ kind: 'variable', name: found[1]!, fallback, quoted });
			return;
		}
		const name = /^([A-Za-z_]\w*|[0-9]|[@#?$*])/.exec(source.slice(at))?.[1];
		if (name === undefined) text('$', quoted);
		else {
			at += name.length;
			parts.push({ kind: 'variable', name, fallback: null, quoted });
		}
	};

	return list('');
};
