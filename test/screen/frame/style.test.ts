import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forBlanks, transition } from '../../../src/screen/frame/sgr.ts';
import { depthOf, rgbOf, type Style, sgrOf, to16, to256 } from '../../../src/screen/frame/style.ts';
import { makeTerminal } from '../terminal.ts';

const style: fc.Arbitrary<Style> = fc.record(
	{
		fg: fc.constantFrom('#ff8800', '#123456', 'red', 'brightBlue', 'default'),
		bg: fc.constantFrom('#202830', 'blue', 'brightBlack', 'default'),
		bold: fc.boolean(),
		dim: fc.boolean(),
		italic: fc.boolean(),
		underline: fc.boolean(),
		inverse: fc.boolean(),
	},
	{ requiredKeys: [] },
);
const depth = fc.constantFrom('truecolor' as const, '256' as const, '16' as const, 'none' as const);

describe('transition', () => {
	test('leads from any look to any other, in no more bytes than a reset', async () => {
		await fc.assert(
			fc.asyncProperty(style, style, depth, async (a, b, colours) => {
				const from = sgrOf(a, colours);
				const to = sgrOf(b, colours);
				const terminal = makeTerminal(2, 1);
				const bytes = transition(from, to);
				terminal.write(`\u001b[${from}m\u001b[1;1H${bytes}x\u001b[0${to === '' ? '' : ';'}${to}my`);
				await terminal.settled();
				expect({ ...terminal.cell(0, 0), chars: '' }).toEqual({ ...terminal.cell(1, 0), chars: '' });
				expect(bytes.length).toBeLessThanOrEqual(`\u001b[0;${to}m`.length);
				if (from === to) expect(bytes).toBe('');
			}),
			{ numRuns: 400 },
		);
	});

	test('resets if a parameter is not known to it', () => expect(transition('58;5;1', '1')).toBe('\u001b[0;1m'));
});

test('on blanks only what shows there is kept', () => {
	expect(forBlanks('1;38;2;1;2;3')).toBe('');
	expect(forBlanks('1;31;48;5;20')).toBe('48;5;20');
	expect(forBlanks('4;31')).toBe('4;31');
	expect(forBlanks('7')).toBe('7');
});

describe('sgrOf', () => {
	const selected: Style = { fg: '#ffffff', bg: '#264f78', bold: true, mono: { inverse: true } };

	test.each([
		['truecolor', '1;38;2;255;255;255;48;2;38;79;120'],
		['256', '1;38;5;231;48;5;24'],
		['16', '1;97;44'],
		['none', '1;7'],
	] as const)('%s', (colours, parameters) => expect(sgrOf(selected, colours)).toBe(parameters));

	test('names and the default colour', () => {
		expect(sgrOf({ fg: 'red', bg: 'brightBlue' }, 'truecolor')).toBe('31;104');
		expect(sgrOf({ fg: 'default', bg: 'default' }, '16')).toBe('');
	});

	test('text never has the colour of its ground', () => {
		// Both greys are bright black among sixteen colours.
		expect(sgrOf({ fg: '#868c96', bg: '#3a4356' }, '16')).toBe('97;100');
		expect(sgrOf({ fg: '#202021', bg: '#202020' }, '256')).not.toMatch(/^38;5;(\d+);48;5;\1$/);
	});

	test('without colour attributes stay', () => {
		fc.assert(
			fc.property(style, (any) => {
				const parts = sgrOf(any, 'none').split(';').filter(Boolean);
				expect(parts).toEqual(
					[any.bold && '1', any.dim && '2', any.italic && '3', any.underline && '4', any.inverse && '7'].filter(
						Boolean,
					),
				);
			}),
		);
	});
});

describe('fewer colours', () => {
	test('exact members of the 256 stay themselves', () => {
		const levels = [0, 95, 135, 175, 215, 255];
		for (const [r, red] of levels.entries()) {
			for (const [g, green] of levels.entries())
				for (const [b, blue] of levels.entries()) expect(to256([red, green, blue])).toBe(16 + 36 * r + 6 * g + b);
		}
		for (let grey = 0; grey < 24; grey++) expect(to256([8 + 10 * grey, 8 + 10 * grey, 8 + 10 * grey])).toBe(232 + grey);
	});

	test.each([
		['#e06c75', 9],
		['#d19a66', 11],
		['#98c379', 10],
		['#56b6c2', 14],
		['#61afef', 12],
		['#c678dd', 13],
		['#800000', 1],
		['#000000', 0],
		['#525a6b', 8],
		['#3a4356', 8],
		['#24292f', 0],
		['#2b3a54', 4],
		['#ffffff', 15],
		['#c0c4cc', 7],
	])('%s keeps its hue among sixteen', (hex, index) => expect(to16(rgbOf(hex))).toBe(index));
});

describe('depthOf', () => {
	test.each([
		[{ TERM: 'xterm-256color' }, true, '256'],
		[{ TERM: 'xterm-256color', COLORTERM: 'truecolor' }, true, 'truecolor'],
		[{ TERM: 'xterm-kitty' }, true, 'truecolor'],
		[{ TERM: 'xterm' }, true, '16'],
		[{}, true, '16'],
		[{ TERM: 'dumb', COLORTERM: 'truecolor' }, true, 'none'],
		[{ TERM: 'xterm-256color' }, false, 'none'],
		[{ TERM: 'xterm-256color', NO_COLOR: '1' }, true, 'none'],
		[{ TERM: 'xterm-256color', NO_COLOR: '' }, true, '256'],
		[{ TERM: 'xterm-256color', NO_COLOR: '1', FORCE_COLOR: '3' }, false, 'truecolor'],
		[{ FORCE_COLOR: '0', COLORTERM: 'truecolor' }, true, 'none'],
		[{ FORCE_COLOR: '', TERM: 'xterm-256color' }, false, '256'],
		[{ FORCE_COLOR: 'true', TERM: 'dumb' }, false, '16'],
	] as const)('%j, tty %s: %s', (env, isTTY, expected) => expect(depthOf(env, isTTY)).toBe(expected));
});
