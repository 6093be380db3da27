import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { formatProblem, nearest, parseYaml } from '../../src/config/yaml.ts';

const schema = z.strictObject({
	name: z.string(),
	level: z.enum(['quiet', 'normal']).optional(),
	hosts: z.array(z.strictObject({ address: z.string(), port: z.number().int().max(65_535).optional() })).optional(),
	tokens: z.record(z.string(), z.union([z.string(), z.strictObject({ fg: z.string().optional() })])).optional(),
});

function problems(text: string): string[] {
	const result = parseYaml(text, schema, 'deck.yaml');
	return result.ok ? [] : result.problems.map(formatProblem);
}

describe('parseYaml', () => {
	test('gives the value and tells where its parts stand', () => {
		const result = parseYaml('name: pair\ntokens:\n  a.b: red\n  c: { fg: blue }\n', schema, 'x');
		if (!result.ok) throw new Error('not parsed');
		expect(result.value).toEqual({ name: 'pair', tokens: { 'a.b': 'red', c: { fg: 'blue' } } });
		expect(result.locate(['tokens', 'a.b'])).toEqual({ line: 3, column: 8 });
		expect(result.locate(['tokens', 'a.b'], 'key')).toEqual({ line: 3, column: 3 });
		expect(result.locate(['tokens', 'c', 'fg'])).toEqual({ line: 4, column: 12 });
		// What does not exist is told at the nearest thing that does.
		expect(result.locate(['tokens', 'c', 'bg'])).toEqual({ line: 4, column: 6 });
	});

	test.each([
		[
			'syntax',
			'name: [a\n',
			'deck.yaml:2:1: flow sequence in block collection must be sufficiently indented and end with a ]',
		],
		['duplicate key', 'name: a\nname: b\n', 'deck.yaml:2:1: map keys must be unique'],
		['unknown key', 'name: a\nhost: []\n', 'deck.yaml:2:1: unknown key "host"; did you mean "hosts"?'],
		['unknown key, nothing near', 'name: a\n  \nzzzzzz: 1\n', 'deck.yaml:3:1: unknown key "zzzzzz"'],
		[
			'unknown key inside a list',
			'name: a\nhosts:\n  - address: b\n    prt: 22\n',
			'deck.yaml:4:5: unknown key "prt"; did you mean "port"?',
		],
		[
			'unknown key inside a union',
			'name: a\ntokens:\n  text: { gf: red }\n',
			'deck.yaml:3:11: unknown key "gf"; did you mean "fg"?',
		],
		['wrong type', 'name: 5\n', 'deck.yaml:1:7: expected a string, found a number'],
		[
			'wrong type in a union',
			'name: a\ntokens: { t: [1] }\n',
			'deck.yaml:2:14: expected a string or a map, found a list',
		],
		['missing key', 'hosts:\n  - port: 1\nname: a\n', 'deck.yaml:2:5: missing key "address"'],
		[
			'not one of',
			'name: a\nlevel: quite\n',
			'deck.yaml:2:8: expected quiet, normal; found "quite"; did you mean "quiet"?',
		],
		[
			'a limit',
			'name: a\nhosts: [{address: b, port: 70000}]\n',
			'deck.yaml:2:28: Too big: expected number to be <=65535',
		],
		['nothing at all', '', 'deck.yaml:1:1: expected a map, found nothing'],
		[
			'two documents',
			'name: a\n---\nname: b\n',
			'deck.yaml:2:1: source contains multiple documents; please use YAML.parseAllDocuments()',
		],
		['an unknown tag', 'name: !secret a\n', 'deck.yaml:1:7: unresolved tag: !secret'],
		['an alias to nothing', 'name: *nobody\n', 'deck.yaml:1:7: there is no anchor &nobody before this'],
		['an alias to itself', 'name: a\nhosts: &h [*h]\n', 'deck.yaml:2:12: *h stands inside itself'],
	])('%s', (_name, text, expected) => {
		expect(problems(text)).toEqual([expected]);
	});

	test('all problems of a file at once, in the order of the file', () => {
		expect(problems('nam: a\nlevel: 3\n').map((line) => line.split(': ')[0])).toEqual([
			'deck.yaml:1:1',
			'deck.yaml:1:1',
			'deck.yaml:2:8',
		]);
	});

	test('an alias is read as what it stands for', () => {
		const result = parseYaml('name: &n pair\nhosts: [{address: *n}]\n', schema, 'x');
		expect(result).toMatchObject({ ok: true, value: { hosts: [{ address: 'pair' }] } });
	});

	test('a bomb of aliases is refused', () => {
		const levels = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
		for (let i = 1; i < 9; i++)
			levels.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join(',')}]`);
		const result = parseYaml(levels.join('\n'), z.record(z.string(), z.unknown()), 'bomb.yaml');
		expect(result.ok).toBe(false);
		const many = `a: &a x\nb: [${'*a,'.repeat(101)}]\n`;
		expect(parseYaml(many, z.unknown(), 'b')).toMatchObject({
			ok: false,
			problems: [{ line: 2, message: 'more than 100 aliases' }],
		});
	});

	test('never throws and always names a place inside the text', () => {
		const piece = fc.constantFrom(
			'name',
			': ',
			'\n',
			'  ',
			'- ',
			'[',
			']',
			'{',
			'}',
			'&a ',
			'*a',
			'!t ',
			'"',
			"'",
			'|\n',
			'? ',
			'#',
			'---\n',
			'%',
			'\t',
			'<<',
			'__proto__',
			'tokens',
			'1',
			'\u0000',
			'\ud800',
			'\u{1f600}',
		);
		const text = fc.oneof(
			fc.string({ unit: 'binary' }),
			fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')),
		);
		fc.assert(
			fc.property(text, (input) => {
				const result = parseYaml(input, schema, 's');
				if (result.ok) return;
				expect(result.problems.length).toBeGreaterThan(0);
				const lines = input.split('\n');
				for (const problem of result.problems) {
					expect(problem.line).toBeGreaterThanOrEqual(1);
					expect(problem.line).toBeLessThanOrEqual(lines.length);
					expect(problem.column).toBeGreaterThanOrEqual(1);
					expect(problem.column).toBeLessThanOrEqual(lines[problem.line - 1]!.length + 1);
				}
			}),
			{ numRuns: 1500 },
		);
	});

	test('deep nesting is a problem, not a crash', () => {
		const result = parseYaml('['.repeat(50_000), schema, 's');
		expect(result.ok).toBe(false);
		if (!result.ok) expect(result.problems.length).toBeLessThanOrEqual(20);
	});
});

test('nearest suggests only what is near', () => {
	expect(nearest('curser.down', ['cursor.up', 'cursor.down', 'quit'])).toBe('cursor.down');
	expect(nearest('evikt', ['evict', 'quit'])).toBe('evict');
	expect(nearest('launch', ['evict', 'quit'])).toBeUndefined();
	expect(nearest('x', [])).toBeUndefined();
});
