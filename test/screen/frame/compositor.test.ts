import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Compositor, type Rectangle } from '../../../src/screen/frame/compositor.ts';
import { type Line, line, text, withBase } from '../../../src/screen/frame/line.ts';
import { transition } from '../../../src/screen/frame/sgr.ts';
import { makeTerminal, sampleStyle } from '../terminal.ts';

function makeScreen(columns: number, rows: number) {
	const terminal = makeTerminal(columns, rows);
	const frames: string[] = [];
	const compositor = new Compositor({
		columns,
		rows,
		style: sampleStyle,
		write: (bytes) => {
			frames.push(bytes);
			terminal.write(bytes);
		},
	});
	terminal.write(compositor.enter());
	const draw = async () => {
		frames.length = 0;
		compositor.flush();
		await terminal.settled();
		return frames.join('');
	};
	return { terminal, compositor, draw, frames };
}

const at = (x: number, y: number, width: number, height: number, z = 0): Rectangle => ({ x, y, width, height, z });
const inner = (bytes: string) => bytes.replace('\u001b[?2026h', '').replace('\u001b[?2026l', '');

describe('what is drawn', () => {
	test('lies in its pane and keeps its looks', async () => {
		const { terminal, compositor, draw } = makeScreen(20, 4);
		compositor.set('a', at(2, 1, 8, 2), [
			line('one ', text('two', 'bold'), 'three'),
			withBase(line(text('sel', 'dim')), 'selected'),
		]);
		await draw();
		expect(terminal.rows()).toEqual(['', '  one twot', '  sel', '']);
		expect(terminal.cell(6, 1)).toEqual({ chars: 't', width: 1, fg: '#c80a14', bg: '', attributes: 'bold' });
		expect(terminal.cell(2, 2)).toEqual({ chars: 's', width: 1, fg: '', bg: '#28323c', attributes: 'dim' });
		// The base fills the row up to the pane's width and not beyond.
		expect(terminal.cell(9, 2)).toEqual({ chars: ' ', width: 1, fg: '', bg: '#28323c', attributes: '' });
		expect(terminal.cell(10, 2).bg).toBe('');
	});

	test('higher panes hide lower ones, whatever was set first', async () => {
		const { terminal, compositor, draw } = makeScreen(10, 3);
		compositor.set('dialog', at(2, 1, 4, 1, 10), [line('DLG')]);
		compositor.set('below', at(0, 0, 10, 3), [line('aaaaaaaaaa'), line('bbbbbbbbbb'), line('cccccccccc')]);
		await draw();
		expect(terminal.rows()).toEqual(['aaaaaaaaaa', 'bbDLG bbbb', 'cccccccccc']);
		compositor.remove('dialog');
		await draw();
		expect(terminal.rows()[1]).toBe('bbbbbbbbbb');
	});

	test('a wide character cut by any edge becomes a space', async () => {
		const { terminal, compositor, draw } = makeScreen(9, 3);
		compositor.set('back', at(0, 0, 9, 1), [line('中文字漢x')]);
		compositor.set('over', at(3, 0, 2, 1, 1), [line('ab')]);
		compositor.set('left', at(-1, 1, 5, 1), [line('中文')]);
		compositor.set('right', at(4, 2, 9, 1), [line('中文字')]);
		await draw();
		expect(terminal.rows()).toEqual(['中 ab 漢x', ' 文', '    中文']);
		expect(terminal.cell(2, 0)).toMatchObject({ chars: ' ', width: 1 });
		expect(terminal.cell(8, 2)).toMatchObject({ chars: ' ', width: 1 });
	});

	test('the last column and the last row do not scroll', async () => {
		const { terminal, compositor, draw } = makeScreen(5, 3);
		compositor.set('a', at(0, 0, 5, 3), [line('11111'), line('222中'), line('33333')]);
		await draw();
		expect(terminal.rows()).toEqual(['11111', '222中', '33333']);
	});

	test('cellAt tells what the terminal shows', async () => {
		const { compositor, draw } = makeScreen(4, 1);
		expect(compositor.cellAt(0, 0)).toBeUndefined();
		compositor.set('a', at(0, 0, 4, 1), [line(text('中', 'bold'), 'x')]);
		await draw();
		expect(compositor.cellAt(0, 0)).toEqual({ text: '中', width: 2, style: '1;38;2;200;10;20' });
		expect(compositor.cellAt(1, 0)).toMatchObject({ text: '', width: 0 });
		expect(compositor.cellAt(2, 0)).toEqual({ text: 'x', width: 1, style: '' });
		expect(compositor.cellAt(4, 0)).toBeUndefined();
	});
});

