import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { type Key, Text, useInput } from 'ink';
import { render } from 'ink-testing-library';
import { createElement } from 'react';
import { describe, expect, test, vi } from 'vitest';
import { chordOf, type InkKey, parseChord } from '../../src/commands/chord.ts';
import { CONTEXTS, type Keymap, keysFor, loadKeymap, type Step, step } from '../../src/commands/keymap.ts';
import { formatProblem } from '../../src/config/yaml.ts';

const folder = new URL('../../keymaps/', import.meta.url);
const shipped = Object.fromEntries(
	readdirSync(folder).map((file) => [file.replace(/\.yaml$/, ''), readFileSync(new URL(file, folder), 'utf8')]),
);
const commands = [
	...['cursor.down', 'cursor.up', 'cursor.top', 'cursor.bottom', 'cursor.pageDown', 'cursor.pageUp'],
	...['evict', 'undo', 'details', 'answer', 'source', 'help'],
	...['confirm.next', 'confirm.previous', 'confirm.accept', 'back', 'retry', 'quit', 'redraw'],
];

function keymap(name: string, sources: Record<string, string> = {}): Keymap {
	const loaded = loadKeymap(name, { ...shipped, ...sources }, commands);
	if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
	return loaded.keymap;
}

function problems(keys: string): string[] {
	const loaded = loadKeymap('x', { ...shipped, x: `name: x\ninherits: default\nkeys:\n  main:\n${keys}` }, commands);
	return loaded.ok ? [] : loaded.problems.map(formatProblem);
}

function Keys({ heard }: { heard: (chords: string[]) => void }) {
	// Also proves that Ink's own type fits.
	useInput((input: string, key: Key) => heard(chordOf(input, key)));
	return createElement(Text, null, 'x');
}

describe('chordOf', () => {
	test.each<[string, InkKey, string[]]>([
		['e', {}, ['e']],
		['E', { shift: true }, ['E']],
		['?', {}, ['?']],
		[':', {}, [':']],
		[' ', {}, ['space']],
		['', { return: true }, ['enter']],
		['', { escape: true, meta: true }, ['esc']],
		['', { upArrow: true }, ['up']],
		['', { pageDown: true }, ['pagedown']],
		['', { tab: true, shift: true }, ['shift+tab']],
		['c', { ctrl: true }, ['ctrl+c']],
		['x', { meta: true }, ['alt+x']],
		['', { leftArrow: true, ctrl: true }, ['ctrl+left']],
		['jjj', {}, ['j', 'j', 'j']],
		['jj\r', {}, ['j', 'j', 'enter']],
		['e\t \u0003', {}, ['e', 'tab', 'space', 'ctrl+c']],
		['j k', { meta: true }, ['j', 'space', 'k']],
		['ü中', {}, ['ü', '中']],
		['', {}, []],
		['e', { eventType: 'release' }, []],
	])('%j %j', (input, key, chords) => expect(chordOf(input, key)).toEqual(chords));

	test('reads what Ink makes of the bytes of a terminal', async () => {
		const seen: string[] = [];
		const app = render(createElement(Keys, { heard: (chords) => void seen.push(...chords) }));
		// Ink listens from an effect on.
		await vi.waitFor(() => expect(app.stdin.listenerCount('readable')).toBeGreaterThan(0));
		const bytes: [string, string[]][] = [
			['e', ['e']],
			['E', ['E']],
			['\u001b[A', ['up']],
			['\u001bOB', ['down']],
			['\u001b[5~', ['pageup']],
			['\u001b[H', ['home']],
			['\u001b[Z', ['shift+tab']],
			['\t', ['tab']],
			['\r', ['enter']],
			[' ', ['space']],
			['\u0003', ['ctrl+c']],
			['\u000c', ['ctrl+l']],
			['\u001bx', ['alt+x']],
			['jjj', ['j', 'j', 'j']],
			['\u001b', ['esc']],
			['\u007f', ['backspace']],
		];
		for (const [sent, chords] of bytes) {
			seen.length = 0;
			app.stdin.write(sent);
			// A lone escape comes after a moment, in which the rest of a sequence could follow.
			await vi.waitFor(() => expect([sent, seen]).toEqual([sent, chords]));
		}
		app.unmount();
	});

	test('gives only chords that a keymap can name', () => {
		fc.assert(
			fc.property(
				fc.string({ unit: 'binary' }),
				fc.record({ ctrl: fc.boolean(), meta: fc.boolean(), tab: fc.boolean(), upArrow: fc.boolean() }),
				(input, key) => {
					for (const chord of chordOf(input, key)) {
						const parsed = parseChord(chord);
						// Capital letters with ctrl do not exist on a wire, nor do bytes that belong to another key.
						if (parsed.ok) expect(parsed.chord.toLowerCase()).toBe(chord.toLowerCase());
						else expect(parsed.message).toMatch(/^terminals send/);
					}
				},
			),
		);
	});
});

describe('parseChord', () => {
	test.each([
		['e', 'e'],
		['Return', 'enter'],
		['alt+ctrl+X', 'ctrl+alt+x'],
		['Shift+Tab', 'shift+tab'],
		['+', '+'],
		['ctrl++', 'ctrl++'],
		['pgdn', 'pagedown'],
	])('%s is %s', (written, chord) => expect(parseChord(written)).toEqual({ ok: true, chord }));

	test.each([
		['ctrl+m', 'terminals send ctrl+m as enter; bind enter'],
		['ctrl+i', 'terminals send ctrl+i as tab; bind tab'],
		['shift+e', 'a shifted character is written as itself, like "E"'],
		['F5', 'function keys cannot be told apart'],
		['super+x', '"super" is no modifier; there are ctrl, alt and shift'],
		['ctrl+control+x', 'a modifier stands here twice'],
		['enterr', 'there is no key "enterr"'],
		['', 'there is no key ""'],
	])('%s is refused', (written, message) => expect(parseChord(written)).toEqual({ ok: false, message }));
});

