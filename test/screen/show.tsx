import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { render } from 'ink';
import { afterEach } from 'vitest';
import type { Intent } from '../../src/commands/command.ts';
import { commandIds } from '../../src/commands/index.ts';
import { loadKeymap } from '../../src/commands/keymap.ts';
import { App } from '../../src/screen/App.tsx';
import { Compositor } from '../../src/screen/frame/compositor.ts';
import type { Depth } from '../../src/screen/frame/style.ts';
import { PaneProvider } from '../../src/screen/Pane.tsx';
import { loadTheme, styleOf } from '../../src/screen/theme/theme.ts';
import type { State } from '../../src/store/state.ts';
import { createConsoleStore } from '../../src/store/store.ts';
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
export const show = async (state: State, columns: number, rows: number, depth: Depth = 'truecolor') => {
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

export const frame = (rows: string[]): string => `${rows.join('\n')}\n`;