describe('what is written', () => {
	test('nothing, if nothing changed', async () => {
		const { compositor, draw } = makeScreen(20, 3);
		compositor.set('a', at(0, 0, 10, 2), [line('x', text('y', 'bold'))]);
		await draw();
		compositor.set('a', at(0, 0, 10, 2), [line('x', text('y', 'bold'))]);
		expect(await draw()).toBe('');
	});

	test('only the cells that changed, with a move, inside one synchronised frame', async () => {
		const { compositor, draw } = makeScreen(40, 3);
		compositor.set('a', at(0, 1, 40, 1), [line('cpu  14 %  memory  92.3 GiB')]);
		await draw();
		compositor.set('a', at(0, 1, 40, 1), [line('cpu  17 %  memory  92.4 GiB')]);
		expect(await draw()).toBe('\u001b[?2026h\u001b[2;7H7\u001b[23G4\u001b[?2026l');
	});

	test('a short gap again rather than a move', async () => {
		const { compositor, draw } = makeScreen(40, 1);
		compositor.set('a', at(0, 0, 40, 1), [line('1a2bcdefgh3')]);
		await draw();
		compositor.set('a', at(0, 0, 40, 1), [line('4a5bcdefgh6')]);
		expect(inner(await draw())).toBe('\u001b[1;1H4a5\u001b[11G6');
	});

	test('the change of look, not the whole look', async () => {
		const { compositor, draw } = makeScreen(40, 1);
		await draw();
		compositor.set('a', at(0, 0, 8, 1), [line(text('a', 'dim'), text('b', 'bold.dim'), text('c', 'dim'))]);
		expect(inner(await draw())).toBe('\u001b[1;1H\u001b[2ma\u001b[1mb\u001b[0;2mc\u001b[m');
	});

	test('a change of look alone', async () => {
		const { terminal, compositor, draw } = makeScreen(10, 1);
		compositor.set('a', at(0, 0, 10, 1), [line(text('x', 'dim'), text('y', 'dim'))]);
		await draw();
		compositor.set('a', at(0, 0, 10, 1), [line(text('x', 'dim'), text('y', 'inverse'))]);
		expect(inner(await draw())).toBe('\u001b[1;2H\u001b[7my\u001b[m');
		compositor.set('a', at(0, 0, 10, 1), [withBase(line(text('x', 'dim'), text('y', 'inverse')), 'selected')]);
		await draw();
		expect(terminal.cell(0, 0)).toMatchObject({ attributes: 'dim', bg: '#28323c' });
	});

	test('a character of disputed width so that its neighbours are right on any terminal', async () => {
		const { terminal, compositor, draw } = makeScreen(8, 1);
		// As old terminals do: an emoji is one column wide.
		terminal.terminal.unicode.activeVersion = '6';
		compositor.set('a', at(0, 0, 8, 1), [line('abcdefgh')]);
		await draw();
		compositor.set('a', at(0, 0, 8, 1), [line('a👍defgh')]);
		await draw();
		expect(terminal.row(0)).toBe('a👍 defgh');
	});

	test('an erase for a blank rest of a row', async () => {
		const { compositor, draw } = makeScreen(40, 1);
		compositor.set('a', at(0, 0, 40, 1), [line('something long to be removed')]);
		await draw();
		compositor.set('a', at(0, 0, 40, 1), [line('some')]);
		expect(inner(await draw())).toBe('\u001b[1;5H\u001b[K');
	});

	test('everything after invalidate, which repairs what others wrote', async () => {
		const { terminal, compositor, draw } = makeScreen(10, 2);
		compositor.set('a', at(0, 0, 10, 1), [line('abc')]);
		await draw();
		terminal.write('\u001b[31m\u001b[2;1Hgarbage\u001b[1;2H中');
		compositor.invalidate();
		await draw();
		expect(terminal.rows()).toEqual(['abc', '']);
		expect(terminal.cell(0, 0).fg).toBe('');
	});

	test('nothing while paused, everything after', async () => {
		const { terminal, compositor, draw, frames } = makeScreen(10, 1);
		compositor.set('a', at(0, 0, 10, 1), [line('abc')]);
		await draw();
		compositor.pause();
		compositor.set('a', at(0, 0, 10, 1), [line('xyz')]);
		expect(await draw()).toBe('');
		terminal.write('\u001b[1;1Hother program');
		compositor.resume();
		await Promise.resolve();
		expect(frames).toHaveLength(1);
		await terminal.settled();
		expect(terminal.row(0)).toBe('xyz');
	});

	test('one frame for all changes of a turn', async () => {
		const { compositor, frames } = makeScreen(10, 2);
		for (const id of ['a', 'b']) {
			compositor.set(id, at(0, id === 'a' ? 0 : 1, 10, 1), [line(id)]);
			compositor.schedule();
		}
		expect(frames).toHaveLength(0);
		await Promise.resolve();
		expect(frames).toHaveLength(1);
	});

	test('after another style only what looks different', async () => {
		const { terminal, compositor, draw } = makeScreen(20, 1);
		compositor.set('a', at(0, 0, 20, 1), [line('plain ', text('x', 'bold'))]);
		await draw();
		compositor.restyle((token) => (token === 'bold' ? '4' : ''));
		expect(inner(await draw())).toBe('\u001b[1;7H\u001b[4mx\u001b[m');
		expect(terminal.cell(6, 0)).toMatchObject({ attributes: 'underline', fg: '' });
	});
});

