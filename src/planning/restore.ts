import { type CommandLine, startContainer, startUnit } from '../domain/commandLine.ts';
import { failure } from '../domain/failure.ts';
import type { Observation } from '../domain/observation.ts';
import type { EvictionPlan, RestorePlan } from '../domain/plan.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import { heldBytes, isActive, type Service } from '../domain/service.ts';

/** Loading a large model takes 2 to 20 minutes (facts: "long loads look hung"); only silence for longer is a fault. */
const LOAD_PATIENCE_MS = 20 * 60_000;
const START_PATIENCE_MS = 5 * 60_000;

/**
 * The plan that undoes an eviction: start the same service again, from what was recorded then and what is seen now.
 * `now` is the service as it stands, or null where the manager does not list it any more.
 */
export const planRestore = (
	evictionId: string,
	eviction: EvictionPlan,
	now: Service | null,
	seen: Observation,
): Result<RestorePlan> => {
	const { name, host, target, predicted, also } = eviction;
	if (now && isActive(now)) {
		const holds = heldBytes(now) > 0 ? 'it runs again already' : 'it is active again already';
		return fail(failure('changed', `${name} on ${host}: ${holds}`, 'There is nothing to undo'));
	}
	const command = startCommand(eviction, seen.identity.uid);
	if (!command) {
		return fail(
			failure(
				'not-found',
				`${name} was a process without a unit`,
				'Start it the way it was started; its command is in the journal',
			),
		);
	}
	const available = seen.memory.value.available;
	const short = predicted.totalBytes - available;
	return ok({
		kind: 'restore',
		undoes: evictionId,
		service: eviction.service,
		host,
		name,
		target,
		command,
		patienceMs: START_PATIENCE_MS,
		memoryPatienceMs: LOAD_PATIENCE_MS,
		expected: predicted,
		availableBefore: available,
		bootId: seen.identity.bootId,
		also: eviction.also,
		consequences: [
			...(also.length > 0 ? [`Starts ${also.map((one) => one.name).join(', ')} too, which stopped with it.`] : []),
			...(short > 0 ? ['It held more memory than is available now: starting it may fail or press the host.'] : []),
		],
	});
};

const startCommand = ({ target, also }: EvictionPlan, uid: number): CommandLine | null => {
	switch (target.kind) {
		case 'unit':
			return startUnit(target.manager, uid, target.unit, ...also.map((one) => one.name));
		case 'container':
			return startContainer(target.tool, target.containerId);
		case 'process':
			return null;
	}
};
