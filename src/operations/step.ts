import { GUARD_FAILED } from '../domain/commandLine.ts';
import { failure } from '../domain/failure.ts';
import { deniedFailure } from '../planning/reasons.ts';
import type { Effect, Operation, OperationEvent } from './operation.ts';
import { seenStarting } from './starting.ts';
import { seenStopping } from './stopping.ts';
import { ended, enter, type Stepped } from './transitions.ts';

/** A new operation; the effects write it down, then send it, in this order. */
export const begin = (event: Extract<OperationEvent, { type: 'intended' }>): Stepped => {
	const { at, id, plan } = event;
	const operation: Operation = {
		id,
		plan,
		phase: 'intended',
		outcome: null,
		failure: null,
		accepted: false,
		reopened: false,
		times: { intended: at, sent: null, phase: at, changed: null, ended: null },
		last: null,
		availableBefore: plan.availableBefore,
		gainedBytes: null,
	};
	const send: Effect = { type: 'send', host: plan.host, line: plan.command.line, timeoutMs: plan.patienceMs };
	return [operation, [{ type: 'journal', event }, { type: 'turn', host: plan.host }, send]];
};

/**
 * What an event makes of an operation. Pure; time comes with the events. Events that change the phase are journalled, so
 * that folding the journal gives the operation again; effects are not, so that nothing is done twice by reading.
 */
export const step = (operation: Operation, event: OperationEvent): Stepped => {
	if (operation.phase === 'ended') return [operation, []];
	switch (event.type) {
		case 'intended':
			return [operation, []];
		case 'sending': {
			const availableBefore = event.availableBefore ?? operation.availableBefore;
			const next = enter(operation, 'sending', event.at);
			return [{ ...next, availableBefore, times: { ...next.times, sent: event.at } }, []];
		}
		case 'notSent':
			return ended(operation, event, 'failed', event.failure);
		case 'answered':
			return answered(operation, event);
		case 'reopened':
			return [{ ...enter(operation, 'changing', event.at), reopened: true, accepted: false }, []];
		case 'seen':
			return seen(operation, event);
		default:
			// Written by a newer version: what it means is not known here.
			return [operation, []];
	}
};

const DENIED =
	/interactive authentication (is )?required|a password is required|a terminal is required|must have a tty|not allowed|may not run|not permitted|access denied|permission denied|not in the sudoers|i'm afraid i can't do that/i;

const answered = (operation: Operation, event: Extract<OperationEvent, { type: 'answered' }>): Stepped => {
	const { plan } = operation;
	const journal: Effect[] = [{ type: 'journal', event }];
	// An earlier look at the facts may have been quicker than the answer.
	if (operation.phase !== 'sending' && event.code === 0) return [{ ...operation, accepted: true }, journal];
	switch (event.code) {
		case 0:
			return [{ ...enter(operation, 'changing', event.at), accepted: true }, journal];
		case null:
			// Unknown, not failed: the manager of the host may be at work. The facts will tell.
			return [enter(operation, 'changing', event.at), journal];
		case GUARD_FAILED:
			return ended(
				operation,
				event,
				'refused',
				failure(
					'changed',
					`${plan.name} is not the run that you saw: it was restarted or has ended since, or its manager does not answer`,
					'Look again; nothing was touched',
				),
			);
		default: {
			const said = event.stderr.trim().split('\n').at(-1) ?? '';
			const why = DENIED.test(event.stderr)
				? deniedFailure(plan, event.user, event.stderr)
				: failure(
						'denied',
						`${plan.host}: ${said || `exit code ${event.code}`}`,
						`Try it by hand: ${plan.command.shown.at(-1)}`,
					);
			return ended(operation, event, why.kind === 'denied' && DENIED.test(event.stderr) ? 'refused' : 'failed', why);
		}
	}
};

const seen = (before: Operation, event: Extract<OperationEvent, { type: 'seen' }>): Stepped => {
	const { sight } = event;
	const operation: Operation = {
		...before,
		last: sight,
		gainedBytes: sight.availableBytes - before.availableBefore,
	};
	if (operation.phase === 'intended' || operation.phase === 'sending') return [operation, []];
	if (sight.bootId !== operation.plan.bootId) {
		const cause = `${operation.plan.host} was restarted meanwhile: its memory can’t be compared with before`;
		return ended(operation, event, 'unverified', failure('changed', cause, 'Look at what runs there now'));
	}
	const { plan } = operation;
	return plan.kind === 'evict'
		? seenStopping(operation, plan, event, sight)
		: seenStarting(operation, plan, event, sight);
};
