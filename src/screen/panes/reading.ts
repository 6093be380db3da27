import type { Keymap } from '../../commands/keymap.ts';
import { detailsView } from '../../store/select/details.ts';
import { sourcesView } from '../../store/select/sources.ts';
import type { State } from '../../store/state.ts';
import type { Line } from '../frame/line.ts';
import { helpLines } from './help.ts';
import { sourceLines } from './sources.ts';
import { paragraphLines } from './text.ts';

/** Title and lines of the view that is read now. */
export const reading = (state: State, keymap: Keymap, width: number): { title: string; lines: readonly Line[] } => {
	switch (state.ui.view) {
		case 'sources':
			return { title: 'sources', lines: sourceLines(sourcesView(state), width) };
		case 'help':
			return { title: 'help', lines: helpLines(keymap, state, width) };
		default: {
			const { title, paragraphs } = detailsView(state);
			return { title, lines: paragraphLines(paragraphs, width) };
		}
	}
};
