import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GiB, MiB } from '../../src/domain/bytes.ts';
import { failure } from '../../src/domain/failure.ts';
import type { EvictionPlan, RestorePlan } from '../../src/domain/plan.ts';
import { isLive, type Operation, type OperationEvent, type Sight } from '../../src/operations/operation.ts';
import { begin, step } from '../../src/operations/step.ts';
import { attribute } from '../../src/planning/attribution.ts';
import { planEviction } from '../../src/planning/eviction.ts';
import { planRestore } from '../../src/planning/restore.ts';
import { AT, observation, process_, settings, sum, unit } from '../support/observation.ts';

const seen = observation({
	units: [unit('r.service')],
	processes: [process_(10, '/system.slice/r.service')],
	cgroups: [sum('/system.slice/r.service', 500 * MiB)],
	gpu: [[10, 8 * GiB]],
});
const { services } = attribute(seen, settings);
const planned = planEviction(services[0]!, services, seen);
if (!planned.ok) throw new Error('no plan');
const evict: EvictionPlan = planned.value;
const again = planRestore('1', evict, null, seen);
if (!again.ok) throw new Error('no plan');
const restore = again.value as RestorePlan;

const run = evict.target.kind === 'unit' ? evict.target.invocationId : '';
const running: Sight = {
	at: AT,
	bootId: 'boot-1',
	state: 'active',
	hasJob: false,
	fresh: true,
	run,
	survivors: ['python3 (pid 10)'],
	availableBytes: 15 * GiB,
	gpuBytes: 8 * GiB,
};
const stopping: Sight = { ...running, state: 'deactivating', hasJob: true };
const stopped: Sight = { ...running, state: 'inactive', run: '', survivors: [], gpuBytes: 0 };
const back = { ...stopped, availableBytes: 15 * GiB + evict.predicted.totalBytes - 50 * MiB };

const at = (seconds: number): number => AT + seconds * 1000;
const sightAt = (sight: Sight, seconds: number): OperationEvent => ({
	type: 'seen',
	at: at(seconds),
	sight: { ...sight, at: at(seconds) },
});
const answer = (code: number | null, stderr = ''): OperationEvent => ({
	type: 'answered',
	at: at(1),
	code,
	stderr,
	user: 'spark',
});
const sending: OperationEvent = { type: 'sending', at: at(0), availableBefore: null };

const fold = (plan: EvictionPlan | RestorePlan, events: readonly OperationEvent[]): Operation =>
	events.reduce((operation, event) => step(operation, event)[0], begin({ type: 'intended', at: AT, id: '1', plan })[0]);

