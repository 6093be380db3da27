// biome-ignore-all lint/suspicious/noFocusedTests: `fit` is not a test here
// Lines of styled text: what panes are made of. Pure; columns are terminal columns, never code units.
import { columnsOf, graphemes, measure } from './width.ts';

/** Dotted name of a meaning (`text.dim`, `pool.free`); the theme says how it looks. */
export type Token = string;

export type Span = {
	readonly text: string;
	readonly token?: Token;
	/** Stands in for the line's base under this span: inside a frame, a selected row ends at the border. */
	readonly base?: Token;
};

/** `base` is the look of the whole row: spans are drawn over it, and it fills the row up to the pane's width. */
export type Line = { readonly spans: readonly Span[]; readonly base?: Token };

/** Whether two lines look the same. Components make new lines all the time, mostly with the old content. */
export function sameLine(a: Line, b: Line): boolean {
	if (a === b) return true;
	if (a.base !== b.base || a.spans.length !== b.spans.length) return false;
	for (let i = 0; i < a.spans.length; i++) {
		const x = a.spans[i]!;
		const y = b.spans[i]!;
		if (x !== y && (x.text !== y.text || x.token !== y.token || x.base !== y.base)) return false;
	}
	return true;
}

/** Which token a span is drawn with and over which: a span without one looks like its row, or like plain text. */
export function drawnAs(token: Token | undefined, base: Token | undefined): { name: Token; under: Token | undefined } {
	return token === undefined ? { name: base ?? 'text', under: undefined } : { name: token, under: base };
}

export type Align = 'left' | 'right' | 'center';

export const EMPTY: Line = { spans: [] };
const ELLIPSIS = '…';

export const text = (content: string, token?: Token): Span =>
	token === undefined ? { text: content } : { text: content, token };

export const line = (...parts: readonly (Span | string)[]): Line => ({
	spans: parts.map((part) => (typeof part === 'string' ? { text: part } : part)),
});

export const withBase = (of: Line, base: Token): Line => ({ spans: of.spans, base });

/** The characters as they will be drawn, without styles. */
export const plain = (of: Line): string => of.spans.map((span) => measure(span.text).text).join('');

export const widthOf = (of: Line): number => of.spans.reduce((sum, span) => sum + columnsOf(span.text), 0);

/** The line in exactly `width` columns: padded, or cut with an ellipsis. */
export function fit(of: Line, width: number, align: Align = 'left'): Line {
	const room = Math.max(0, width);
	const extra = room - widthOf(of);
	if (extra === 0) return of;
	if (extra < 0) return { ...of, spans: cut(of.spans, room) };
	const before = align === 'left' ? 0 : align === 'right' ? extra : Math.floor(extra / 2);
	const spans = [...of.spans];
	if (before > 0) spans.unshift({ text: ' '.repeat(before) });
	if (extra > before) spans.push({ text: ' '.repeat(extra - before) });
	return { ...of, spans };
}

function cut(spans: readonly Span[], width: number): Span[] {
	if (width === 0) return [];
	const kept: Span[] = [];
	let room = width - 1;
	for (const span of spans) {
		const columns = columnsOf(span.text);
		if (columns <= room) {
			kept.push(span);
			room -= columns;
			continue;
		}
		const start = take(span.text, room);
		// A wide character that has only half its room leaves one column open.
		kept.push({ ...span, text: start + ELLIPSIS + ' '.repeat(room - columnsOf(start)) });
		break;
	}
	return kept;
}

/** As much of the start as fits into `width` columns. */
export function take(content: string, width: number): string {
	const measured = measure(content);
	if (!measured.clusters) return measured.text.slice(0, width);
	let taken = '';
	let room = width;
	for (const cluster of measured.clusters) {
		if (cluster.width > room) break;
		taken += cluster.text;
		room -= cluster.width;
	}
	return taken;
}

/** Shortened in the middle: of a name, both the start and the end tell it from others. At most `width` columns. */
export function middle(content: string, width: number): string {
	const measured = measure(content);
	if (measured.width <= width) return measured.text;
	if (width <= 1) return ELLIPSIS.slice(0, Math.max(0, width));
	const start = take(content, Math.ceil((width - 1) / 2));
	let room = width - 1 - columnsOf(start);
	let end = '';
	for (const cluster of graphemes(content).toReversed()) {
		if (cluster.width > room) break;
		end = cluster.text + end;
		room -= cluster.width;
	}
	return start + ELLIPSIS + end;
}

export const padStart = (content: string, width: number): string =>
	' '.repeat(Math.max(0, width - columnsOf(content))) + content;

export const padEnd = (content: string, width: number): string =>
	content + ' '.repeat(Math.max(0, width - columnsOf(content)));

/** Breaks between words, keeping tokens; `\n` is a break too; a word wider than the line is broken inside. */
export function wrap(spans: readonly Span[], width: number): Line[] {
	const room = Math.max(1, width);
	const lines: Line[] = [];
	let current: Span[] = [];
	let used = 0;
	let gap: Span[] = [];
	const append = (span: Span) => {
		const last = current.at(-1);
		if (last && last.token === span.token && last.base === span.base)
			current[current.length - 1] = { ...last, text: last.text + span.text };
		else current.push(span);
		used += columnsOf(span.text);
	};
	const end = () => {
		lines.push({ spans: current });
		current = [];
		used = 0;
		gap = [];
	};
	for (const part of words(spans)) {
		if (part === 'break') {
			end();
			continue;
		}
		if (part.space) {
			gap.push(...part.spans);
			continue;
		}
		const wide = (list: readonly Span[]) => list.reduce((sum, span) => sum + columnsOf(span.text), 0);
		if (used > 0 && used + wide(gap) + wide(part.spans) > room) end();
		// At the start of a paragraph spaces are an indent, after a wrapped line they are not there any more.
		if (used + wide(gap) <= room) gap.forEach(append);
		gap = [];
		for (const span of part.spans) {
			if (used + columnsOf(span.text) <= room) {
				append(span);
				continue;
			}
			for (const cluster of graphemes(span.text)) {
				if (used > 0 && used + cluster.width > room) end();
				append({ ...span, text: cluster.text });
			}
		}
	}
	if (current.length > 0 || lines.length === 0) end();
	return lines;
}

/** A word may run over several spans (`memory` bold, `,` not); it must not break between them. */
function words(spans: readonly Span[]): ('break' | { space: boolean; spans: Span[] })[] {
	const parts: ('break' | { space: boolean; spans: Span[] })[] = [];
	for (const span of spans) {
		for (const piece of span.text.match(/\n|[^\S\n]+|\S+/g) ?? []) {
			if (piece === '\n') {
				parts.push('break');
				continue;
			}
			const space = /^\s/.test(piece);
			const last = parts.at(-1);
			if (last !== undefined && last !== 'break' && last.space === space) last.spans.push({ ...span, text: piece });
			else parts.push({ space, spans: [{ ...span, text: piece }] });
		}
	}
	return parts;
}
