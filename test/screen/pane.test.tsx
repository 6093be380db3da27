import { EventEmitter } from 'node:events';
import { render } from 'ink';
import type { ReactNode } from 'react';
import { describe, expect, test } from 'vitest';
import { frameBox } from '../../src/screen/frame/box.ts';
import { Compositor } from '../../src/screen/frame/compositor.ts';
import { line, text, withBase } from '../../src/screen/frame/line.ts';
import { Pane, PaneProvider } from '../../src/screen/Pane.tsx';
import { makeTerminal, sampleStyle } from './terminal.ts';

type Mode = 'compositor' | 'ink';

/** Ink on a terminal model: a stdout that is a TTY as far as Ink can see. */
function mount(mode: Mode, tree: ReactNode, columns: number, rows: number) {
	const terminal = makeTerminal(columns, rows);
	const compositor = new Compositor({ columns, rows, style: sampleStyle, write: terminal.write });
	const stdout = Object.assign(new EventEmitter(), {
		isTTY: true,
		columns,
		rows,
		writable: true,
		write(bytes: string, done?: unknown) {
			terminal.write(bytes);
			if (typeof done === 'function') void terminal.settled().then(() => done());
			return true;
		},
	});
	const provide = (children: ReactNode) =>
		mode === 'compositor' ? (
			<PaneProvider mode="compositor" compositor={compositor}>
				{children}
			</PaneProvider>
		) : (
			<PaneProvider mode="ink" columns={columns} rows={rows} style={sampleStyle}>
				{children}
			</PaneProvider>
		);
	const app = render(provide(tree), {
		stdout: stdout as unknown as NodeJS.WriteStream,
		interactive: true,
		alternateScreen: true,
		patchConsole: false,
		exitOnCtrlC: false,
		maxFps: 1000,
	});
	const settle = async () => {
		await app.waitUntilRenderFlush();
		await terminal.settled();
	};
	return {
		terminal,
		compositor,
		settle,
		rerender: (next: ReactNode) => app.rerender(provide(next)),
		unmount: () => app.unmount(),
	};
}

const selected = withBase(line('▸ ', text('選択', 'bold'), ' 中文字の行', text(' dim', 'dim')), 'selected');
const body = [
	line(text('memory ', 'dim'), text('92.3', 'bold'), ' GiB ', text('▂▅▇▇█', 'under')),
	selected,
	line('日本語の長い行がここで切れる日本語の長い行がここで切れる日本語の長い行がここで切れる日本語の長い行'),
	withBase(line(text(' x', 'inverse'), text('indexed', 'indexed'), text('both', 'bold.dim')), 'selected.basic'),
	line(),
	line(text('control \u001b[2J\t中', 'under')),
];

function Sample({ columns, rows }: { columns: number; rows: number }) {
	const half = Math.floor(columns / 2);
	return (
		<>
			{/* First in the tree and still on top; across both panes, edges in the middle of wide characters. */}
			<Pane
				id="dialog"
				x={half - 9}
				y={2}
				width={19}
				height={5}
				z={10}
				lines={frameBox('終了 dialog', [selected, line('中文字中文字中文字')], 19, 5, {
					focused: true,
					border: 'bold',
					base: 'selected.basic',
				})}
			/>
			<Pane
				id="left"
				x={0}
				y={0}
				width={half}
				height={rows - 1}
				lines={frameBox('left', body, half, rows - 1, { right: 'right 右' })}
			/>
			<Pane id="right" x={half} y={0} width={columns - half} height={rows - 1} lines={body} />
			{/* Beyond the screen at three sides. */}
			<Pane
				id="foot"
				x={-1}
				y={rows - 1}
				width={columns + 3}
				height={3}
				lines={[
					withBase(line('中文', text('e', 'bold'), ' evict ', text('中'.repeat(columns), 'under')), 'selected'),
					line('outside'),
				]}
			/>
		</>
	);
}

async function cellsOf(mode: Mode, columns: number, rows: number) {
	const app = mount(mode, <Sample columns={columns} rows={rows} />, columns, rows);
	await app.settle();
	const result = { cells: app.terminal.cells(), rows: app.terminal.rows(), marker: app.compositor.cellAt(0, 0) };
	app.unmount();
	return result;
}

function Steps({ step }: { step: number }) {
	return (
		<>
			<Pane
				id="below"
				x={0}
				y={0}
				width={10}
				height={3}
				lines={[line('aaaaaaaaaa'), line(`step ${step}`), line('cccccccccc')]}
			/>
			{step < 2 && <Pane id="above" x={1 + step} y={1} width={3} height={2} z={1} lines={[line('DLG')]} />}
			{step === 3 && <Pane id="renamed" x={0} y={2} width={3} height={1} z={1} lines={[line('new')]} />}
		</>
	);
}

describe('both modes', () => {
	test.each([
		[80, 24],
		[120, 35],
		[41, 9],
		[37, 12],
		[22, 8],
	])('give equal cells at %ix%i', async (columns, rows) => {
		const composed = await cellsOf('compositor', columns, rows);
		const inked = await cellsOf('ink', columns, rows);
		// Each really went its own way.
		expect(composed.marker).toBeDefined();
		expect(inked.marker).toBeUndefined();
		expect(inked.rows).toEqual(composed.rows);
		for (const [y, row] of composed.cells.entries()) {
			for (const [x, cell] of row.entries()) expect([x, y, inked.cells[y]?.[x]]).toEqual([x, y, cell]);
		}
		// And what is compared is not an empty screen.
		expect(composed.rows.join('')).toMatch(/dialog.*終了|終了.*dialog/s);
		expect(composed.cells.flat().some((cell) => cell.attributes === 'bold' && cell.bg !== '')).toBe(true);
		expect(composed.cells.flat().filter((cell) => cell.width === 2).length).toBeGreaterThan(15);
	});

	test.each(['compositor', 'ink'] as const)('%s: panes move, change and go', async (mode) => {
		const app = mount(mode, <Steps step={0} />, 10, 3);
		const seen: string[][] = [];
		for (const step of [0, 1, 2, 3]) {
			app.rerender(<Steps step={step} />);
			await app.settle();
			seen.push(app.terminal.rows());
		}
		app.unmount();
		expect(seen).toEqual([
			['aaaaaaaaaa', 'sDLG 0', 'c   cccccc'],
			['aaaaaaaaaa', 'stDLG1', 'cc   ccccc'],
			['aaaaaaaaaa', 'step 2', 'cccccccccc'],
			['aaaaaaaaaa', 'step 3', 'newccccccc'],
		]);
	});
});

test('a pane whose id changes leaves nothing behind', async () => {
	const pane = (id: string, x: number) => <Pane id={id} x={x} y={0} width={3} height={1} lines={[line(id)]} />;
	const app = mount('compositor', pane('one', 0), 10, 1);
	await app.settle();
	app.rerender(pane('two', 5));
	await app.settle();
	expect(app.terminal.rows()).toEqual(['     two']);
	app.unmount();
});
