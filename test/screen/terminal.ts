// A real terminal model to draw on, and its cells as plain data to compare.
import unicode11 from '@xterm/addon-unicode11';
import xterm from '@xterm/headless';

export type TerminalCell = { chars: string; width: number; fg: string; bg: string; attributes: string };

export function makeTerminal(columns: number, rows: number) {
	const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0, convertEol: true });
	terminal.loadAddon(new unicode11.Unicode11Addon());
	// Version 6, the default, takes emoji for narrow.
	terminal.unicode.activeVersion = '11';
	let written = Promise.resolve();
	const write = (bytes: string) => {
		written = written.then(() => new Promise<void>((done) => terminal.write(bytes, done)));
	};
	const cell = (x: number, y: number): TerminalCell => {
		const at = terminal.buffer.active.getLine(y)?.getCell(x);
		if (!at) throw new Error(`no cell at ${x},${y}`);
		const chars = at.getChars();
		return {
			// An erased cell holds nothing and looks like a space.
			chars: chars === '' && at.getWidth() === 1 ? ' ' : chars,
			width: at.getWidth(),
			fg: at.isFgDefault() ? '' : `${at.isFgRGB() ? '#' : ''}${at.getFgColor().toString(16)}`,
			bg: at.isBgDefault() ? '' : `${at.isBgRGB() ? '#' : ''}${at.getBgColor().toString(16)}`,
			attributes: [
				at.isBold() ? 'bold' : '',
				at.isDim() ? 'dim' : '',
				at.isItalic() ? 'italic' : '',
				at.isUnderline() ? 'underline' : '',
				at.isInverse() ? 'inverse' : '',
			]
				.filter(Boolean)
				.join(' '),
		};
	};
	return {
		terminal,
		write,
		cell,
		settled: () => written,
		row: (y: number) => terminal.buffer.active.getLine(y)?.translateToString(true).trimEnd() ?? '',
		rows: () =>
			Array.from(
				{ length: terminal.rows },
				(_, y) => terminal.buffer.active.getLine(y)?.translateToString(true).trimEnd() ?? '',
			),
		cells: () =>
			Array.from({ length: terminal.rows }, (_, y) => Array.from({ length: terminal.cols }, (_x, x) => cell(x, y))),
	};
}

/** Looks with every kind of attribute, made from the token's name, so that no theme is needed. */
export function sampleStyle(token: string, base?: string): string {
	const looks: Readonly<Record<string, string>> = {
		text: '',
		bold: '1;38;2;200;10;20',
		dim: '2',
		'bold.dim': '1;2',
		under: '3;4;32',
		inverse: '7',
		selected: '48;2;40;50;60',
		'selected.basic': '97;44',
		indexed: '38;5;100;48;5;20',
	};
	const under = base === undefined ? '' : (looks[base] ?? '');
	const own = looks[token] ?? '';
	return [under, own].filter((part) => part !== '').join(';');
}
