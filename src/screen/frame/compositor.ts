// Panes of lines in, bytes for the terminal out: only what changed, and nothing if nothing did.
import { Cells, CONTINUED, SPACE, textOf, UNKNOWN, widthAt } from './cells.ts';
import { drawnAs, EMPTY, type Line, sameLine, type Token } from './line.ts';
import { Pen } from './pen.ts';
import { forBlanks } from './sgr.ts';
import { measure } from './width.ts';

export type StyleOf = (token: Token, base?: Token | undefined) => string;

export type Rectangle = {
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly height: number;
	readonly z?: number;
};

export type CompositorOptions = {
	readonly columns: number;
	readonly rows: number;
	/** SGR parameters of a token over a base; empty for the terminal's own look. */
	readonly style: StyleOf;
	readonly write: (bytes: string) => void;
};

type Pane = { x: number; y: number; width: number; height: number; z: number; lines: readonly Line[] };

/** Synchronised output: the terminal shows the whole frame at once. */
const BEGIN = '\u001b[?2026h';
const END = '\u001b[?2026l';
const RESET = '\u001b[m';

export class Compositor {
	readonly #panes = new Map<string, Pane>();
	#order: Pane[] | undefined;
	#wanted: Cells;
	#shown: Cells;
	#dirty: Uint8Array;
	#known = false;
	#paused = false;
	#scheduled = false;

	#styleOf: StyleOf;
	readonly #write: (bytes: string) => void;
	readonly #pen = new Pen();
	readonly #lookIds = new Map<Token | undefined, Map<Token, number>>();
	readonly #blankIds = new Map<number, number>();

