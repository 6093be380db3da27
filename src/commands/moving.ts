import { rows } from '../store/select/rows.ts';
import type { State } from '../store/state.ts';
import { type Command, emit, type Intent } from './command.ts';

const PAGE = 10;

/** Moves the selection, or scrolls where a text is shown. */
const move = (state: State, by: number | 'top' | 'bottom'): readonly Intent[] => {
	const { view, selected } = state.ui;
	if (view !== 'deck') {
		const scroll = by === 'top' ? -1e6 : by === 'bottom' ? 1e6 : by;
		return emit({ type: 'scroll', by: scroll });
	}
	const all = rows(state);
	const at = all.findIndex((service) => service.id === selected);
	const to = by === 'top' ? 0 : by === 'bottom' ? all.length - 1 : Math.min(all.length - 1, Math.max(0, at + by));
	const service = all[to];
	return service ? emit({ type: 'select', service: service.id }) : [];
};

const empty = (state: State): string | null =>
	state.ui.view === 'deck' && rows(state).length === 0 ? 'There is no service to select yet' : null;

const moving = (id: string, title: string, doc: string, by: number | 'top' | 'bottom'): Command => ({
	id,
	title,
	doc,
	context: 'main',
	danger: false,
	disabledReason: empty,
	run: (state) => move(state, by),
});

export const movingCommands: readonly Command[] = [
	moving('cursor.down', 'down', 'Select the next service, or scroll down', 1),
	moving('cursor.up', 'up', 'Select the service before, or scroll up', -1),
	moving('cursor.pageDown', 'page down', 'Go down by a page', PAGE),
	moving('cursor.pageUp', 'page up', 'Go up by a page', -PAGE),
	moving('cursor.top', 'top', 'Go to the first', 'top'),
	moving('cursor.bottom', 'bottom', 'Go to the last', 'bottom'),
];