describe('loadKeymap tells', () => {
	test.each([
		['an unknown command', '    x: evikt\n', ['keymaps/x.yaml:5:8: unknown command "evikt"; did you mean "evict"?']],
		[
			'a bad chord',
			'    entr: evict\n',
			['keymaps/x.yaml:5:5: bad key "entr": there is no key "entr"; did you mean "enter"?'],
		],
		[
			'two spaces',
			'    "g  g": evict\n',
			['keymaps/x.yaml:5:5: bad key "g  g": chords are joined by one space; the space bar is called "space"'],
		],
		[
			'a sequence that can never be typed',
			'    e e: undo\n',
			['keymaps/x.yaml:5:5: e e can never be typed, because e already means evict'],
		],
		[
			'the same conflict from the other side',
			'    x y z: undo\n    x y: evict\n',
			['keymaps/x.yaml:5:5: x y z can never be typed, because x y already means evict'],
		],
		[
			'one key in two spellings',
			'    ctrl+alt+x: undo\n    alt+ctrl+x: evict\n',
			['keymaps/x.yaml:6:5: ctrl+alt+x is bound twice'],
		],
		['a wrong type', '    x: [evict]\n', ['keymaps/x.yaml:5:8: expected a string or nothing, found a list']],
		[
			'an unknown context',
			'    x: evict\n  dialogue: {}\n',
			['keymaps/x.yaml:6:3: unknown key "dialogue"; did you mean "dialog"?'],
		],
	])('%s', (_name, keys, expected) => expect(problems(keys)).toEqual(expected));

	test('where a heir makes a conflict, the place that has it', () => {
		const sources = { ...shipped, x: 'name: x\ninherits: vim-like\nkeys:\n  main:\n    g: undo\n' };
		const loaded = loadKeymap('x', sources, commands);
		expect(loaded.ok ? [] : loaded.problems.map((each) => each.message)).toEqual([
			'g g can never be typed, because g already means undo',
		]);
		expect(keysFor(keymap('x', { x: `${sources.x}    g g: null\n` }).main, 'undo')).toEqual(['u', 'g']);
	});

	test('what it inherits, and what it takes away', () => {
		const map = keymap('x', {
			x: 'name: x\ninherits: default\nkeys:\n  main:\n    e: null\n    X: evict\n    return: source\n',
		});
		expect(keysFor(map.main, 'evict')).toEqual(['X']);
		expect(keysFor(map.main, 'details')).toEqual([]);
		expect(keysFor(map.main, 'source')).toEqual(['w', 'enter']);
		expect(keysFor(map.main, 'undo')).toEqual(['u']);
	});
});

describe('step', () => {
	const map = keymap('vim-like');
	/** What a row of keys does: the last step, with pending chords carried along. */
	function type(...chords: string[]): Step[] {
		let pending: readonly string[] = [];
		return chords.map((chord) => {
			const result = step(map.main, pending, chord);
			pending = result.kind === 'pending' ? result.pending : [];
			return result;
		});
	}

	test('a key', () => expect(type('e')).toEqual([{ kind: 'command', command: 'evict' }]));
	test('a sequence', () =>
		expect(type('g', 'g')).toEqual([
			{ kind: 'pending', pending: ['g'] },
			{ kind: 'command', command: 'cursor.top' },
		]));
	test('a sequence that leads nowhere does nothing, not even its last key', () => {
		expect(type('g', 'e', 'e').map((each) => each.kind)).toEqual(['pending', 'none', 'command']);
	});
	test('an unbound key', () => expect(type('ctrl+x')).toEqual([{ kind: 'none' }]));
	test('the start of a chord is not the start of a sequence', () => {
		expect(step(new Map([['gg x', 'undo']]), [], 'g')).toEqual({ kind: 'none' });
	});
	test('in a dialog only its own keys', () => {
		expect(step(map.dialog, [], 'e')).toEqual({ kind: 'none' });
		expect(step(map.dialog, [], 'enter')).toEqual({ kind: 'command', command: 'confirm.accept' });
	});
});

describe.each(Object.keys(shipped))('%s', (name) => {
	const map = keymap(name);

	test('reaches every command', () => {
		expect(
			commands.filter((command) => CONTEXTS.every((context) => keysFor(map[context], command).length === 0)),
		).toEqual([]);
	});

	test('leaves keys alone that tmux or the line want', () => {
		const bound = CONTEXTS.flatMap((context) => [...map[context].keys()]).flatMap((sequence) => sequence.split(' '));
		expect(bound).not.toEqual(expect.arrayContaining([expect.stringMatching(/^ctrl\+[bsqmz]$/)]));
	});

	test('confirms by no letter and by no key that opens a dialog', () => {
		expect(keysFor(map.dialog, 'confirm.accept')).toEqual(['enter']);
		for (const command of ['evict', 'undo', 'retry']) expect(keysFor(map.main, command)).not.toContain('enter');
	});

	test('has the keys that its users expect', () => {
		const expected = {
			'cursor.down': 'j',
			evict: 'e',
			undo: 'u',
			details: 'enter',
			source: 'w',
			help: '?',
			retry: 'r',
			quit: 'q',
			redraw: 'ctrl+l',
			back: 'esc',
		};
		for (const [command, key] of Object.entries(expected)) expect(keysFor(map.main, command)).toContain(key);
		expect(keysFor(map.main, 'cursor.top')).toContain(name === 'vim-like' ? 'g g' : 'home');
	});
});
