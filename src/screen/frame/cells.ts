// A grid of cells as two flat arrays: no object per cell, and comparing two frames is comparing numbers.
import { isIdeographOrKana, type Measured, NARROW } from './width.ts';

/** The cell belongs to the wide character at its left. */
export const CONTINUED = 0;
export const SPACE = 0x20;
/** Differs from everything that can be drawn: nobody knows what the terminal shows there. */
export const UNKNOWN = 0xffff_ffff;

const FIRST_CLUSTER = 0x11_0000;
/** More different combined characters than any screen shows; the rest of a hostile log loses its marks. */
const MOST_CLUSTERS = 8192;

const clusterIds = new Map<string, number>();
const clusters: string[] = [];
const texts: (string | undefined)[] = [];

/** A character as a number: its code point, or from FIRST_CLUSTER on an index if it has several code points. */
export function glyphOf(cluster: string): number {
	const code = cluster.codePointAt(0) ?? SPACE;
	if (cluster.length === (code > 0xffff ? 2 : 1)) return code;
	const known = clusterIds.get(cluster);
	if (known !== undefined) return known;
	if (clusters.length >= MOST_CLUSTERS) return code;
	const id = FIRST_CLUSTER + clusters.length;
	clusters.push(cluster);
	clusterIds.set(cluster, id);
	return id;
}

export function textOf(glyph: number): string {
	if (glyph >= FIRST_CLUSTER) return clusters[glyph - FIRST_CLUSTER] ?? ' ';
	if (glyph > 0x2bff) return String.fromCodePoint(glyph);
	texts[glyph] ??= String.fromCharCode(glyph);
	return texts[glyph]!;
}

/** Answers for the basic plane, asked for every character written: 0 not asked yet, 1 yes, 2 no. */
const certainty = new Uint8Array(0x1_0000);

/** Whether all terminals agree how far this character moves the cursor. */
export function isCertain(glyph: number): boolean {
	if (glyph > 0xffff) return false;
	if (certainty[glyph] === 0) certainty[glyph] = isIdeographOrKana(glyph) || NARROW.test(textOf(glyph)) ? 1 : 2;
	return certainty[glyph] === 1;
}

export class Cells {
	readonly columns: number;
	readonly rows: number;
	readonly glyphs: Uint32Array;
	readonly styles: Uint16Array;

	constructor(columns: number, rows: number, glyph: number) {
		this.columns = columns;
		this.rows = rows;
		this.glyphs = new Uint32Array(columns * rows).fill(glyph);
		this.styles = new Uint16Array(columns * rows);
	}

	fill(y: number, from: number, to: number, style: number): void {
		const start = y * this.columns;
		this.glyphs.fill(SPACE, start + from, start + to);
		this.styles.fill(style, start + from, start + to);
	}

	/** Before something is drawn from or up to column x: a wide character across that edge becomes spaces. */
	split(y: number, x: number): void {
		if (x <= 0 || x >= this.columns) return;
		const start = y * this.columns;
		if (this.glyphs[start + x] !== CONTINUED) return;
		let at = x;
		while (at > 0 && this.glyphs[start + at] === CONTINUED) at -= 1;
		do {
			this.glyphs[start + at] = SPACE;
			at += 1;
		} while (at < this.columns && this.glyphs[start + at] === CONTINUED);
	}

	/** Draws text from column x on, only what lies in [left, right); gives the column after it. */
	write(y: number, x: number, left: number, right: number, text: Measured, style: number): number {
		const start = y * this.columns;
		const { glyphs, styles } = this;
		if (!text.clusters) {
			const to = Math.min(text.width, right - x);
			for (let i = Math.max(0, left - x); i < to; i++) {
				glyphs[start + x + i] = text.text.charCodeAt(i);
				styles[start + x + i] = style;
			}
			return x + text.width;
		}
		let at = x;
		for (const cluster of text.clusters) {
			const end = at + cluster.width;
			if (at >= right) break;
			if (at < left || end > right) {
				// Half of a wide character cannot be drawn; spaces keep its columns.
				if (end > left) this.fill(y, Math.max(at, left), Math.min(end, right), style);
			} else {
				glyphs[start + at] = glyphOf(cluster.text);
				styles[start + at] = style;
				for (let i = at + 1; i < end; i++) {
					glyphs[start + i] = CONTINUED;
					styles[start + i] = style;
				}
			}
			at = end;
		}
		return at;
	}
}

/** Columns of the character that starts at column x. */
export function widthAt({ glyphs, columns }: Cells, y: number, x: number): number {
	const end = (y + 1) * columns;
	let at = y * columns + x + 1;
	while (at < end && glyphs[at] === CONTINUED) at += 1;
	return at - (y * columns + x);
}
