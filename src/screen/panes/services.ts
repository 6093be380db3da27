import type { RowView, TableView } from '../../store/select/table.ts';
import { frameBox, insideOf } from '../frame/box.ts';
import { type Line, line, middle, padEnd, padStart, type Span, text } from '../frame/line.ts';
import { columnsOf } from '../frame/width.ts';

type Column = {
	readonly title: string;
	readonly width: number;
	readonly right?: true;
	/** Columns with the highest number are dropped first where there is no room; 0 always stays. */
	readonly drop: number;
	readonly cell: (row: RowView) => { text: string; token?: string };
};

const NARROWEST_NAME = 12;
const WIDEST_NAME = 40;
/** Room for the longest state, `returning 119 s`, so that nothing moves while the seconds count. */
const STATE = 15;

const columnsFor = (rows: readonly RowView[], width: number): readonly Column[] => {
	const widest = (of: (row: RowView) => string): number =>
		rows.reduce((most, row) => Math.max(most, columnsOf(of(row))), 0);
	const host = Math.max(
		4,
		Math.min(
			12,
			widest((row) => row.host),
		),
	);
	const wanted = Math.max(
		NARROWEST_NAME,
		Math.min(
			WIDEST_NAME,
			widest((row) => row.name),
		),
	);
	const all: Column[] = [
		{ title: '', width: 1, drop: 1, cell: (row) => ({ text: row.letter, token: row.letterToken }) },
		{ title: 'HOST', width: host, drop: 0, cell: (row) => ({ text: row.host }) },
		{ title: 'SERVICE', width: 0, drop: 0, cell: (row) => ({ text: row.name, token: 'text.strong' }) },
		{ title: 'STATE', width: STATE, drop: 0, cell: (row) => ({ text: row.state, token: row.stateToken }) },
		{
			title: 'GPU',
			width: 5,
			right: true,
			drop: 0,
			cell: (row) => (row.gpuOld ? { text: row.gpu, token: 'text.dim' } : { text: row.gpu }),
		},
		{ title: 'MEM', width: 5, right: true, drop: 2, cell: (row) => ({ text: row.memory }) },
		{ title: 'KEEP', width: 4, drop: 3, cell: (row) => ({ text: row.keep ? 'keep' : '', token: 'mark.keep' }) },
		{ title: 'MANAGER', width: 9, drop: 4, cell: (row) => ({ text: row.manager, token: 'text.dim' }) },
	];
	const needed = (columns: readonly Column[], name: number): number =>
		MARKS + columns.reduce((sum, column) => sum + (column.title === 'SERVICE' ? name : column.width) + 1, -1);
	let kept = all;
	// What only repeats a mark or can be read in the details gives way to a whole name; figures do not.
	for (const drop of [4, 3]) if (needed(kept, wanted) > width) kept = kept.filter((column) => column.drop !== drop);
	for (const drop of [2, 1])
		if (needed(kept, NARROWEST_NAME) > width) kept = kept.filter((column) => column.drop !== drop);
	const room = width - needed(kept, 0);
	return kept.map((column) =>
		column.title === 'SERVICE' ? { ...column, width: Math.max(4, Math.min(wanted, room)) } : column,
	);
};

/** Columns before the first one: the cursor and the flag of what is kept. */
const MARKS = 3;

/** One table of services over all hosts, with its heading, scrolled so that the selected row is seen. */
export const servicesPane = (view: TableView, width: number, height: number): Line[] => {
	const inside = insideOf(width);
	const columns = columnsFor(view.rows, inside);
	const heading = line(
		text(' '.repeat(MARKS)),
		text(columns.map((column) => (column.right ? padStart : padEnd)(column.title, column.width)).join(' '), 'header'),
	);
	const room = Math.max(1, height - 3);
	const first = Math.max(0, Math.min(view.selected - Math.floor(room / 2), view.rows.length - room));
	const shown = view.rows
		.slice(first, first + room)
		.map((row, index) => rowLine(row, columns, first + index === view.selected));
	const more = view.rows.length > room ? ` · ${first + 1}–${Math.min(first + room, view.rows.length)}` : '';
	const title = line(
		text('services', 'title'),
		text(`  ${view.rows.length} of ${view.total} · memory first, GiB${more}`, 'text.dim'),
	);
	return frameBox(title, [heading, ...shown], width, height, { focused: false });
};

const rowLine = (row: RowView, columns: readonly Column[], selected: boolean): Line => {
	const spans: Span[] = [text(selected ? '▸' : ' ', 'text.accent'), text(row.keep ? '⚑' : ' ', 'mark.keep'), text(' ')];
	columns.forEach((column, index) => {
		const { text: content, token } = column.cell(row);
		const cut = middle(content, column.width);
		const padded = (column.right ? padStart : padEnd)(cut, column.width);
		const dim = row.old && token !== 'mark.keep' ? 'text.dim' : token;
		if (index > 0) spans.push(text(' '));
		spans.push(dim === undefined ? text(padded) : text(padded, dim));
	});
	return selected ? { spans, base: 'row.selected' } : { spans };
};
