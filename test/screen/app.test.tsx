import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { render } from 'ink';
import { afterEach, describe, expect, test } from 'vitest';
import type { Intent } from '../../src/commands/command.ts';
import { commandIds } from '../../src/commands/index.ts';
import { loadKeymap } from '../../src/commands/keymap.ts';
import { failure } from '../../src/domain/failure.ts';
import { App } from '../../src/screen/App.tsx';
import { Compositor } from '../../src/screen/frame/compositor.ts';
import type { Depth } from '../../src/screen/frame/style.ts';
import { PaneProvider } from '../../src/screen/Pane.tsx';
import { loadTheme, styleOf } from '../../src/screen/theme/theme.ts';
import type { State } from '../../src/store/state.ts';
import { createConsoleStore } from '../../src/store/store.ts';
import { AT } from '../support/observation.ts';
import { story } from '../support/state.ts';
import { makeTerminal } from './terminal.ts';

const text = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const themes = { dark: text('themes/dark.yaml') };
const loaded = loadTheme('dark', themes);
const keys = loadKeymap('default', { default: text('keymaps/default.yaml') }, commandIds);
if (!loaded.ok || !keys.ok) throw new Error('the shipped theme or keymap is broken');

class Keyboard extends EventEmitter {
	isTTY = true;
	#data: string | null = null;
	type(data: string) {
		this.#data = data;
		this.emit('readable');
		this.emit('data', data);
	}
	read() {
		const data = this.#data;
		this.#data = null;
		return data;
	}
	setEncoding() {}
	setRawMode() {}
	ref() {}
	unref() {}
	resume() {}
	pause() {}
}

const open: { unmount: () => void }[] = [];
afterEach(() => {
	for (const app of open.splice(0)) app.unmount();
});

/** The whole screen, drawn by the compositor into a terminal emulator. */
const show = async (state: State, columns: number, rows: number, depth: Depth = 'truecolor') => {
	const term = makeTerminal(columns, rows);
	const store = createConsoleStore(state);
	const compositor = new Compositor({ columns, rows, style: styleOf(loaded.theme, depth), write: term.write });
	// What Ink itself writes is of no interest here; it only waits to hear that it was written.
	const write = (...args: unknown[]): boolean => {
		const done = args.at(-1);
		if (typeof done === 'function') queueMicrotask(done as () => void);
		return true;
	};
	const stdout = Object.assign(new EventEmitter(), { isTTY: true, columns, rows, writable: true, write });
	const keyboard = new Keyboard();
	const intents: Intent[] = [];
	const app = render(
		<PaneProvider mode="compositor" compositor={compositor}>
			<App
				store={store}
				keymap={keys.keymap}
				onIntent={(intent) => {
					intents.push(intent);
					if (intent.type === 'event') store.dispatch(intent.event);
				}}
				onResize={(nextColumns, nextRows) => compositor.resize(nextColumns, nextRows)}
			/>
		</PaneProvider>,
		{
			stdout: stdout as unknown as NodeJS.WriteStream,
			stdin: keyboard as unknown as NodeJS.ReadStream,
			interactive: true,
			exitOnCtrlC: false,
			patchConsole: false,
			maxFps: 1000,
		},
	);
	open.push(app);
	const settle = async (): Promise<void> => {
		await app.waitUntilRenderFlush();
		// The compositor flushes in a microtask after React's effects.
		await new Promise((resolve) => setImmediate(resolve));
		await term.settled();
	};
	await settle();
	return {
		term,
		store,
		intents,
		settle,
		press: async (...typed: string[]) => {
			for (const one of typed) {
				keyboard.type(one);
				await settle();
			}
		},
		resize: async (nextColumns: number, nextRows: number) => {
			term.terminal.resize(nextColumns, nextRows);
			Object.assign(stdout, { columns: nextColumns, rows: nextRows });
			stdout.emit('resize');
			await settle();
		},
	};
};

const DOWN = '\u001b[B';
const RIGHT = '\u001b[C';
const frame = (rows: string[]): string => `${rows.join('\n')}\n`;

