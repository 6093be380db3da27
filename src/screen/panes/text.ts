import type { ProgressView } from '../../store/select/progress.ts';
import type { Paragraph, WhyView } from '../../store/select/why.ts';
import { frameBox, insideOf } from '../frame/box.ts';
import { EMPTY, type Line, line, middle, text, widthOf, wrap } from '../frame/line.ts';
import { columnsOf } from '../frame/width.ts';

/** Paragraphs broken to a width. */
export const paragraphLines = (paragraphs: readonly Paragraph[], width: number): Line[] =>
	paragraphs.flatMap(({ text: content, token, label = '' }) => {
		const indent = columnsOf(label);
		return wrap([text(content, token)], Math.max(8, width - indent)).map((of, index): Line => {
			if (indent === 0) return of;
			return { spans: [text(index === 0 ? label : ' '.repeat(indent), 'text.dim'), ...of.spans] };
		});
	});

/** The reasoning about what is selected. Says so when there is more than fits. */
export const whyPane = (view: WhyView, width: number, height: number): Line[] => {
	const inside = insideOf(width);
	const title = line(
		text('why', 'title'),
		...(view.title ? [text(`  ${middle(view.title, Math.max(8, inside - 12))}`, 'text.dim')] : []),
	);
	const room = height - 2;
	const tight = paragraphLines(view.paragraphs, inside);
	// Room to breathe where there is some: sentences of one kind stay together.
	const airy = view.paragraphs.flatMap((one, index) => [
		...(index > 0 && one.token !== view.paragraphs[index - 1]?.token ? [EMPTY] : []),
		...paragraphLines([one], inside),
	]);
	const lines = airy.length <= room ? airy : tight;
	const shown =
		lines.length > room ? [...lines.slice(0, room - 1), line(text('… enter shows all of it', 'text.dim'))] : lines;
	return frameBox(title, shown, width, height);
};

/** The reasoning in one or two lines, where there is no room for its pane. */
export const whyLines = (view: WhyView, width: number, height: number): Line[] => {
	const strong =
		view.paragraphs.find((one) => one.token === 'text.strong' || one.token.startsWith('mark.')) ?? view.paragraphs[0];
	const lines = strong ? paragraphLines([strong], width - 2) : [];
	return Array.from({ length: height }, (_, index) => {
		const found = lines[index];
		return found ? { spans: [text(' '), ...found.spans] } : EMPTY;
	});
};

/** What was done and what is being done: one line an operation. */
export const progressLine = (view: ProgressView | null, width: number): Line => {
	if (!view) return EMPTY;
	const head = [text(` ${view.time}  ${view.host}  `, 'text.dim')];
	const mark = [text(`  ${view.mark} `, view.token)];
	const room = width - widthOf({ spans: head }) - widthOf({ spans: mark });
	const said = middle(view.text, Math.max(10, room));
	const gap = Math.max(0, room - widthOf({ spans: [text(said)] }));
	return { spans: [...head, text(said), text(' '.repeat(gap)), ...mark] };
};

/** A text over the whole screen, scrolled. */
export const textPane = (
	title: string,
	lines: readonly Line[],
	scroll: number,
	width: number,
	height: number,
): Line[] => {
	const room = Math.max(1, height - 2);
	const first = Math.min(scroll, Math.max(0, lines.length - room));
	const right = lines.length > room ? `${first + 1}–${Math.min(first + room, lines.length)} of ${lines.length}` : '';
	return frameBox(title, lines.slice(first, first + room), width, height, { right: line(text(right, 'text.dim')) });
};
