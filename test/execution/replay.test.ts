import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failure } from '../../src/domain/failure.ts';
import type { Plan } from '../../src/domain/plan.ts';
import { type Entry, parseEntry } from '../../src/execution/entry.ts';
import { createReplay } from '../../src/execution/replay.ts';
import { isLive, type OperationEvent, type Sight } from '../../src/operations/operation.ts';
import { attribute } from '../../src/planning/attribution.ts';
import { planEviction } from '../../src/planning/eviction.ts';
import { reduce } from '../../src/store/reduce.ts';
import { detailsView } from '../../src/store/select/details.ts';
import { tableView } from '../../src/store/select/table.ts';
import { whyView } from '../../src/store/select/why.ts';
import { AT, observation, settings, unit } from '../support/observation.ts';
import { story } from '../support/state.ts';

const seen = observation({ units: [unit('r.service')] });
const all = attribute(seen, settings).services;
const planned = planEviction(all[0]!, all, seen);
if (!planned.ok) throw new Error('no plan');
const plan: Plan = planned.value;
const by = { pid: 1, started: 2, run: null };
const sight: Sight = {
	at: AT + 2,
	bootId: plan.bootId,
	state: 'inactive',
	hasJob: false,
	fresh: true,
	run: '',
	survivors: [],
	availableBytes: 100,
	gpuBytes: null,
};
const intended: OperationEvent = { type: 'intended', at: AT, id: 'one', plan };
const sending: OperationEvent = { type: 'sending', at: AT, availableBefore: 5 };
const entry = (event: OperationEvent, config = 'a.yaml'): Entry => ({
	v: 1,
	time: '',
	operation: 'one',
	by,
	config,
	event,
});
const EVENTS: readonly OperationEvent[] = [
	intended,
	sending,
	{ type: 'answered', at: AT + 1, code: 1, stderr: 'access denied', user: 'spark' },
	{ type: 'answered', at: AT + 1, code: null, stderr: '', user: '' },
	{ type: 'answered', at: AT + 1, code: 0, stderr: '', user: '' },
	{ type: 'notSent', at: AT + 1, failure: failure('lost', 'x', 'y') },
	{ type: 'seen', at: AT + 2, sight },
	{ type: 'reopened', at: AT + 3 },
];

const replay = (
	entries: readonly Entry[],
	config = 'a.yaml',
	isAlive: (writer: Entry['by']) => boolean = () => false,
) => {
	const folded = createReplay(config, isAlive);
	for (const one of entries) folded.add(one);
	return folded.done();
};
const parse = (value: unknown): Entry | null => parseEntry(JSON.stringify(value));

describe('replay', () => {
	test('what a dead console left in flight is taken over, and nothing of another configuration', () => {
		expect(replay([entry(intended), entry(sending)]).abandoned).toHaveLength(1);
		expect(replay([entry(intended), entry(sending)], 'b.yaml')).toEqual({ operations: [], abandoned: [] });
	});
	test('what a living console has in flight is left to it', () => {
		expect(replay([entry(intended), entry(sending)], 'a.yaml', () => true)).toEqual({ operations: [], abandoned: [] });
	});
	test('whoever wrote last is asked for', () => {
		const asked: number[] = [];
		const later = { ...entry({ type: 'reopened', at: AT }), by: { ...by, pid: 9 } };
		replay([entry(intended), later], 'a.yaml', ({ pid }) => asked.push(pid) > 0);
		expect(asked).toEqual([9]);
	});
	test('an operation that ended is history', () => {
		const ended: OperationEvent = { type: 'notSent', at: AT, failure: failure('lost', 'x', 'y') };
		const { operations, abandoned } = replay([entry(intended), entry(sending), entry(ended)]);
		expect(operations[0]?.outcome).toBe('failed');
		expect(abandoned).toEqual([]);
	});
});