const pieces = fc.oneof(
	fc.constantFrom(
		'a',
		'bc',
		'中',
		'文字',
		'●',
		' ',
		'    ',
		'👍',
		'é',
		'ﾊﾞ',
		'⚠️',
		'\u001b[2J',
		'\u001b]0;x\u0007',
		'\u009b5n',
		'\u202e',
		'\u0301',
		'\u1161',
		'𝅘𝅥𝅮',
		'क्ष',
		'🇩🇪',
	),
	fc.string({ unit: 'binary', maxLength: 6 }),
);
const tokens = fc.constantFrom(undefined, 'bold', 'dim', 'bold.dim', 'under', 'inverse', 'indexed');
const anyLine: fc.Arbitrary<Line> = fc
	.record({
		parts: fc.array(fc.tuple(pieces, tokens), { maxLength: 5 }),
		base: fc.constantFrom(undefined, 'selected', 'selected.basic'),
	})
	.map(({ parts, base }) => {
		const made = line(...parts.map(([content, token]) => text(content, token)));
		return base === undefined ? made : withBase(made, base);
	});
const whole = (min: number, max: number) => fc.integer({ min, max });
const anyPane = fc.tuple(
	fc.constantFrom('a', 'b', 'c', 'd'),
	fc.record({ x: whole(-4, 22), y: whole(-2, 6), width: whole(0, 24), height: whole(0, 5), z: whole(0, 2) }),
	fc.array(anyLine, { maxLength: 5 }),
);

/** Whether terminals may disagree about a text, so that a model terminal can't be asked what is right. */
const disputed = (content: string) => /[^\u0020-\u024f\u2190-\u25ff\u3041-\u30fa\u4e00-\u9fff]/.test(content);

