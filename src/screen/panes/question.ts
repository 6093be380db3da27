import type { Typing } from '../../commands/answering.ts';
import type { Question } from '../../domain/question.ts';
import { frameBox, insideOf } from '../frame/box.ts';
import { EMPTY, type Line, line, middle, take, text, withBase, wrap } from '../frame/line.ts';
import { columnsOf } from '../frame/width.ts';
import type { DialogPane } from './dialog.ts';

/** A question with its fields. `waiting` is false when nobody waits for the answer any more. */
export const questionPane = (
	question: Question,
	typing: Typing,
	waiting: boolean,
	columns: number,
	rows: number,
): DialogPane => {
	const width = Math.min(columns - 2, 76);
	const inside = insideOf(width);
	const about = question.text.flatMap((said) => wrap([text(said)], inside));
	const fields = question.prompts.flatMap((prompt, index): Line[] => {
		const now = index === typing.answers.length;
		const typed = now ? typing.text : (typing.answers[index] ?? '');
		return field(prompt.text, prompt.echo ? typed : '•'.repeat([...typed].length), now && waiting, inside);
	});
	const end = waiting
		? question.prompts.length === 0
			? line(text('esc', 'footer.key'), ' closes it; it goes on by itself')
			: line(text('enter', 'footer.key'), ' answers   ', text('esc', 'footer.key'), ' does not answer')
		: line(text('Nobody waits for this any more. ', 'mark.warn'), text('esc', 'footer.key'), ' closes it');
	// What explains gives way to what is typed into.
	const room = Math.max(1, rows - 2 - fields.length - 4);
	const content = [...about.slice(0, room), ...(about.length > 0 ? [EMPTY] : []), ...fields, EMPTY, end];
	return {
		width,
		complete: about.length <= room,
		lines: frameBox(
			middle(question.title, inside - 4),
			content.map((of) => withBase(of, 'dialog')),
			width,
			content.length + 2,
			{ focused: true, base: 'dialog', border: 'dialog.border', title: 'title' },
		),
	};
};

/** The label, and the end of what was typed: where the cursor is. */
const field = (label: string, typed: string, focused: boolean, width: number): Line[] => {
	const asked = `${label}: `;
	const lines = wrap([text(asked, focused ? 'text.strong' : 'text.dim')], width);
	const last = lines.at(-1) ?? EMPTY;
	const used = last.spans.reduce((sum, span) => sum + columnsOf(span.text), 0) + 1;
	const room = Math.max(4, width - used - 1);
	const tail = columnsOf(typed) <= room ? typed : `…${lastOf(typed, room - 1)}`;
	const spans = [...last.spans, text(' '), text(tail, 'code'), text(focused ? '▏' : '', 'text.accent')];
	return [...lines.slice(0, -1), { spans }];
};

const lastOf = (typed: string, room: number): string => {
	const backwards = [...typed].reverse().join('');
	return [...take(backwards, room)].reverse().join('');
};
