import pty from '@lydell/node-pty';
import unicode from '@xterm/addon-unicode11';
import xterm from '@xterm/headless';

/** One cell of the screen as a terminal shows it. Colours: palette number, '#rrggbb', or null for the default. */
export type Cell = {
	readonly text: string;
	readonly fg: string | number | null;
	readonly bg: string | number | null;
	readonly bold: boolean;
	readonly dim: boolean;
	readonly inverse: boolean;
};

export type Tui = {
	readonly pid: number;
	readonly lines: () => string[];
	readonly screen: () => string;
	readonly cell: (x: number, y: number) => Cell;
	/** Which buffer is shown: the program's own screen or the shell's. */
	readonly buffer: () => 'normal' | 'alternate';
	/** All bytes the program wrote. */
	readonly raw: () => string;
	readonly press: (...keys: string[]) => void;
	readonly resize: (columns: number, rows: number) => void;
	/** Waits for a state of the screen, never for a time; fails with the screen it last saw. */
	readonly until: (what: string | RegExp | ((screen: string) => boolean), timeoutMs?: number) => Promise<string>;
	readonly exited: Promise<{ code: number; signal: number | undefined }>;
	readonly kill: (signal?: string) => void;
};

export const KEYS = {
	up: '\u001b[A',
	down: '\u001b[B',
	right: '\u001b[C',
	left: '\u001b[D',
	enter: '\r',
	esc: '\u001b',
	tab: '\t',
	ctrlC: '\u0003',
	ctrlL: '\u000c',
};

const { Terminal } = xterm;
const { Unicode11Addon } = unicode;

export type Launch = {
	readonly columns?: number;
	readonly rows?: number;
	readonly env?: Record<string, string | undefined>;
};

/** Runs a program in a real pseudo terminal and keeps its screen in a terminal emulator. */
export const launch = (
	file: string,
	args: readonly string[],
	{ columns = 120, rows = 35, env = {} }: Launch = {},
): Tui => {
	const term = new Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 });
	term.loadAddon(new Unicode11Addon());
	term.unicode.activeVersion = '11';
	const clean: Record<string, string> = {};
	// CI makes Ink write nothing, NO_COLOR and FORCE_COLOR are ours and not the program's.
	const inherited = {
		...process.env,
		CI: undefined,
		NO_COLOR: undefined,
		FORCE_COLOR: undefined,
		COLORTERM: 'truecolor',
		...env,
	};
	for (const [key, value] of Object.entries(inherited)) if (value !== undefined) clean[key] = value;
	const child = pty.spawn(file, [...args], {
		name: clean['TERM_NAME'] ?? 'xterm-256color',
		cols: columns,
		rows,
		env: clean,
	});
	let raw = '';
	let pending: Promise<void> = Promise.resolve();
	child.onData((data) => {
		raw += data;
		pending = new Promise((resolve) => term.write(data, resolve));
	});
	term.onData((data) => child.write(data));
	const exited = new Promise<{ code: number; signal: number | undefined }>((resolve) => {
		child.onExit(({ exitCode, signal }) => resolve({ code: exitCode, signal }));
	});
	const row = (y: number) => term.buffer.active.getLine(term.buffer.active.baseY + y);
	const lines = (): string[] =>
		Array.from({ length: term.rows }, (_, y) => row(y)?.translateToString(true, 0, term.cols) ?? '');
	const colour = (isDefault: boolean, isRgb: boolean, value: number): string | number | null =>
		isDefault ? null : isRgb ? `#${value.toString(16).padStart(6, '0')}` : value;
	return {
		pid: child.pid,
		lines,
		screen: () => lines().join('\n'),
		raw: () => raw,
		buffer: () => term.buffer.active.type,
		cell: (x, y) => {
			const found = row(y)?.getCell(x);
			if (!found) throw new Error(`there is no cell ${x},${y}`);
			return {
				text: found.getChars(),
				fg: colour(found.isFgDefault(), found.isFgRGB(), found.getFgColor()),
				bg: colour(found.isBgDefault(), found.isBgRGB(), found.getBgColor()),
				bold: found.isBold() !== 0,
				dim: found.isDim() !== 0,
				inverse: found.isInverse() !== 0,
			};
		},
		press: (...keys) => {
			for (const key of keys) child.write(key);
		},
		resize: (nextColumns, nextRows) => {
			term.resize(nextColumns, nextRows);
			child.resize(nextColumns, nextRows);
		},
		until: async (what, timeoutMs = 20_000) => {
			const end = Date.now() + timeoutMs;
			for (;;) {
				await pending;
				const screen = lines().join('\n');
				const found =
					typeof what === 'function'
						? what(screen)
						: typeof what === 'string'
							? screen.includes(what)
							: what.test(screen);
				if (found) return screen;
				if (Date.now() > end) throw new Error(`never came: ${what}\n${screen}`);
				await new Promise((resolve) => setTimeout(resolve, 15));
			}
		},
		exited,
		kill: (signal = 'SIGKILL') => {
			try {
				process.kill(child.pid, signal);
			} catch {
				// It has ended already.
			}
		},
	};
};

/** Where a text stands on the screen. Columns, not string indices: wide characters take two. */
export const find = (tui: Tui, text: string): { x: number; y: number } => {
	const lines = tui.lines();
	const y = lines.findIndex((line) => line.includes(text));
	if (y < 0) throw new Error(`${text} is not on the screen\n${lines.join('\n')}`);
	return { x: lines[y]!.indexOf(text), y };
};
