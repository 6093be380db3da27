import type { Rectangle } from './frame/compositor.ts';

/** The least that can be used at all. Below it there is a message. */
export const LEAST = { columns: 60, rows: 16 };

/** Columns from which panes stand side by side. */
const WIDE = 100;
/** Rows a host's panel needs for its bar, owners and meters; it takes more where there is room. */
const PANEL = { least: 7, most: 20 };

export type Layout = {
	readonly header: Rectangle;
	/** One for each host, in order. `summary`: two lines without a frame. */
	readonly hosts: readonly Rectangle[];
	readonly hostStyle: 'panel' | 'summary';
	readonly services: Rectangle;
	readonly why: Rectangle;
	readonly whyStyle: 'pane' | 'lines';
	readonly progress: Rectangle;
	readonly footer: Rectangle;
	/** Everything between header and footer, for views that fill the screen. */
	readonly body: Rectangle;
};

/** Where everything goes on the deck. `owners`: rows of the longest list of owners; `operations`: lines wanted for them. */
export const layoutFor = (columns: number, rows: number, hosts: number, owners: number, operations: number): Layout => {
	const wide = columns >= WIDE;
	const progressRows = Math.min(Math.max(1, operations), rows >= 40 ? 3 : rows >= 30 ? 2 : 1);
	const body = { x: 0, y: 1, width: columns, height: rows - 2 - progressRows };
	const header = { x: 0, y: 0, width: columns, height: 1 };
	const footer = { x: 0, y: rows - 1, width: columns, height: 1 };
	const progress = { x: 0, y: rows - 1 - progressRows, width: columns, height: progressRows };
	const common = { header, footer, progress, body };

	const perRow = wide ? Math.max(1, Math.min(hosts, Math.floor(columns / 50))) : 1;
	const hostRows = Math.ceil(hosts / perRow);
	// Bar, heading, what is left over, two meters and the frame beside the owners.
	const wanted = Math.min(PANEL.most, Math.max(PANEL.least, owners + 7));
	const forServices = rows >= 30 ? 10 : 6;
	const panelHeight = Math.min(wanted, Math.floor((body.height - forServices) / hostRows));
	if (!wide || panelHeight < PANEL.least) return narrow(common, columns, hosts);

	const each = Math.floor(columns / perRow);
	const hostPlaces = Array.from({ length: hosts }, (_, index) => {
		const column = index % perRow;
		const last = column === perRow - 1 || index === hosts - 1;
		const x = column * each;
		return {
			x,
			y: 1 + Math.floor(index / perRow) * panelHeight,
			width: last ? columns - x : each,
			height: panelHeight,
		};
	});
	const top = 1 + hostRows * panelHeight;
	const height = body.height - hostRows * panelHeight;
	const split = Math.floor(columns / 2);
	return {
		...common,
		hosts: hostPlaces,
		hostStyle: 'panel',
		services: { x: 0, y: top, width: split, height },
		why: { x: split, y: top, width: columns - split, height },
		whyStyle: 'pane',
	};
};

type Common = Pick<Layout, 'header' | 'footer' | 'progress' | 'body'>;

/** Hosts as two lines each, services over the full width, the reasoning as a line or two, or a pane where it is high. */
const narrow = (common: Common, columns: number, hosts: number): Layout => {
	const { body } = common;
	const shownHosts = Math.max(1, Math.min(hosts, Math.floor((body.height - 6) / 2)));
	const top = 1 + shownHosts * 2;
	const left = body.height - shownHosts * 2;
	const whyHeight = left >= 22 ? Math.floor(left * 0.45) : left >= 10 ? 2 : 1;
	return {
		...common,
		hosts: Array.from({ length: hosts }, (_, index) => ({
			x: 0,
			y: 1 + index * 2,
			width: columns,
			height: index < shownHosts ? 2 : 0,
		})),
		hostStyle: 'summary',
		services: { x: 0, y: top, width: columns, height: left - whyHeight },
		why: { x: 0, y: top + left - whyHeight, width: columns, height: whyHeight },
		whyStyle: whyHeight > 2 ? 'pane' : 'lines',
	};
};
