import { size } from '../domain/bytes.ts';
import { type Failure, failure } from '../domain/failure.ts';
import type { EvictionPlan } from '../domain/plan.ts';
import type { Operation, OperationEvent, Sight } from './operation.ts';
import { beginMeasuring, ended, judge, type Stepped, TAKES_EFFECT } from './transitions.ts';

/** Processes may outlive their unit by this much (ms) before they count as left behind. */
const STRAGGLERS = 10_000;

/** What facts make of an eviction that was sent: ended, its processes gone, its memory back. */
export const seenStopping = (
	operation: Operation,
	plan: EvictionPlan,
	event: OperationEvent,
	sight: Sight,
): Stepped => {
	const { times } = operation;
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
		return beginMeasuring(operation, event, sight, () => notBack(operation, plan));
	}
	// Its memory proves nothing while it, or a process of it, is still (or again) there.
	if ((!stopped || sight.survivors.length > 0) && sight.at - times.phase <= plan.memoryPatienceMs)
		return [operation, []];
	if (sight.survivors.length > 0) return ended(operation, event, 'unverified', leftBehind(operation, sight));
	return judge(operation, event, sight, () => notBack(operation, plan));
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

const notBack = (operation: Operation, plan: EvictionPlan): Failure =>
	failure(
		'timeout',
		`${plan.name} is stopped, but only ${size(Math.max(0, operation.gainedBytes ?? 0))} of ${size(plan.predicted.totalBytes)} came back`,
		'Something else took it meanwhile, or the driver still holds it: look at `unexplained` and at processes without a unit',
	);