describe('an eviction', () => {
	test('writes down what it intends before a byte leaves', () => {
		const [, effects] = begin({ type: 'intended', at: AT, id: '1', plan: evict });
		expect(effects.map((effect) => (effect.type === 'journal' ? effect.event.type : effect.type))).toEqual([
			'intended',
			'turn',
			'send',
		]);
	});
	test('is verified only by facts: inactive, processes gone, memory back', () => {
		const accepted = fold(evict, [sending, answer(0)]);
		expect(accepted.phase).toBe('changing');
		expect(fold(evict, [sending, answer(0), sightAt(stopping, 2), sightAt(stopped, 3)]).phase).toBe('measuring');
		const done = fold(evict, [sending, answer(0), sightAt(stopping, 2), sightAt(stopped, 3), sightAt(back, 6)]);
		expect(done).toMatchObject({ phase: 'ended', outcome: 'verified', gainedBytes: back.availableBytes - 15 * GiB });
	});
	test('is unverified when the memory does not come back within its patience', () => {
		const patience = evict.memoryPatienceMs / 1000;
		const still = fold(evict, [sending, answer(0), sightAt(stopped, 3), sightAt(stopped, 3 + patience)]);
		expect(still.phase).toBe('measuring');
		const done = fold(evict, [
			sending,
			answer(0),
			sightAt(stopped, 3),
			sightAt({ ...stopped, availableBytes: 18 * GiB }, 4 + patience),
		]);
		expect(done).toMatchObject({ outcome: 'unverified' });
		expect(done.failure?.cause).toContain('only 3.0 GiB of 8.5 GiB came back');
	});
	test('names the processes that stay behind', () => {
		const orphaned = { ...stopped, survivors: ['VLLM::EngineCore (pid 10)'] };
		const done = fold(evict, [sending, answer(0), sightAt(orphaned, 3), sightAt(orphaned, 12)]);
		expect(done).toMatchObject({ outcome: 'unverified' });
		expect(done.failure?.cause).toContain('VLLM::EngineCore (pid 10) still holds its memory');
	});
	test('is refused when the guard failed, and touches nothing', () => {
		expect(fold(evict, [sending, answer(75)])).toMatchObject({ outcome: 'refused', failure: { kind: 'changed' } });
	});
	test.each([
		'Failed to stop r.service: Interactive authentication required.\nsudo: a password is required\n',
		'Sorry, user spark is not allowed to execute',
	])('is refused with the remedy where it is not allowed: %j', (stderr) => {
		const done = fold(evict, [sending, answer(1, stderr)]);
		expect(done).toMatchObject({ outcome: 'refused', failure: { kind: 'denied' } });
		expect(done.failure?.hint).toContain('spark ALL=(root) NOPASSWD: /usr/bin/systemctl stop --no-block -- r.service');
	});
	test('another error is a failure with what the host said', () => {
		expect(fold(evict, [sending, answer(5, 'Unit r.service not loaded.')])).toMatchObject({
			outcome: 'failed',
			failure: { cause: 'spark-a: Unit r.service not loaded.' },
		});
	});
	test('an answer that never came is unknown; the facts decide', () => {
		const unknown = fold(evict, [sending, answer(null)]);
		expect(unknown).toMatchObject({ phase: 'changing', accepted: false });
		expect(fold(evict, [sending, answer(null), sightAt(stopped, 3), sightAt(back, 4)]).outcome).toBe('verified');
		const unchanged = fold(evict, [sending, answer(null), sightAt(running, 3), sightAt(running, 10)]);
		expect(unchanged).toMatchObject({ outcome: 'failed', failure: { kind: 'lost' } });
	});
	test('a service that something starts again is not freed', () => {
		const other = { ...running, run: 'f'.repeat(32) };
		expect(fold(evict, [sending, answer(0), sightAt(other, 3)])).toMatchObject({
			outcome: 'unverified',
			failure: { kind: 'changed' },
		});
		expect(fold(evict, [sending, answer(0), sightAt(stopped, 2), sightAt(other, 3)]).outcome).toBe('unverified');
	});
	test('is measured from the last figure before sending, not from when it was planned', () => {
		const later: OperationEvent = { type: 'sending', at: at(0), availableBefore: 20 * GiB };
		expect(fold(evict, [later, answer(0), sightAt(stopped, 3), sightAt(back, 4)]).phase).toBe('measuring');
		expect(
			fold(evict, [later, answer(0), sightAt(stopped, 3), sightAt({ ...back, availableBytes: 29 * GiB }, 4)]).outcome,
		).toBe('verified');
	});
	test('after a restart of the host its memory proves nothing', () => {
		const rebooted = { ...back, bootId: 'boot-2' };
		expect(fold(evict, [sending, answer(0), sightAt(rebooted, 3)])).toMatchObject({
			outcome: 'unverified',
			failure: { kind: 'changed' },
		});
	});
	test('a process may take its time to end: only its patience ends the waiting', () => {
		const process: EvictionPlan = { ...evict, target: { kind: 'process', pid: 10, startTicks: 100, bootId: 'boot-1' } };
		const still = { ...running, run: 'boot-1:10:100' };
		expect(fold(process, [sending, answer(0), sightAt(still, 3), sightAt(still, 40)]).phase).toBe('changing');
	});
	test('what is read before the command says nothing of what still runs', () => {
		expect(fold(evict, [sending, answer(0), sightAt({ ...running, fresh: false }, 60)]).phase).toBe('changing');
	});
	test('a little memory is not measured, and a part that may be counted twice is not waited for', () => {
		const small = { ...evict, predicted: { ...evict.predicted, totalBytes: 50 * MiB } };
		expect(fold(small, [sending, answer(0), sightAt(stopped, 3), sightAt(stopped, 4)]).outcome).toBe('verified');
		const doubtful = { ...evict, predicted: { ...evict.predicted, totalBytes: 12 * GiB, doubtfulBytes: 4 * GiB } };
		expect(fold(doubtful, [sending, answer(0), sightAt(stopped, 3), sightAt(back, 4)]).outcome).toBe('verified');
	});
	test('not sent is failed, with nothing touched', () => {
		const event: OperationEvent = { type: 'notSent', at: at(1), failure: failure('lost', 'no', 'no') };
		expect(fold(evict, [event])).toMatchObject({ outcome: 'failed', failure: { kind: 'lost' } });
	});
});

