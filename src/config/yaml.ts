import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument, visit } from 'yaml';
import * as z from 'zod';

export type Problem = {
	readonly source: string;
	/** Line and column count from 1, as editors do. */
	readonly line: number;
	readonly column: number;
	/** Dotted, `[n]` for list items; empty for the whole file. */
	readonly path: string;
	readonly message: string;
};

export type Path = readonly PropertyKey[];

/** Where a value (or with `key`, the key that holds it) stands; a path that does not exist gives its nearest parent. */
export type Locate = (path: Path, part?: 'key' | 'value') => { readonly line: number; readonly column: number };

export type Parsed<T> =
	| { readonly ok: true; readonly value: T; readonly locate: Locate }
	| { readonly ok: false; readonly problems: readonly Problem[] };

type Issue = z.core.$ZodIssue;

/** A file with hundreds of mistakes is one mistake (wrong file); the first ones tell that. */
const MOST_PROBLEMS = 20;
/** Enough for a hand-written file, too few to multiply into a memory bomb. */
const MOST_ALIASES = 100;

export const formatProblem = (problem: Problem): string =>
	`${problem.source}:${problem.line}:${problem.column}: ${problem.message}`;

export function pathText(path: Path): string {
	return path.reduce<string>(
		(text, part) =>
			typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
		'',
	);
}

export function parseYaml<T>(text: string, schema: z.ZodType<T>, source: string): Parsed<T> {
	const fail = (line: number, column: number, message: string): Parsed<T> => ({
		ok: false,
		problems: [{ source, line, column, path: '', message }],
	});
	try {
		return parse(text, schema, source);
	} catch (error) {
		// Only for what the checks in parse() did not foresee: a file someone wrote must never end the program.
		return fail(1, 1, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
	}
}

function parse<T>(text: string, schema: z.ZodType<T>, source: string): Parsed<T> {
	// logLevel is not `silent`, because that would also silence the error about a second document.
	const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' });
	// Counted here and not by yaml's LineCounter: after some broken inputs that one names lines which do not exist.
	const position = (offset: number) => {
		const before = text.slice(0, offset).split('\n');
		return { line: before.length, column: before.at(-1)!.length + 1 };
	};
	const problems: Problem[] = [];
	const report = (place: { line: number; column: number }, path: Path, message: string) =>
		problems.push({ source, line: place.line, column: place.column, path: pathText(path), message });

	// A warning (an unknown tag, say) means that the file says something that nobody will do; that is a problem as well.
	for (const error of firstOf([...document.errors, ...document.warnings]))
		report(position(error.pos[0]), [], lowerFirst(error.message));
	let aliases = 0;
	visit(document, {
		Alias(_key, node, ancestors) {
			aliases += 1;
			const place = position(node.range?.[0] ?? 0);
			const target = node.resolve(document);
			if (target === undefined) report(place, [], `there is no anchor &${node.source} before this`);
			else if (ancestors.includes(target)) report(place, [], `*${node.source} stands inside itself`);
			else if (aliases === MOST_ALIASES + 1) report(place, [], `more than ${MOST_ALIASES} aliases`);
		},
	});
	if (problems.length > 0) return { ok: false, problems: firstOf(problems) };

	const locate: Locate = (path, part = 'value') => {
		const found = find(document.contents as Node | null, path, document);
		return position((part === 'key' ? (found.key ?? found.value) : found.value)?.range?.[0] ?? 0);
	};
	// The keys a schema knows are only reachable while zod reports, so they are kept by the identity of the issue's list.
	const known = new WeakMap<readonly string[], readonly string[]>();
	const result = schema.safeParse(document.toJS({ maxAliasCount: MOST_ALIASES }), {
		reportInput: true,
		error: (issue) => {
			if (issue.code === 'unrecognized_keys') known.set(issue.keys, shapeOf(issue.inst));
			return undefined;
		},
	});
	if (result.success) return { ok: true, value: result.data, locate };
	for (const issue of result.error.issues.flatMap((each) => flatten(each, []))) {
		if (issue.code === 'unrecognized_keys') {
			for (const key of issue.keys) {
				const message = `unknown key ${quote(key)}${didYouMean(key, known.get(issue.keys) ?? [])}`;
				report(locate([...issue.path, key], 'key'), [...issue.path, key], message);
			}
		} else {
			report(locate(issue.path, issue.code === 'invalid_key' ? 'key' : 'value'), issue.path, explain(issue));
		}
	}
	problems.sort((a, b) => a.line - b.line || a.column - b.column);
	return { ok: false, problems: firstOf(problems) };
}

const firstOf = <P>(problems: readonly P[]) => problems.slice(0, MOST_PROBLEMS);
const quote = (value: unknown) => JSON.stringify(value) ?? String(value);
const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

function find(root: Node | null, path: Path, document: ReturnType<typeof parseDocument>) {
	let key: Node | undefined;
	let value: Node | undefined = root ?? undefined;
	for (const part of path) {
		// An alias has no children of its own, what is wrong with it stands at its anchor.
		const node = value !== undefined && 'resolve' in value ? value.resolve(document) : value;
		let pair: Pair<Node, Node | null> | undefined;
		if (isMap<Node, Node | null>(node)) {
			pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(part));
		}
		const next = pair ? (pair.value ?? pair.key) : isSeq<Node>(node) ? node.items[Number(part)] : undefined;
		if (next === undefined) break;
		key = pair?.key;
		value = next;
	}
	return { key, value };
}

