import type { Operation } from '../operations/operation.ts';
import { isLive } from '../operations/operation.ts';
import { begin, step } from '../operations/step.ts';
import type { Entry, Writer } from './entry.ts';

export type Replayed = {
	/** Without those that another living console has in flight. */
	readonly operations: readonly Operation[];
	/** The ones in flight whose console is gone: to be taken over, by asking the hosts. */
	readonly abandoned: readonly Operation[];
};

/**
 * Folds the journal into operations, entry by entry; effects are dropped, so reading it does nothing to any host. Any
 * order of entries is survived: what makes no sense after what came before it changes nothing.
 */
export const createReplay = (config: string, isAlive: (writer: Writer) => boolean) => {
	const operations = new Map<string, { operation: Operation; by: Writer }>();
	return {
		add: ({ operation: id, event, by, config: of }: Entry): void => {
			if (of !== config) return;
			const known = operations.get(id);
			if (event.type === 'intended' && !known) operations.set(id, { operation: begin({ ...event, id })[0], by });
			// The last writer owns it: a console that took it over wrote `reopened`.
			else if (known) operations.set(id, { operation: step(known.operation, event)[0], by });
		},
		done: (): Replayed => {
			const all = [...operations.values()];
			const elsewhere = new Set(all.filter((one) => isLive(one.operation) && isAlive(one.by)));
			const ours = all.filter((one) => !elsewhere.has(one)).map((one) => one.operation);
			return { operations: ours, abandoned: ours.filter(isLive) };
		},
	};
};