describe('a restore', () => {
	const up: Sight = { ...running, run: 'e'.repeat(32), survivors: [] };
	test('is verified when it runs and holds its memory again', () => {
		const loading = fold(restore, [sending, answer(0), sightAt(stopped, 2), sightAt({ ...up, gpuBytes: GiB }, 3)]);
		expect(loading.phase).toBe('measuring');
		expect(fold(restore, [sending, answer(0), sightAt({ ...up, gpuBytes: GiB }, 3), sightAt(up, 9)]).outcome).toBe(
			'verified',
		);
	});
	test('fails when the unit fails, and says where to look', () => {
		const done = fold(restore, [sending, answer(0), sightAt({ ...stopped, state: 'failed' }, 3)]);
		expect(done).toMatchObject({ outcome: 'failed' });
		expect(done.failure?.hint).toContain('journalctl -u r.service');
	});
	test('is not failed by a state that is left over from its stop', () => {
		const left: Sight = { ...stopped, state: 'failed', fresh: false };
		expect(fold(restore, [sending, answer(0), sightAt(left, 3)]).phase).toBe('changing');
	});
	test('fails when nothing starts at all', () => {
		expect(fold(restore, [sending, answer(0), sightAt(stopped, 2), sightAt(stopped, 12)]).outcome).toBe('failed');
	});
});

describe('the connection is cut, or the console killed, after every event', () => {
	const script: OperationEvent[] = [sending, answer(0), sightAt(stopping, 2), sightAt(stopped, 4), sightAt(back, 6)];
	test.each(script.map((_, index) => index))('reopened after event %i, the facts tell what became of it', (cut) => {
		// Only journalled events survive: fold those, as replay does.
		let operation = begin({ type: 'intended', at: AT, id: '1', plan: evict })[0];
		const journal: OperationEvent[] = [sending];
		for (const event of script.slice(0, cut)) {
			const [next, effects] = step(operation, event);
			operation = next;
			for (const effect of effects) if (effect.type === 'journal') journal.push(effect.event);
		}
		const reopened = fold(evict, [...journal, { type: 'reopened', at: at(20) }]);
		if (!isLive(operation)) {
			expect(reopened.outcome).toBe(operation.outcome);
			return;
		}
		expect(reopened).toMatchObject({ phase: 'changing', reopened: true });
		const follow = (...events: OperationEvent[]): Operation =>
			events.reduce((one, event) => step(one, event)[0], reopened);
		expect(follow(sightAt(back, 21), sightAt(back, 22)).outcome).toBe('verified');
		expect(follow(sightAt(running, 21), sightAt(running, 29)).failure?.kind).toBe('lost');
		expect(follow(sightAt(stopping, 21)).phase).toBe('changing');
	});
});

test('whatever happens, an ended operation stays as it is, and verified always rests on facts', () => {
	const sight = fc.record({
		state: fc.constantFrom<Sight['state']>('active', 'activating', 'deactivating', 'inactive', 'failed', 'absent'),
		hasJob: fc.boolean(),
		run: fc.constantFrom(run, '', 'f'.repeat(32)),
		survivors: fc.constantFrom<string[]>([], ['x (pid 1)']),
		availableBytes: fc.integer({ min: 0, max: 120 * GiB }),
		gpuBytes: fc.option(fc.integer({ min: 0, max: 10 * GiB })),
	});
	const event = fc.oneof(
		fc.constant(sending),
		fc.constantFrom(0, 1, 5, 75, null).map((code) => answer(code)),
		fc
			.tuple(sight, fc.integer({ min: 1, max: 400 }))
			.map(([one, seconds]) => sightAt({ ...one, at: 0, bootId: 'boot-1', fresh: true }, seconds)),
		fc.constant<OperationEvent>({ type: 'reopened', at: at(5) }),
	);
	fc.assert(
		fc.property(fc.constantFrom(evict, restore), fc.array(event, { maxLength: 12 }), (plan, events) => {
			let operation = begin({ type: 'intended', at: AT, id: '1', plan })[0];
			for (const one of events) {
				const before = operation;
				operation = step(operation, one)[0];
				if (before.phase === 'ended') expect(operation).toBe(before);
				if (operation.outcome === 'verified' && plan.kind === 'evict' && before.outcome === null) {
					expect(operation.last?.survivors).toEqual([]);
					expect(['inactive', 'failed', 'absent']).toContain(operation.last?.state);
					expect(operation.last?.gpuBytes ?? 0).toBe(0);
					expect(operation.gainedBytes).toBeGreaterThan(plan.predicted.totalBytes * 0.89);
				}
			}
			expect(JSON.parse(JSON.stringify(operation))).toEqual(operation);
		}),
		{ numRuns: 2000 },
	);
});
