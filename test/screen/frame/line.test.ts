// biome-ignore-all lint/suspicious/noFocusedTests: `fit` is not a test here
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
	fit,
	line,
	middle,
	padEnd,
	padStart,
	plain,
	text,
	widthOf,
	withBase,
	wrap,
} from '../../../src/screen/frame/line.ts';
import { columnsOf, sanitize } from '../../../src/screen/frame/width.ts';

const word = fc.oneof(
	fc.constantFrom('a', 'memory', '中文字', '👍', 'naïve', ' ', '  ', '\n', '\u001b[2J', 'vllm-reranker'),
	fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const spans = fc.array(fc.record({ text: word, token: fc.constantFrom('text', 'text.dim') }), { maxLength: 8 });

describe('fit', () => {
	test('pads at the side that the alignment leaves', () => {
		expect(plain(fit(line('ab'), 5))).toBe('ab   ');
		expect(plain(fit(line('ab'), 5, 'right'))).toBe('   ab');
		expect(plain(fit(line('ab'), 5, 'center'))).toBe(' ab  ');
	});

	test('cuts with an ellipsis that looks like what it cuts', () => {
		expect(fit(line(text('abc', 'x'), text('defg', 'y')), 5).spans).toEqual([text('abc', 'x'), text('d…', 'y')]);
		expect(plain(fit(line('abcdef'), 1))).toBe('…');
		expect(plain(fit(line('abcdef'), 0))).toBe('');
	});

	test('fills the half of a wide character that is cut', () => {
		expect(plain(fit(line('中文字'), 4))).toBe('中… ');
		expect(plain(fit(line('中文字'), 5))).toBe('中文…');
	});

	test('keeps the base', () => expect(fit(withBase(line('a'), 'row.selected'), 3).base).toBe('row.selected'));

	test('is always exactly as wide as asked', () => {
		fc.assert(
			fc.property(
				spans,
				fc.nat(30),
				fc.constantFrom('left' as const, 'right' as const, 'center' as const),
				(parts, width, align) => {
					expect(widthOf(fit({ spans: parts }, width, align))).toBe(width);
				},
			),
			{ numRuns: 1000 },
		);
	});
});

describe('middle', () => {
	test.each([
		['vllm-embeddings', 15, 'vllm-embeddings'],
		['vllm-embeddings', 9, 'vllm…ings'],
		['vllm-embeddings', 8, 'vllm…ngs'],
		['abc', 2, 'a…'],
		['abc', 1, '…'],
		['abc', 0, ''],
		['中文字漢', 6, '中…漢'],
	])('%s in %i', (content, width, short) => expect(middle(content, width)).toBe(short));

	test('never wider than asked', () => {
		fc.assert(
			fc.property(word, fc.nat(12), (content, width) => {
				expect(columnsOf(middle(content, width))).toBeLessThanOrEqual(width);
			}),
		);
	});
});

test('padStart and padEnd count columns', () => {
	expect(padStart('中', 4)).toBe('  中');
	expect(padEnd('中', 4)).toBe('中  ');
	expect(padStart('12345', 3)).toBe('12345');
});

describe('wrap', () => {
	const wrapped = (content: string, width: number) => wrap([text(content)], width).map(plain);

	test('breaks between words and drops the space there', () => {
		expect(wrapped('Stopping it frees about 8.4 GiB', 12)).toEqual(['Stopping it', 'frees about', '8.4 GiB']);
	});

	test('keeps an indent and hard breaks', () => expect(wrapped('  a b\n\nc', 10)).toEqual(['  a b', '', 'c']));

	test('breaks a word that is wider than the line', () => {
		expect(wrapped('ab vllm-reranker.service', 8)).toEqual(['ab', 'vllm-rer', 'anker.se', 'rvice']);
		expect(wrapped('中文字漢', 5)).toEqual(['中文', '字漢']);
	});

	test('a word of several spans stays together and keeps its tokens', () => {
		expect(wrap([text('frees ', 'a'), text('8.4', 'b'), text(' GiB,', 'a'), text(' then', 'a')], 9)).toEqual([
			{ spans: [text('frees ', 'a'), text('8.4', 'b')] },
			{ spans: [text('GiB, then', 'a')] },
		]);
		expect(wrap([text('aaa ', 'a'), text('bbb', 'b'), text('ccc', 'c')], 7).map(plain)).toEqual(['aaa', 'bbbccc']);
	});

	test('loses nothing but spaces and fits', () => {
		fc.assert(
			fc.property(spans, fc.integer({ min: 2, max: 20 }), (parts, width) => {
				const lines = wrap(parts, width);
				// Cut into words, letters may compose differently, so letters are compared after that.
				const bare = (content: string) => content.replace(/\s/g, '').normalize('NFC');
				expect(bare(lines.map(plain).join(''))).toBe(
					bare(parts.map((part) => sanitize(part.text.replace(/\s/g, ' '))).join('')),
				);
				for (const each of lines) expect(widthOf(each)).toBeLessThanOrEqual(width);
			}),
		);
	});
});
