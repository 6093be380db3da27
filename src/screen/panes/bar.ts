import type { Segment } from '../../store/select/host.ts';
import { type Span, text } from '../frame/line.ts';

/** A segment this small (share of the pool) may vanish; anything larger gets at least one cell. */
const VANISHES = 0.0005;

/**
 * Cells of a bar for each segment, summing to `width`: by largest remainder, so that the picture is right to half a
 * cell, and one cell at least for what is really there.
 */
export const apportion = (segments: readonly Segment[], width: number): number[] => {
	const total = segments.reduce((sum, segment) => sum + segment.bytes, 0);
	if (total <= 0 || width <= 0) return segments.map(() => 0);
	const exact = segments.map((segment) => (segment.bytes / total) * width);
	const cells = exact.map((share, index) =>
		Math.max(Math.floor(share), segments[index]!.bytes / total > VANISHES ? 1 : 0),
	);
	let left = width - cells.reduce((sum, count) => sum + count, 0);
	const byRemainder = exact
		.map((share, index) => ({ index, rest: share - cells[index]! }))
		.sort((a, b) => b.rest - a.rest);
	for (let at = 0; left > 0; at += 1, left -= 1) cells[byRemainder[at % byRemainder.length]!.index]! += 1;
	// The cells that small ones were given are taken from the largest.
	while (left < 0) {
		const largest = cells.indexOf(Math.max(...cells));
		cells[largest]! -= 1;
		left += 1;
	}
	return cells;
};

/** The pool as one bar: each owner in its letter, colour and place. */
export const poolBar = (segments: readonly Segment[], width: number, selected: string | null): Span[] => {
	const cells = apportion(segments, width);
	return segments
		.map((segment, index) => ({ segment, count: cells[index] ?? 0 }))
		.filter(({ count }) => count > 0)
		.map(({ segment, count }) => ({
			...text(segment.letter.repeat(count), segment.token),
			...(segment.owner === selected && { base: 'row.selected' }),
		}));
};

const LEVELS = '▁▂▃▄▅▆▇█';

/** Percentages as a row of blocks, newest right; a gap where there was no figure. */
export const sparkline = (history: readonly (number | null)[], width: number): string =>
	history
		.slice(-width)
		.map((value) => (value === null ? ' ' : LEVELS[Math.min(7, Math.max(0, Math.floor(value / 12.5)))]))
		.join('')
		.padStart(width);
