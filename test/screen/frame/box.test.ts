import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frameBox } from '../../../src/screen/frame/box.ts';
import { line, plain, text, widthOf, withBase } from '../../../src/screen/frame/line.ts';

const word = fc.oneof(
	fc.constantFrom('a', 'memory', '中文字', '👍', '\u001b[2J'),
	fc.string({ unit: 'grapheme', maxLength: 8 }),
);
const spans = fc.array(fc.record({ text: word, token: fc.constantFrom('text', 'text.dim') }), { maxLength: 8 });

describe('frameBox', () => {
	const drawn = (...box: Parameters<typeof frameBox>) => frameBox(...box).map(plain);

	test('draws border and title around the content', () => {
		expect(drawn('services', [line('vllm')], 20, 4)).toEqual([
			'╭ services ────────╮',
			'│ vllm             │',
			'│                  │',
			'╰──────────────────╯',
		]);
	});

	test('focus can be seen without colour', () => {
		expect(drawn('why', [], 10, 2, { focused: true })).toEqual(['┏ why ━━━┓', '┗━━━━━━━━┛']);
		expect(frameBox('why', [], 10, 2, { focused: true })[0]?.spans[0]?.token).toBe('border.focus');
		expect(frameBox('why', [], 10, 2)[0]?.spans[0]?.token).toBe('border');
	});

	test('a right title gives way to the left one', () => {
		expect(drawn('plan', [], 20, 2, { right: '3 of 61' })[0]).toBe('╭ plan ─── 3 of 61 ╮');
		expect(drawn('plan', [], 16, 2, { right: '3 of 61' })[0]).toBe('╭ plan ────────╮');
		expect(drawn('a long title', [], 12, 2)[0]).toBe('╭ a long… ─╮');
	});

	test('a selected row ends at the border', () => {
		const [, row] = frameBox('', [withBase(line(text('x', 'text.strong')), 'row.selected')], 8, 3, { base: 'dialog' });
		expect(row?.base).toBe('dialog');
		expect(row?.spans.map((span) => span.base)).toEqual([
			undefined,
			...row!.spans.slice(1, -1).map(() => 'row.selected'),
			undefined,
		]);
	});

	test('is always exactly as large as asked', () => {
		fc.assert(
			fc.property(
				spans,
				fc.nat(30),
				fc.nat(8),
				fc.boolean(),
				fc.option(word),
				(parts, width, height, focused, right) => {
					const box = frameBox({ spans: parts }, [{ spans: parts }], width, height, {
						focused,
						...(right === null ? {} : { right }),
					});
					expect(box.map(widthOf)).toEqual(Array.from({ length: height }, () => width));
				},
			),
			{ numRuns: 1000 },
		);
	});
});
