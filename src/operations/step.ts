import { size } from '../domain/bytes.ts';
import { GUARD_FAILED } from '../domain/commandLine.ts';
import { type Failure, failure } from '../domain/failure.ts';
import { deniedFailure } from '../planning/reasons.ts';
import { measured } from './measure.ts';
import type { Effect, Operation, OperationEvent, Outcome, Phase, Sight } from './operation.ts';

/** A host that has accepted a command shows its effect within this (ms), or it did not do what was asked. */
const TAKES_EFFECT = 8000;
/** Processes may outlive their unit by this much (ms) before they count as left behind. */
const STRAGGLERS = 10_000;

type Stepped = readonly [Operation, readonly Effect[]];

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

const enter = (operation: Operation, phase: Phase, at: number): Operation => ({
	...operation,
	phase,
	times: { ...operation.times, phase: at },
});

const ended = (operation: Operation, event: OperationEvent, outcome: Outcome, why: Failure | null): Stepped => [
	{
		...operation,
		phase: 'ended',
		outcome,
		failure: why,
		times: { ...operation.times, phase: event.at, ended: event.at },
	},
	[{ type: 'journal', event }],
];

const DENIED =
	/interactive authentication required|a password is required|a terminal is required|not allowed|not permitted|access denied|permission denied|not in the sudoers/i;

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
	return operation.plan.kind === 'evict'
		? seenStopping(operation, event, sight)
		: seenStarting(operation, event, sight);
};

const seenStopping = (operation: Operation, event: OperationEvent, sight: Sight): Stepped => {
	const { plan, times } = operation;
	if (plan.kind !== 'evict') return [operation, []];
	const stopped = sight.state === 'inactive' || sight.state === 'failed' || sight.state === 'absent';
	const again = !stopped && sight.run !== '' && sight.run !== runOf(operation);
	if (again) {
		return ended(
			operation,
			event,
			'unverified',
			failure(
				'changed',
				`${plan.name} was started again by something else`,
				'Look at what started it: its journal on the host',
			),
		);
	}
	if (operation.phase === 'changing') {
		if (!stopped) {
			// No job and still the same run: what was sent did not arrive, or came to nothing. Only a manager has jobs; a
			// process or a container may take its time.
			const idle = plan.target.kind === 'unit' && sight.fresh && sight.state === 'active' && !sight.hasJob;
			if (idle && sight.at - times.phase > TAKES_EFFECT) {
				const why = operation.accepted
					? failure(
							'internal',
							`${plan.host} accepted the stop of ${plan.name}, which still runs`,
							'Look at it on the host: systemctl status',
						)
					: failure(
							'lost',
							`The stop of ${plan.name} did not reach ${plan.host}: it runs unchanged`,
							'Nothing was touched; you can do it again',
						);
				return ended(operation, event, 'failed', why);
			}
			if (sight.at - times.phase > plan.patienceMs) {
				return ended(
					operation,
					event,
					'unverified',
					failure(
						'timeout',
						`${plan.name} has not ended after ${Math.round(plan.patienceMs / 1000)} s`,
						'It may still end; the table shows it',
					),
				);
			}
			return [operation, []];
		}
		if (sight.survivors.length > 0 && sight.at - times.phase < STRAGGLERS) return [operation, []];
		if (sight.survivors.length > 0) return ended(operation, event, 'unverified', leftBehind(operation, sight));
		const next = enter(operation, 'measuring', event.at);
		return settle({ ...next, times: { ...next.times, changed: event.at } }, event, sight, [{ type: 'journal', event }]);
	}
	// Its memory proves nothing while it, or a process of it, is still (or again) there.
	if ((!stopped || sight.survivors.length > 0) && sight.at - times.phase <= plan.memoryPatienceMs)
		return [operation, []];
	if (sight.survivors.length > 0) return ended(operation, event, 'unverified', leftBehind(operation, sight));
	return settle(operation, event, sight, []);
};

