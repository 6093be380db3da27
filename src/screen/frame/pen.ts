// Turns a row that differs into the fewest bytes: cursor moves, changes of look, runs of text.
import { type Cells, CONTINUED, isCertain, SPACE, textOf, widthAt } from './cells.ts';
import { PLAIN, transition } from './sgr.ts';

/** A blank rest of a row shorter than this is written as spaces. */
const SHORTEST_ERASE = 4;

export class Pen {
	readonly #looks: string[] = [PLAIN];
	readonly #ids = new Map<string, number>([[PLAIN, 0]]);
	readonly #transitions = new Map<number, string>();

	#out = '';
	#look = 0;
	/** Where the terminal's cursor is; column -1: not known. */
	#x = -1;
	#y = -1;

	/** A look as a number, so that cells can hold it; 0 is the terminal's own. */
	idOf(look: string): number {
		const known = this.#ids.get(look);
		if (known !== undefined) return known;
		const id = this.#looks.push(look) - 1;
		this.#ids.set(look, id);
		return id;
	}

	lookOf(id: number): string {
		return this.#looks[id] ?? PLAIN;
	}

	/** The bytes of all rows since the last call. The next frame starts anew: others may write in between. */
	finish(): string {
		this.#wear(0);
		const bytes = this.#out;
		this.#out = '';
		this.#x = -1;
		this.#y = -1;
		return bytes;
	}

	/** Writes what differs in row y and notes in `shown` that it is there now. */
	row(y: number, wanted: Cells, shown: Cells): void {
		const { columns, glyphs, styles } = wanted;
		const start = y * columns;
		const { glyphs: oldGlyphs, styles: oldStyles } = shown;
		let blankFrom = columns;
		while (blankFrom > 0 && glyphs[start + blankFrom - 1] === SPACE && styles[start + blankFrom - 1] === 0)
			blankFrom -= 1;
		// A column that the character before may have covered, because terminals disagree about its width.
		let suspect = -1;
		for (let x = 0; x < columns; ) {
			const at = start + x;
			if (glyphs[at] === oldGlyphs[at] && styles[at] === oldStyles[at] && x !== suspect) {
				x += 1;
				continue;
			}
			if (x >= blankFrom && columns - x >= SHORTEST_ERASE) {
				this.#move(x, y);
				this.#wear(0);
				this.#out += '\u001b[K';
				break;
			}
			// A wide character is written whole.
			while (x > 0 && glyphs[start + x] === CONTINUED) x -= 1;
			const width = widthAt(wanted, y, x);
			if (this.#y !== y || this.#x !== x) this.#bridge(wanted, x, y);
			if (this.#put(wanted, y, x, width)) suspect = -1;
			else suspect = x + width;
			x += width;
		}
		shown.glyphs.set(glyphs.subarray(start, start + columns), start);
		shown.styles.set(styles.subarray(start, start + columns), start);
	}

	/** Writes one character; false if the terminal's cursor may stand elsewhere than expected. */
	#put(wanted: Cells, y: number, x: number, width: number): boolean {
		const at = y * wanted.columns + x;
		const glyph = wanted.glyphs[at]!;
		this.#wear(wanted.styles[at]!);
		const certain = isCertain(glyph);
		// Its columns are blanked first: a terminal that draws it narrower would leave old cells beside it.
		if (!certain) this.#out += `${' '.repeat(width)}\u001b[${x + 1}G`;
		this.#out += textOf(glyph);
		this.#y = y;
		// In the last column the cursor stays or waits to wrap, depending on the terminal.
		this.#x = certain && x + width < wanted.columns ? x + width : -1;
		return certain;
	}

	/** To column x: over a short unchanged gap by writing it again, if that takes fewer bytes than a cursor move. */
	#bridge({ glyphs, styles, columns }: Cells, x: number, y: number): void {
		const from = this.#x;
		const start = y * columns;
		let cost = 0;
		if (this.#y === y && from >= 0 && from < x && x - from <= 6) {
			for (let i = from; i < x; i++) {
				const glyph = glyphs[start + i]!;
				const free = styles[start + i] === this.#look && glyph !== CONTINUED && glyph < 0x3000 && isCertain(glyph);
				cost += !free ? 99 : glyph < 0x80 ? 1 : glyph < 0x800 ? 2 : 3;
			}
			if (cost <= 3 + String(x + 1).length) {
				for (let i = from; i < x; i++) this.#out += textOf(glyphs[start + i]!);
				this.#x = x;
				return;
			}
		}
		this.#move(x, y);
	}

	#move(x: number, y: number): void {
		if (this.#y === y && this.#x === x) return;
		const sameRow = this.#y === y && this.#out !== '';
		this.#out += sameRow ? `\u001b[${x + 1}G` : `\u001b[${y + 1};${x + 1}H`;
		this.#x = x;
		this.#y = y;
	}

	#wear(look: number): void {
		if (look === this.#look) return;
		const key = this.#look * 0x1_0000 + look;
		let bytes = this.#transitions.get(key);
		if (bytes === undefined) {
			bytes = transition(this.#looks[this.#look]!, this.#looks[look]!);
			this.#transitions.set(key, bytes);
		}
		this.#out += bytes;
		this.#look = look;
	}
}
