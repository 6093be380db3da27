import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { columnsOf, graphemes, NARROW, sanitize } from '../../../src/screen/frame/width.ts';
import { makeTerminal } from '../terminal.ts';

const anyText = fc.oneof(
	fc.string({ unit: 'binary' }),
	fc.string({ unit: 'grapheme' }),
	fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((codes) => String.fromCharCode(...codes)),
	fc
		.array(
			fc.constantFrom(
				'\u001b[31m',
				'\u009b',
				'\u202e',
				'\u2066',
				'\u200d',
				'\ufe0f',
				'\u0301',
				'\u1161',
				'\ud83d',
				'👩‍👩‍👧',
				'🇩🇪',
				'👍🏽',
				'1️⃣',
				'\u00ad',
				'\u3164',
				'e',
				'中',
				'\t',
				'\n',
			),
		)
		.map((parts) => parts.join('')),
);

describe('columnsOf', () => {
	test('of every character of the fast path is what string-width and a terminal say', async () => {
		const codes = Array.from({ length: 0x10000 }, (_, code) => code).filter((code) =>
			NARROW.test(String.fromCharCode(code)),
		);
		expect(codes.length).toBeGreaterThan(1200);
		const terminal = makeTerminal(2, codes.length);
		terminal.write('\u001b[?7l');
		codes.forEach((code, y) => void terminal.write(`\u001b[${y + 1};1H${String.fromCharCode(code)}x`));
		await terminal.settled();
		const wrong = codes.filter(
			(code, y) => stringWidth(String.fromCharCode(code)) !== 1 || terminal.cell(1, y).chars !== 'x',
		);
		expect(wrong.map((code) => code.toString(16))).toEqual([]);
	});

	test('of the marks our screens use is one', () => {
		for (const mark of '●◐○⚑✓▸…↓↑–·°≥█▁▂▃▄▅▆▇╭╮╰╯─│┏┓┗┛━┃⣿←→')
			expect([mark, columnsOf(mark), NARROW.test(mark)]).toEqual([mark, 1, true]);
	});

	test.each([
		['plain', 5],
		['中文', 4],
		['日本 spark', 10],
		['한국', 4],
		['e\u0301', 1],
		['👍', 2],
		['👍🏽', 2],
		['', 0],
	])('%s', (text, columns) => expect(columnsOf(text)).toBe(columns));
});

describe('sanitize', () => {
	test.each([
		['an escape sequence is shown, not obeyed', '\u001b[31mred', '␛[31mred'],
		['C1 controls', 'a\u009b31m', 'a·31m'],
		['tabs and line ends', 'a\tb\r\nc', 'a b  c'],
		['other controls', 'a\u0000\u0007\u007f', 'a␀␇␡'],
		['bidi overrides and isolates', 'a\u202eb\u2066c\u061c', 'a·b·c·'],
		['zero width', 'a\u200bb\u200dc\ufeff\u00ad', 'a·b·c··'],
		['lone surrogates', 'a\ud800b\udc00', 'a·b·'],
		['marks without a letter', '\u0301a', '·a'],
		['a letter and its mark in one', 'e\u0301', 'é'],
		['towers of marks', `x${'\u0336'.repeat(50)}y`, `x${'\u0336'.repeat(7)}y`],
		['flags by their letters', '🇩🇪', 'DE'],
		['skin and presentation', '👍🏽⚠️', '👍⚠'],
		['special spaces', 'a\u00a0b\u3000c', 'a b c'],
		['what is fine', 'naïve 中文 ● ✓ Δ', 'naïve 中文 ● ✓ Δ'],
	])('%s', (_name, text, safe) => expect(sanitize(text)).toBe(safe));

	test('nothing that commands, hides or reorders is left, whatever came in', () => {
		fc.assert(
			fc.property(anyText, (text) => {
				const safe = sanitize(text);
				expect(safe).not.toMatch(/[\p{Control}\p{Format}\p{Surrogate}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u);
				expect(sanitize(safe)).toBe(safe);
				expect(columnsOf(text)).toBe(columnsOf(safe));
				for (const cluster of graphemes(text)) expect(cluster.width).toBeGreaterThan(0);
			}),
			{ numRuns: 3000 },
		);
	});
});

test('graphemes add up to the text and its width', () => {
	fc.assert(
		fc.property(anyText, (text) => {
			const parts = graphemes(text);
			expect(parts.map((part) => part.text).join('')).toBe(sanitize(text));
			expect(parts.reduce((sum, part) => sum + part.width, 0)).toBe(columnsOf(text));
		}),
	);
});

test('what was measured measures the same when it is a part of more', () => {
	// U+1D1BB is two characters in the normal form, and stays so next to what needs no care.
	for (const text of ['\u{1d1bb}', '\u{1d15e}', '\u{2f99c}']) {
		expect(columnsOf(`${text} `)).toBe(columnsOf(text) + 1);
		expect(sanitize(`${text} `)).toBe(`${sanitize(text)} `);
	}
});