	constructor({ columns, rows, style, write }: CompositorOptions) {
		this.#styleOf = style;
		this.#write = write;
		[this.#wanted, this.#shown, this.#dirty] = grids(columns, rows);
	}

	get columns(): number {
		return this.#wanted.columns;
	}

	get rows(): number {
		return this.#wanted.rows;
	}

	/** To be written once before the first frame. Without autowrap the last column can be written like any other. */
	enter(): string {
		return '\u001b[?7l';
	}

	leave(): string {
		return '\u001b[m\u001b[?7h';
	}

	set(id: string, { x, y, width, height, z = 0 }: Rectangle, lines: readonly Line[]): void {
		const before = this.#panes.get(id);
		// `| 0`: a fraction or NaN from a layout must not reach an index.
		const pane: Pane = { x: x | 0, y: y | 0, width: Math.max(0, width | 0), height: Math.max(0, height | 0), z, lines };
		this.#panes.set(id, pane);
		this.#order = undefined;
		const { x: x0, y: y0, width: w0, height: h0, z: z0 } = before ?? { ...pane, height: -1 };
		if (pane.x !== x0 || pane.y !== y0 || pane.width !== w0 || pane.height !== h0 || z !== z0) {
			if (before) this.#touch(before.y, before.y + before.height);
			this.#touch(pane.y, pane.y + pane.height);
			return;
		}
		for (let row = 0; row < pane.height; row++) {
			if (!sameLine(lines[row] ?? EMPTY, before?.lines[row] ?? EMPTY)) this.#touch(pane.y + row, pane.y + row + 1);
		}
	}

	remove(id: string): void {
		const pane = this.#panes.get(id);
		if (!pane) return;
		this.#panes.delete(id);
		this.#order = undefined;
		this.#touch(pane.y, pane.y + pane.height);
	}

	resize(columns: number, rows: number): void {
		if (columns === this.columns && rows === this.rows) return;
		[this.#wanted, this.#shown, this.#dirty] = grids(columns, rows);
		this.invalidate();
	}

	/** Another theme or colour depth; only cells whose look differs are written. */
	restyle(style: StyleOf): void {
		this.#styleOf = style;
		this.#lookIds.clear();
		this.#dirty.fill(1);
	}

	/** The terminal may show anything; the next flush writes every cell, without erasing first, which would flicker. */
	invalidate(): void {
		this.#known = false;
		this.#shown.glyphs.fill(UNKNOWN);
		this.#dirty.fill(1);
	}

	/** While another program has the terminal nothing is written. */
	pause(): void {
		this.#paused = true;
	}

	resume(): void {
		this.#paused = false;
		this.invalidate();
		this.schedule();
	}

	/** Flushes once after all changes of this turn. */
	schedule(): void {
		if (this.#scheduled) return;
		this.#scheduled = true;
		queueMicrotask(() => {
			this.#scheduled = false;
			this.flush();
		});
	}

	flush(): void {
		if (this.#paused) return;
		for (let y = 0; y < this.rows; y++) {
			if (this.#dirty[y] === 0) continue;
			this.#dirty[y] = 0;
			this.#paint(y);
			this.#pen.row(y, this.#wanted, this.#shown);
		}
		const bytes = this.#pen.finish();
		if (bytes === '') return;
		this.#write(`${BEGIN}${this.#known ? '' : RESET}${bytes}${END}`);
		this.#known = true;
	}

	/** What the terminal shows there; undefined where it is not known. A continuation has width 0. */
	cellAt(x: number, y: number): { text: string; width: number; style: string } | undefined {
		if (x < 0 || y < 0 || x >= this.columns || y >= this.rows) return undefined;
		const at = y * this.columns + x;
		const glyph = this.#shown.glyphs[at]!;
		if (glyph === UNKNOWN) return undefined;
		const style = this.#pen.lookOf(this.#shown.styles[at]!);
		if (glyph === CONTINUED) return { text: '', width: 0, style };
		return { text: textOf(glyph), width: widthAt(this.#shown, y, x), style };
	}

	#touch(from: number, to: number): void {
		this.#dirty.fill(1, Math.max(0, from), Math.max(0, to));
	}

	#paint(y: number): void {
		const cells = this.#wanted;
		cells.fill(y, 0, cells.columns, 0);
		// The sort is stable: of two panes with the same z the one that came first is below.
		this.#order ??= [...this.#panes.values()].sort((a, b) => a.z - b.z);
		for (const pane of this.#order) {
			const left = Math.max(0, pane.x);
			const right = Math.min(cells.columns, pane.x + pane.width);
			if (y < pane.y || y >= pane.y + pane.height || left >= right) continue;
			cells.split(y, left);
			cells.split(y, right);
			const { spans, base } = pane.lines[y - pane.y] ?? EMPTY;
			let x = pane.x;
			for (const span of spans) {
				if (x >= right) break;
				x = cells.write(y, x, left, right, measure(span.text), this.#lookOf(span.token, span.base ?? base));
			}
			if (x < right) cells.fill(y, Math.max(x, left), right, this.#blankOf(this.#lookOf(undefined, base)));
		}
	}

	#lookOf(token: Token | undefined, base: Token | undefined): number {
		const { name, under } = drawnAs(token, base);
		let ids = this.#lookIds.get(under);
		if (!ids) {
			ids = new Map();
			this.#lookIds.set(under, ids);
		}
		let id = ids.get(name);
		if (id === undefined) {
			id = this.#pen.idOf(this.#styleOf(name, under));
			ids.set(name, id);
		}
		return id;
	}

	#blankOf(look: number): number {
		let id = this.#blankIds.get(look);
		if (id === undefined) {
			id = this.#pen.idOf(forBlanks(this.#pen.lookOf(look)));
			this.#blankIds.set(look, id);
		}
		return id;
	}
}

function grids(columns: number, rows: number): [Cells, Cells, Uint8Array] {
	const width = Math.max(1, columns | 0);
	const height = Math.max(1, rows | 0);
	return [new Cells(width, height, SPACE), new Cells(width, height, UNKNOWN), new Uint8Array(height).fill(1)];
}