const runOf = (operation: Operation): string => {
	const { target } = operation.plan;
	switch (target.kind) {
		case 'unit':
			return target.invocationId;
		case 'container':
			return target.containerId;
		case 'process':
			return `${target.bootId}:${target.pid}:${target.startTicks}`;
	}
};

const leftBehind = (operation: Operation, sight: Sight): Failure =>
	failure(
		'changed',
		`${operation.plan.name} is stopped, but ${sight.survivors.join(', ')} still ${sight.survivors.length > 1 ? 'hold' : 'holds'} its memory`,
		'Select the process in the table to end it too',
	);

/** After the end of the service: verified as soon as the memory is measured to be back, unverified when patience ends. */
const settle = (operation: Operation, event: OperationEvent, sight: Sight, effects: readonly Effect[]): Stepped => {
	const { plan, times } = operation;
	if (measured(operation, sight)) return ended(operation, event, 'verified', null);
	if (sight.at - times.phase <= plan.memoryPatienceMs) return [operation, effects];
	const predicted = plan.kind === 'evict' ? plan.predicted.totalBytes : plan.expected.totalBytes;
	const gained = Math.max(0, operation.gainedBytes ?? 0);
	return ended(
		operation,
		event,
		'unverified',
		failure(
			'timeout',
			`${plan.name} is stopped, but only ${size(gained)} of ${size(predicted)} came back`,
			'Something else took it meanwhile, or the driver still holds it: look at `unexplained` and at processes without a unit',
		),
	);
};

const seenStarting = (operation: Operation, event: OperationEvent, sight: Sight): Stepped => {
	const { plan, times } = operation;
	if (plan.kind !== 'restore') return [operation, []];
	const inPhase = sight.at - times.phase;
	if (operation.phase === 'changing') {
		if (sight.state === 'active') {
			const next = enter(operation, 'measuring', event.at);
			return settleStart({ ...next, times: { ...next.times, changed: event.at } }, event, sight, [
				{ type: 'journal', event },
			]);
		}
		if (sight.state === 'failed' && !sight.hasJob && inPhase > 1000)
			return ended(operation, event, 'failed', startFailed(operation));
		const idle = (sight.state === 'inactive' || sight.state === 'absent') && !sight.hasJob && sight.fresh;
		if (idle && inPhase > TAKES_EFFECT) {
			const why = operation.accepted
				? startFailed(operation)
				: failure('lost', `The start of ${plan.name} did not reach ${plan.host}`, 'You can do it again');
			return ended(operation, event, 'failed', why);
		}
		if (inPhase > plan.patienceMs) return ended(operation, event, 'unverified', startFailed(operation));
		return [operation, []];
	}
	if (sight.state !== 'active' && sight.state !== 'activating')
		return ended(operation, event, 'failed', startFailed(operation));
	return settleStart(operation, event, sight, []);
};

const startFailed = (operation: Operation): Failure =>
	failure(
		'internal',
		`${operation.plan.name} did not come up on ${operation.plan.host}`,
		`Look at its log: journalctl ${operation.plan.target.kind === 'unit' && operation.plan.target.manager === 'user' ? '--user ' : ''}-u ${operation.plan.name} -n 50`,
	);

/** Running is not enough where the service held GPU memory: it must hold it again (and nothing says it serves). */
const settleStart = (
	operation: Operation,
	event: OperationEvent,
	sight: Sight,
	effects: readonly Effect[],
): Stepped => {
	const { plan, times } = operation;
	if (measured(operation, sight)) return ended(operation, event, 'verified', null);
	if (sight.at - times.phase <= plan.memoryPatienceMs) return [operation, effects];
	return ended(
		operation,
		event,
		'unverified',
		failure(
			'timeout',
			`${plan.name} runs, but holds only ${size(sight.gpuBytes ?? 0)} of the GPU`,
			'It may still be loading: look at its log',
		),
	);
};