describe('looks', () => {
	test('two ways to write one look need no bytes between them, above all no reset', () => {
		expect(transition('38;5;100;48;5;20', '97;44;38;5;100;48;5;20')).toBe('');
		expect(transition('31', '')).toBe('\u001b[m');
	});
});

describe('with any panes', () => {
	test('changes lead to the same screen as drawing it anew', async () => {
		const step = fc.oneof(
			anyPane.map(
				([id, place, lines]) =>
					(screen: Compositor) =>
						screen.set(id, place, lines),
			),
			fc.constantFrom('a', 'b', 'c', 'd').map((id) => (screen: Compositor) => screen.remove(id)),
			fc.constant((screen: Compositor) => screen.restyle(sampleStyle)),
		);
		await fc.assert(
			fc.asyncProperty(fc.array(fc.array(step, { maxLength: 4 }), { minLength: 1, maxLength: 5 }), async (turns) => {
				const changed = makeScreen(20, 6);
				const anew = makeScreen(20, 6);
				for (const turn of turns) {
					for (const change of turn) {
						change(changed.compositor);
						change(anew.compositor);
					}
					await changed.draw();
				}
				await anew.draw();
				for (let y = 0; y < 6; y++) {
					for (let x = 0; x < 20; x++) {
						expect(changed.compositor.cellAt(x, y)).toEqual(anew.compositor.cellAt(x, y));
						const cell = anew.compositor.cellAt(x, y)!;
						if (disputed(cell.text) || (cell.width === 0 && disputed(anew.compositor.cellAt(x - 1, y)!.text))) continue;
						expect([x, y, changed.terminal.cell(x, y)]).toEqual([x, y, anew.terminal.cell(x, y)]);
						// What the compositor believes is what the terminal has.
						expect(anew.terminal.cell(x, y)).toMatchObject({ chars: cell.text, width: cell.width });
					}
				}
			}),
			{ numRuns: 250 },
		);
	}, 30_000);

	test('no command gets through and no neighbour is touched', async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(pieces, { maxLength: 8 }), async (parts) => {
				const { terminal, compositor, draw } = makeScreen(16, 3);
				compositor.set('left', at(0, 1, 3, 1), [line('LLL')]);
				compositor.set('right', at(13, 1, 3, 1), [line('RRR')]);
				compositor.set('above', at(0, 0, 16, 1), [line('A'.repeat(16))]);
				compositor.set('any', at(3, 1, 10, 1), [line(...parts)]);
				const bytes = await draw();
				const own = /\u001b\[(?:[\d;]*m|\d+(?:;\d+)?H|\d+G|K|\?2026[hl])/g;
				expect(bytes.replace(own, '')).not.toMatch(/[\p{Control}\p{Surrogate}\p{Bidi_Control}]/u);
				expect(terminal.row(0)).toBe('A'.repeat(16));
				for (const x of [0, 1, 2]) expect(terminal.cell(x, 1).chars).toBe('L');
				for (const x of [13, 14, 15]) expect(terminal.cell(x, 1).chars).toBe('R');
			}),
			{ numRuns: 600 },
		);
	}, 30_000);

	test('resizing draws the same as starting at that size', async () => {
		const lines = [line(text('中文字', 'bold'), ' memory'), withBase(line('selected'), 'selected')];
		const { terminal, compositor, draw } = makeScreen(30, 8);
		compositor.set('a', at(0, 0, 30, 8), lines);
		await draw();
		for (const [columns, rows] of [
			[12, 3],
			[40, 9],
			[5, 1],
			[30, 8],
		] as const) {
			terminal.terminal.resize(columns, rows);
			compositor.resize(columns, rows);
			compositor.set('a', at(0, 0, columns, rows), lines);
			await draw();
			const fresh = makeScreen(columns, rows);
			fresh.compositor.set('a', at(0, 0, columns, rows), lines);
			await fresh.draw();
			expect(terminal.cells()).toEqual(fresh.terminal.cells());
		}
	});
});