describe('an entry', () => {
	test.each(EVENTS)('is read as it was written: $type', (event) => {
		expect(parse(entry(event))).toEqual(entry(event));
	});
	test('of an older version is read: what it lacks is filled in', () => {
		const { bootId: _, also: __, ...older } = plan;
		const old = { ...entry(intended), by: { pid: 1, started: 2 }, event: { ...intended, plan: older } };
		expect(parse(old)).toMatchObject({ by: { run: null }, event: { plan: { bootId: '', also: [] } } });
		expect(parse({ ...entry(sending), event: { type: 'sending', at: AT } })).toMatchObject({
			event: { availableBefore: null },
		});
	});
	test('of a newer version that is not understood is none', () => {
		expect(parse({ ...entry(intended), v: 2 })).toBe(null);
		expect(parse({ ...entry(intended), event: { type: 'intended', at: AT, id: 'one' } })).toBe(null);
		expect(parse({ ...entry(intended), event: { type: 'pondered', at: AT } })).toBe(null);
		expect(parse({ ...entry(intended), event: { ...intended, plan: { ...plan, kind: 'move' } } })).toBe(null);
		expect(parse({ ...entry(sending), event: { ...sending, at: 9e15 } })).toBe(null);
		expect(parseEntry('{"v":1')).toBe(null);
		expect(parseEntry(`${'['.repeat(200_000)}`)).toBe(null);
	});
	test('that is not understood leaves its operation as it is', () => {
		const strange = { ...entry(sending), event: { type: 'pondered', at: AT } } as unknown as Entry;
		expect(replay([entry(intended), strange, entry(sending)])).toEqual(replay([entry(intended), entry(sending)]));
	});
});

describe('any journal', () => {
	/** A value with something in it, at any depth, left out or put in another's place. */
	const spoiled = (value: unknown, path: readonly number[], by: unknown): unknown => {
		const [first, ...rest] = path;
		if (first === undefined) return by;
		if (typeof value !== 'object' || value === null) return value;
		const keys = Object.keys(value);
		const key = keys[first % (keys.length || 1)];
		if (key === undefined) return by;
		const inner = spoiled((value as Record<string, unknown>)[key], rest, by);
		return Array.isArray(value)
			? value.map((one, at) => (String(at) === key ? inner : one))
			: { ...value, [key]: inner };
	};
	const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(AT, AT + 1e6, AT + 1e9, -1, 0, 8.64e15));
	const line = fc.oneof(
		{ weight: 6, arbitrary: fc.constantFrom(...EVENTS).map((event) => JSON.stringify(entry(event))) },
		{
			weight: 6,
			arbitrary: fc
				.tuple(
					fc.constantFrom(...EVENTS),
					fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }),
					fc.oneof(number, fc.jsonValue(), fc.string(), fc.constant(undefined)),
				)
				.map(([event, path, by]) => JSON.stringify(spoiled(entry(event), path, by)) ?? ''),
		},
		{
			weight: 4,
			arbitrary: fc
				.record({
					at: number,
					state: fc.constantFrom('active', 'inactive', 'failed', 'absent', 'activating', 'deactivating'),
					bootId: fc.constantFrom(plan.bootId, 'other'),
					hasJob: fc.boolean(),
					run: fc.string(),
					survivors: fc.array(fc.string(), { maxLength: 2 }),
					availableBytes: number,
					gpuBytes: fc.option(number),
				})
				.map((one) => JSON.stringify(entry({ type: 'seen', at: one.at, sight: { ...sight, ...one } as Sight }))),
		},
		fc.json(),
		fc.string(),
	);
	test('is replayed and can be shown', () => {
		fc.assert(
			fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
				const entries = lines.map(parseEntry).filter((one) => one !== null);
				const { operations, abandoned } = replay(entries, entries[0]?.config ?? 'a.yaml');
				expect(abandoned.every((one) => isLive(one) && operations.includes(one))).toBe(true);
				let state = reduce(story(), { type: 'journalRead', operations });
				for (const {
					plan: { service },
				} of operations) {
					state = reduce(state, { type: 'select', service });
					tableView(state);
					whyView(state);
					detailsView(state);
				}
			}),
			{ numRuns: 3000 },
		);
	});
	test('of newer events that no guard stopped, too', () => {
		fc.assert(
			fc.property(fc.array(fc.tuple(fc.string(), fc.integer())), (events) => {
				const strange = events.map(([type, at]) => entry({ type, at } as unknown as OperationEvent));
				expect(replay([entry(intended), ...strange]).operations).toHaveLength(1);
			}),
		);
	});
});
