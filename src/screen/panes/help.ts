import { commands } from '../../commands/index.ts';
import { type Keymap, keysFor } from '../../commands/keymap.ts';
import type { State } from '../../store/state.ts';
import { type Line, line, padEnd, text, wrap } from '../frame/line.ts';

const KEYS = 22;

/** All keys with what they do, from the commands and the keymap themselves; what can't act now says why. */
export const helpLines = (keymap: Keymap, state: State, width: number): Line[] => {
	const section = (title: string, context: 'main' | 'dialog'): Line[] => {
		const lines = commands
			.filter((command) => command.context === context || (command.context === 'any' && context === 'main'))
			.flatMap((command) => {
				const keys = keysFor(keymap[context], command.id).join(', ');
				const reason = context === 'main' ? command.disabledReason(state) : null;
				const said = [text(command.doc), ...(reason ? [text(` (not now: ${reason})`, 'text.dim')] : [])];
				return wrap(said, Math.max(20, width - KEYS)).map(
					(of, index): Line => ({ spans: [text(padEnd(index === 0 ? keys : '', KEYS), 'footer.key'), ...of.spans] }),
				);
			});
		return [line(text(title, 'header')), ...lines, line()];
	};
	const marks =
		'A B C … owners, the same letter in bar, list and table · d desktop · o other · k kernel · ? unexplained · ░ cache that comes back · the dots are free';
	return [
		...section('On the deck', 'main'),
		...section('In a confirmation (Cancel is where the cursor starts)', 'dialog'),
		line(text('The bar', 'header')),
		...wrap([text(marks)], width),
		line(),
		line(text('Hosts', 'header')),
		...wrap(
			[
				text(
					'● up · ◐ stale: no sample for 3 s, figures are old · ○ down · ◌ connecting · ⚑ keep: you said it must not be stopped',
				),
			],
			width,
		),
		line(),
		...wrap(
			[
				text(
					'Leaving the console stops nothing. What is in flight goes on, and the console tells what became of it when you open it again.',
					'text.dim',
				),
			],
			width,
		),
	];
};
