import type { DialogView } from '../../store/select/dialog.ts';
import { frameBox, insideOf } from '../frame/box.ts';
import { EMPTY, type Line, middle, padEnd, type Span, text, withBase, wrap } from '../frame/line.ts';

const LABEL = 15;

export type DialogPane = { readonly width: number; readonly lines: readonly Line[]; readonly complete: boolean };

/**
 * A confirmation, as wide as its screen allows and as high as it needs. Where it does not fit, what explains gives way
 * and what must be seen (commands, figures, buttons) stays; `complete` is false when not even that fits.
 */
export const dialogPane = (view: DialogView, columns: number, rows: number): DialogPane => {
	const width = Math.min(columns - 2, 96);
	const inside = insideOf(width);
	const label = inside < 60 ? 10 : LABEL;
	const blocks = view.rows.map((row) => ({
		must: row.must,
		lines: wrap([text(row.text, row.token)], inside - label).map(
			(of, index): Line => ({
				spans: [text(padEnd(index === 0 ? middle(row.label, label - 1) : '', label), 'text.dim'), ...of.spans],
			}),
		),
	}));
	const room = rows - 2 - 2 - 2;
	const height = (list: typeof blocks): number => list.reduce((sum, block) => sum + block.lines.length, 0);
	let shown = blocks;
	while (height(shown) > room && shown.some((block) => !block.must)) {
		shown = shown.toSpliced(
			shown.findLastIndex((block) => !block.must),
			1,
		);
	}
	const content = shown.flatMap((block) => block.lines);
	const lines = [...content.slice(0, Math.max(0, room)), EMPTY, buttons(view, inside)];
	const title = middle(view.title, inside - 4);
	return {
		width,
		complete: content.length <= room,
		lines: frameBox(
			title,
			lines.map((of) => withBase(of, 'dialog')),
			width,
			lines.length + 2,
			{
				focused: true,
				base: 'dialog',
				border: 'dialog.border',
				title: 'dialog.danger',
			},
		),
	};
};

const buttons = (view: DialogView, width: number): Line => {
	const each = Math.max(8, Math.floor((width - 4) / view.buttons.length) - 6);
	const spans: Span[] = [];
	view.buttons.forEach((label, index) => {
		const focused = index === view.focus;
		// The cursor shows by shape too: brackets and an arrow.
		spans.push(
			text(focused ? ' ▸ ' : '   ', 'text.accent'),
			text(`[ ${middle(label, each)} ]`, focused ? 'button.focus' : 'button'),
		);
	});
	return { spans };
};
