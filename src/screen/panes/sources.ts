import type { SourcesView } from '../../store/select/sources.ts';
import { type Line, line, middle, padEnd, padStart, text, wrap } from '../frame/line.ts';

const NAME = 24;

/** Each row of each statement: its figure, its age, and the whole rule by which it was come by. */
export const sourceLines = (view: SourcesView, width: number): Line[] =>
	view.flatMap((host) => [
		line(text(host.host, 'title'), text(`  ${host.sum}`, 'text.dim')),
		...host.rows.flatMap((row) => {
			const head = [
				text(`${row.letter} `, row.token),
				text(padEnd(middle(row.label, NAME - 1), NAME)),
				text(padStart(row.figure, 6)),
				text(`  ${padEnd(row.age, 7)}`, 'text.dim'),
			];
			const indent = 2 + NAME + 6 + 9;
			return wrap([text(row.source, 'text.dim')], Math.max(16, width - indent)).map(
				(of, index): Line => ({ spans: [...(index === 0 ? head : [text(' '.repeat(indent))]), ...of.spans] }),
			);
		}),
		...host.notes.flatMap((note) => wrap([text(`  ${note}`, 'text.dim')], width)),
		line(),
	]);
