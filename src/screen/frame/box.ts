// biome-ignore-all lint/suspicious/noFocusedTests: `fit` is not a test here
// A frame around lines.
import { EMPTY, fit, type Line, line, type Span, type Token, text, widthOf } from './line.ts';
import { columnsOf } from './width.ts';

export type FrameOptions = {
	readonly border?: Token;
	readonly title?: Token;
	/** Look of the whole box. */
	readonly base?: Token;
	/** Focus shows in the shape (heavy lines), so that it can be seen without colour. */
	readonly focused?: boolean;
	/** A second title at the right; it gives way first if there is no room. */
	readonly right?: Line | string;
};

const ROUNDED = ['╭', '─', '╮', '│', '╰', '╯'] as const;
const HEAVY = ['┏', '━', '┓', '┃', '┗', '┛'] as const;

/** Columns for content inside a frame: the border and one space at each side are taken off. */
export const insideOf = (width: number): number => Math.max(0, width - 4);

/** `lines` in a border with a title, in exactly `width` × `height` cells. */
export function frameBox(
	title: Line | string,
	lines: readonly Line[],
	width: number,
	height: number,
	options: FrameOptions = {},
): Line[] {
	const { focused = false, base, border = focused ? 'border.focus' : 'border', title: titleToken = 'title' } = options;
	const dress = (...spans: readonly Span[]): Line => (base === undefined ? { spans } : { spans, base });
	if (height <= 0) return [];
	// Too small for a frame: rather nothing than a broken one.
	if (width < 4 || height < 2)
		return Array.from({ length: height }, () => dress({ text: ' '.repeat(Math.max(0, width)) }));
	const [topLeft, flat, topRight, side, bottomLeft, bottomRight] = focused ? HEAVY : ROUNDED;
	const edge = (content: string): Span => text(content, border);
	const inside = insideOf(width);
	const box = [
		dress(edge(topLeft), ...topEdge(toLine(title), options.right, titleToken, edge, flat, width - 2), edge(topRight)),
	];
	for (let row = 0; row < height - 2; row++) {
		const content = lines[row] ?? EMPTY;
		const under = content.base ?? base;
		const over = (span: Span): Span =>
			under === undefined || span.base !== undefined ? span : { ...span, base: under };
		const margin = over({ text: ' ' });
		box.push(dress(edge(side), margin, ...fit(content, inside).spans.map(over), margin, edge(side)));
	}
	box.push(dress(edge(bottomLeft + flat.repeat(width - 2) + bottomRight)));
	return box;
}

const toLine = (of: Line | string): Line => (typeof of === 'string' ? line(of) : of);

function topEdge(
	left: Line,
	right: Line | string | undefined,
	token: Token,
	edge: (content: string) => Span,
	flat: string,
	room: number,
) {
	const named = (of: Line, limit: number) =>
		fit(of, Math.min(widthOf(of), limit)).spans.map((span) => ({ token, ...span }));
	const leftWidth = widthOf(left);
	// Each title has a space at both sides and at least one piece of border after it.
	const second = right === undefined ? EMPTY : toLine(right);
	const secondWidth = widthOf(second);
	const fits = secondWidth > 0 && leftWidth + secondWidth + 6 <= room;
	if (leftWidth === 0 || room < 5) {
		if (!fits) return [edge(flat.repeat(room))];
		return [edge(`${flat.repeat(room - secondWidth - 2)} `), ...named(second, secondWidth), edge(' ')];
	}
	const spans = named(left, room - 3);
	const used = spans.reduce((sum, span) => sum + columnsOf(span.text), 0) + 2;
	if (!fits) return [edge(' '), ...spans, edge(` ${flat.repeat(room - used)}`)];
	return [
		edge(' '),
		...spans,
		edge(` ${flat.repeat(room - used - secondWidth - 2)} `),
		...named(second, secondWidth),
		edge(' '),
	];
}
