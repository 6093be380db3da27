// A line as one string with its looks in it, for output that knows no cells.
import type { StyleOf } from './compositor.ts';
import { drawnAs, type Line, take } from './line.ts';
import { forBlanks } from './sgr.ts';
import { columnsOf, measure } from './width.ts';

/** The line in exactly `width` columns, as the compositor draws it. */
export function ansiRow({ spans, base }: Line, width: number, style: StyleOf): string {
	let row = '';
	let room = width;
	for (const span of spans) {
		if (room <= 0) break;
		const { name, under } = drawnAs(span.token, span.base ?? base);
		const measured = measure(span.text);
		if (measured.width <= room) {
			row += dressed(measured.text, style(name, under));
			room -= measured.width;
			continue;
		}
		const start = take(span.text, room);
		row += dressed(start + ' '.repeat(room - columnsOf(start)), style(name, under));
		room = 0;
	}
	return room > 0 ? row + dressed(' '.repeat(room), forBlanks(style(base ?? 'text'))) : row;
}

const dressed = (content: string, look: string) =>
	look === '' || content === '' ? content : `\u001b[${look}m${content}\u001b[0m`;