/** Of a union only the branch that came nearest is told: errors of all branches at once help nobody. */
function flatten(issue: Issue, parents: Path): Issue[] {
	const path = [...parents, ...issue.path] as Issue['path'];
	if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [{ ...issue, path }];
	const meant = issue.errors.filter(
		(branch) => !branch.some((each) => each.code === 'invalid_type' && each.path.length === 0),
	);
	const best = meant.sort((a, b) => a.length - b.length)[0];
	if (best) return best.flatMap((each) => flatten(each, path));
	const expected = issue.errors.flatMap((branch) =>
		branch.flatMap((each) => (each.code === 'invalid_type' ? each.expected : [])),
	);
	const message = `expected ${expected.map(withArticle).join(' or ')}, found ${kindOf(issue.input)}`;
	return [{ code: 'custom', path, message, input: issue.input }];
}

function explain(issue: Issue): string {
	if (issue.code === 'invalid_type') {
		const name = issue.path.at(-1);
		if (issue.input === undefined && typeof name === 'string') return `missing key ${quote(name)}`;
		return `expected ${withArticle(issue.expected)}, found ${kindOf(issue.input)}`;
	}
	if (issue.code === 'invalid_value') {
		const values = issue.values.map(String);
		return `expected ${values.join(', ')}; found ${quote(issue.input)}${didYouMean(String(issue.input), values)}`;
	}
	if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
	return issue.message;
}

function withArticle(kind: string): string {
	const name = kind === 'object' || kind === 'record' ? 'map' : kind === 'array' ? 'list' : kind;
	return name === 'null' ? 'nothing' : /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`;
}

function kindOf(value: unknown): string {
	if (value === null || value === undefined) return 'nothing';
	return withArticle(Array.isArray(value) ? 'array' : typeof value);
}

function shapeOf(schema: unknown): readonly string[] {
	return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** `; did you mean "x"?`, or nothing if no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
	const near = nearest(word, candidates);
	return near === undefined ? '' : `; did you mean ${quote(near)}?`;
}

export function nearest(word: string, candidates: Iterable<string>): string | undefined {
	let best: string | undefined;
	// A third of the letters may differ; beyond that a suggestion is a guess.
	let least = Math.max(1, Math.floor(word.length / 3)) + 1;
	for (const candidate of candidates) {
		// The distance is at least the difference in length, so a very long word costs nothing.
		if (Math.abs(candidate.length - word.length) >= least) continue;
		const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
		if (distance < least) {
			least = distance;
			best = candidate;
		}
	}
	return best;
}

/** Letters changed, added, lost, or two neighbours swapped, which is how fingers mistype. */
function editDistance(a: string, b: string): number {
	let beforeLast: number[] = [];
	let last = Array.from({ length: b.length + 1 }, (_, index) => index);
	for (let i = 1; i <= a.length; i++) {
		const row = [i];
		for (let j = 1; j <= b.length; j++) {
			const changed = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
			const swapped =
				i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? beforeLast[j - 2]! + 1 : changed;
			row.push(Math.min(changed, swapped, last[j]! + 1, row[j - 1]! + 1));
		}
		beforeLast = last;
		last = row;
	}
	return last[b.length]!;
}
