import type { Failure } from '../domain/failure.ts';
import { measured } from './measure.ts';
import type { Effect, Operation, OperationEvent, Outcome, Phase, Sight } from './operation.ts';

/** An operation after an event, and what is to be done for it. */
export type Stepped = readonly [Operation, readonly Effect[]];

/** A host that has accepted a command shows its effect within this (ms), or it did not do what was asked. */
export const TAKES_EFFECT = 8000;

export const enter = (operation: Operation, phase: Phase, at: number): Operation => ({
	...operation,
	phase,
	times: { ...operation.times, phase: at },
});

export const ended = (operation: Operation, event: OperationEvent, outcome: Outcome, why: Failure | null): Stepped => [
	{
		...operation,
		phase: 'ended',
		outcome,
		failure: why,
		times: { ...operation.times, phase: event.at, ended: event.at },
	},
	[{ type: 'journal', event }],
];

/** The service has changed as it should, which facts have shown: from here on its memory is measured. */
export const beginMeasuring = (
	operation: Operation,
	event: OperationEvent,
	sight: Sight,
	whyNot: () => Failure,
): Stepped => {
	const next = enter(operation, 'measuring', event.at);
	const changed = { ...next, times: { ...next.times, changed: event.at } };
	return judge(changed, event, sight, whyNot, [{ type: 'journal', event }]);
};

/** Verified as soon as the measurement proves it, unverified when patience ends; until then it goes on. */
export const judge = (
	operation: Operation,
	event: OperationEvent,
	sight: Sight,
	whyNot: () => Failure,
	effects: readonly Effect[] = [],
): Stepped => {
	if (measured(operation, sight)) return ended(operation, event, 'verified', null);
	if (sight.at - operation.times.phase <= operation.plan.memoryPatienceMs) return [operation, effects];
	return ended(operation, event, 'unverified', whyNot());
};
