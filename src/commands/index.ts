import type { State } from '../store/state.ts';
import { accept, evict, undo } from './acting.ts';
import type { Command, Intent } from './command.ts';
import { movingCommands } from './moving.ts';
import { viewingCommands } from './viewing.ts';

/** Every command there is. */
export const commands: readonly Command[] = [evict, undo, accept, ...viewingCommands, ...movingCommands];

export const commandIds: readonly string[] = commands.map((command) => command.id);

const byId = new Map(commands.map((command) => [command.id, command]));

/** Which commands a key can reach now: a dialog takes the keys from what is under it. */
export const actsIn = (command: Command, state: State): boolean =>
	command.context === 'any' || command.context === (state.ui.dialog ? 'dialog' : 'main');

/** Runs a command, or says why it can't act. */
export const invoke = (id: string, state: State): readonly Intent[] => {
	const command = byId.get(id);
	if (!command || !actsIn(command, state)) return [];
	const reason = command.disabledReason(state);
	if (reason !== null)
		return [{ type: 'event', event: { type: 'notice', text: `${command.title}: ${reason}`, failure: null } }];
	return command.run(state);
};

/** The commands of the footer that act now, in order. */
export const footerCommands = (state: State): readonly Command[] =>
	commands
		.filter(
			(command) => command.footer !== undefined && actsIn(command, state) && command.disabledReason(state) === null,
		)
		.filter((command) => command.footerWhen?.(state) ?? true)
		.sort((a, b) => (a.footer ?? 0) - (b.footer ?? 0));
