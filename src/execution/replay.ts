import type { Operation } from '../operations/operation.ts';
import { isLive } from '../operations/operation.ts';
import { begin, step } from '../operations/step.ts';
import type { Entry, Writer } from './journal.ts';

export type Replayed = {
	/** Without those that another living console has in flight. */
	readonly operations: readonly Operation[];
	/** The ones in flight whose console is gone: to be taken over, by asking the hosts. */
	readonly abandoned: readonly Operation[];
};

/** Folds the journal into operations; effects are dropped, so reading it does nothing to any host. */
export const replay = (entries: readonly Entry[], config: string, isAlive: (writer: Writer) => boolean): Replayed => {
	const operations = new Map<string, { operation: Operation; by: Writer }>();
	for (const { operation: id, event, by, config: of } of entries) {
		if (of !== config) continue;
		const known = operations.get(id);
		if (event.type === 'intended' && !known) operations.set(id, { operation: begin(event)[0], by });
		// The last writer owns it: a console that took it over wrote `reopened`.
		else if (known) operations.set(id, { operation: step(known.operation, event)[0], by });
	}
	const all = [...operations.values()];
	const elsewhere = all.filter((one) => isLive(one.operation) && isAlive(one.by));
	return {
		operations: all.filter((one) => !elsewhere.includes(one)).map((one) => one.operation),
		abandoned: all.filter((one) => isLive(one.operation) && !elsewhere.includes(one)).map((one) => one.operation),
	};
};