describe('the deck', () => {
	test.each([
		[120, 35],
		[80, 24],
		[200, 60],
		[60, 16],
		[100, 30],
		[40, 10],
		[250, 70],
	])('at %i×%i', async (columns, rows) => {
		const { term } = await show(story(), columns, rows);
		await expect(frame(term.rows())).toMatchFileSnapshot(`../frames/deck-${columns}x${rows}.txt`);
		for (const row of term.rows()) expect(row.length).toBeLessThanOrEqual(columns);
	});
	test('with a host that is down and one that never answered', async () => {
		const lost = failure(
			'unreachable',
			'spark-1a32 (10.0.0.1:22) refuses connections',
			'Is sshd running there? It is tried again',
		);
		const state = story(
			{ type: 'link', host: 'spark-1a32', link: { state: 'down', since: AT, failure: lost, nextTryAt: AT + 8000 } },
			{ type: 'clock', now: AT + 6000 },
		);
		const { term } = await show(state, 120, 35);
		await expect(frame(term.rows())).toMatchFileSnapshot('../frames/deck-down.txt');
	});
	test('after a resize is what a fresh start would draw', async () => {
		const grown = await show(story(), 80, 24);
		for (const [columns, rows] of [
			[120, 35],
			[40, 10],
			[200, 60],
			[6, 3],
			[100, 30],
		] as const) {
			await grown.resize(columns, rows);
			const fresh = await show(story(), columns, rows);
			expect(grown.term.cells()).toEqual(fresh.term.cells());
		}
	});
	test('without colour every state still has its mark or word', async () => {
		const { term } = await show(story(), 120, 35, 'none');
		const screen = term.rows().join('\n');
		for (const mark of ['● spark-1a32', '▸', '⚑', 'AAAA', '░', '?']) expect(screen).toContain(mark);
		for (const row of term.cells()) for (const cell of row) expect([cell.fg, cell.bg]).toEqual(['', '']);
	});
	test('a description full of escape sequences reaches the screen as text', async () => {
		const state = story();
		const host = state.hosts[0]!;
		const services = host.services.map((one) => ({
			...one,
			description: '\u001b]0;owned\u0007\u001b[2Jevil\u009b31m\u202e',
		}));
		const { term } = await show({ ...state, hosts: [{ ...host, services }, state.hosts[1]!] }, 120, 35);
		expect(term.rows().join('\n')).toContain('␛]0;owned');
		expect(term.rows()[0]).toContain('sparkdeck');
	});
});

describe('keys', () => {
	test('select, ask, cancel', async () => {
		const screen = await show(story(), 120, 35);
		await screen.press(DOWN, 'e');
		await expect(frame(screen.term.rows())).toMatchFileSnapshot('../frames/dialog-120x35.txt');
		await screen.press('\r');
		expect(screen.term.rows().join('\n')).not.toContain('[ Cancel ]');
		expect(screen.intents.some((intent) => intent.type === 'execute')).toBe(false);
	});
	test('the dialog takes the keys, and the other button acts', async () => {
		const screen = await show(story(), 80, 24);
		await screen.press(DOWN, 'e', 'q', 'j');
		await expect(frame(screen.term.rows())).toMatchFileSnapshot('../frames/dialog-80x24.txt');
		expect(screen.intents.some((intent) => intent.type === 'quit')).toBe(false);
		await screen.press(RIGHT, '\r');
		expect(screen.intents.at(-1)).toMatchObject({ type: 'execute', plan: { name: 'vllm-reranker.service' } });
	});
	test('what can’t be read in full can’t be confirmed', async () => {
		const screen = await show(story(), 120, 35);
		await screen.press(DOWN, 'e', RIGHT);
		await screen.resize(60, 9);
		await screen.press('\r');
		expect(screen.intents.some((intent) => intent.type === 'execute')).toBe(false);
	});
	test.each([
		['?', 'help'],
		['w', 'sources'],
		['\r', 'details'],
	])('%j opens %s, esc closes it', async (key, name) => {
		const screen = await show(story(), 100, 40);
		await screen.press(key);
		await expect(frame(screen.term.rows())).toMatchFileSnapshot(`../frames/${name}-100x40.txt`);
		await screen.press('\u001b');
		await new Promise((resolve) => setTimeout(resolve, 150));
		await screen.settle();
		expect(screen.term.rows().join('\n')).toContain('services');
	});
	test('q asks to quit', async () => {
		const screen = await show(story(), 120, 35);
		await screen.press('q');
		expect(screen.intents).toEqual([{ type: 'quit' }]);
	});
});
