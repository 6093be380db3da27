import { size } from '../domain/bytes.ts';
import { type Failure, failure } from '../domain/failure.ts';
import type { RestorePlan } from '../domain/plan.ts';
import type { Operation, OperationEvent, Sight } from './operation.ts';
import { beginMeasuring, ended, judge, type Stepped, TAKES_EFFECT } from './transitions.ts';

/**
 * What facts make of a restore that was sent: running, and its memory held again. Running is not enough where it held GPU
 * memory; and nothing here says that it serves.
 */
export const seenStarting = (operation: Operation, plan: RestorePlan, event: OperationEvent, sight: Sight): Stepped => {
	const { times } = operation;
	const notLoaded = (): Failure =>
		failure(
			'timeout',
			`${plan.name} runs, but holds only ${size(sight.gpuBytes ?? 0)} of the GPU`,
			'It may still be loading: look at its log',
		);
	const inPhase = sight.at - times.phase;
	if (operation.phase === 'changing') {
		if (sight.state === 'active') {
			return beginMeasuring(operation, event, sight, notLoaded);
		}
		// A unit that runs a container often reads `failed` from its stop on: only a reading after the start tells.
		if (sight.state === 'failed' && !sight.hasJob && sight.fresh && inPhase > 1000)
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
	return judge(operation, event, sight, notLoaded);
};

const startFailed = (operation: Operation): Failure =>
	failure(
		'internal',
		`${operation.plan.name} did not come up on ${operation.plan.host}`,
		`Look at its log: journalctl ${operation.plan.target.kind === 'unit' && operation.plan.target.manager === 'user' ? '--user ' : ''}-u ${operation.plan.name} -n 50`,
	);
