import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { failure } from '../../src/domain/failure.ts';
import type { Plan } from '../../src/domain/plan.ts';
import { openJournal, parseJournal, readJournal } from '../../src/execution/journal.ts';
import { replay } from '../../src/execution/replay.ts';
import { type Answer, createRunner } from '../../src/execution/runner.ts';
import type { Operation, OperationEvent } from '../../src/operations/operation.ts';
import { attribute } from '../../src/planning/attribution.ts';
import { planEviction } from '../../src/planning/eviction.ts';
import { AT, observation, settings, unit } from '../support/observation.ts';

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'sparkdeck-journal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const seen = observation({ units: [unit('r.service')] });
const planned = planEviction(attribute(seen, settings).services[0]!, seen);
if (!planned.ok) throw new Error('no plan');
const plan: Plan = planned.value;
const by = { pid: 1, started: 2 };
const intended: OperationEvent = { type: 'intended', at: AT, id: 'one', plan };

const open = async (config = 'a.yaml') => {
	const opened = await openJournal(join(folder, 'state'), by, config);
	if (!opened.ok) throw new Error(opened.failure.cause);
	return opened.value;
};

describe('the journal', () => {
	test('keeps entries in order, in a file that is the owner’s alone', async () => {
		const journal = await open();
		await Promise.all([journal.append('one', intended), journal.append('one', { type: 'sending', at: AT + 1 })]);
		await journal.close();
		expect(statSync(journal.path).mode & 0o777).toBe(0o600);
		expect(statSync(join(folder, 'state')).mode & 0o777).toBe(0o700);
		const { entries, unreadable } = await readJournal(join(folder, 'state'));
		expect(entries.map((entry) => entry.event.type)).toEqual(['intended', 'sending']);
		expect(entries[0]).toMatchObject({
			v: 1,
			operation: 'one',
			by,
			config: 'a.yaml',
			time: new Date(AT).toISOString(),
		});
		expect(unreadable).toBe(0);
	});
	test('half a line of a crash costs that line and no other', async () => {
		const first = await open();
		await first.append('one', intended);
		await first.close();
		appendFileSync(first.path, '{"v":1,"oper');
		const second = await open();
		await second.append('one', { type: 'sending', at: AT });
		await second.close();
		const { entries, unreadable } = await readJournal(join(folder, 'state'));
		expect(entries).toHaveLength(2);
		expect(unreadable).toBe(1);
	});
	test('is not there: nothing was done', async () => {
		expect(await readJournal(join(folder, 'nowhere'))).toEqual({ entries: [], unreadable: 0 });
	});
	test('can’t be opened: a failure, no exception', async () => {
		const opened = await openJournal(join(import.meta.filename, 'x'), by, 'a.yaml');
		expect(!opened.ok && opened.failure.hint).toContain('XDG_STATE_HOME');
	});
	test('reads any text', () => {
		fc.assert(
			fc.property(fc.array(fc.oneof(fc.string(), fc.json())), (lines) => {
				const { entries, unreadable } = parseJournal(lines.join('\n'));
				expect(entries.length + unreadable).toBeLessThanOrEqual(lines.join('\n').split('\n').length);
			}),
		);
	});
});

describe('replay', () => {
	const entry = (event: OperationEvent, config = 'a.yaml') => ({
		v: 1 as const,
		time: '',
		operation: 'one',
		by,
		config,
		event,
	});
	const sending: OperationEvent = { type: 'sending', at: AT };
	test('what a dead console left in flight is taken over, and nothing of another configuration', () => {
		expect(replay([entry(intended), entry(sending)], 'a.yaml', () => false).abandoned).toHaveLength(1);
		expect(replay([entry(intended), entry(sending)], 'b.yaml', () => false)).toEqual({ operations: [], abandoned: [] });
	});
	test('what a living console has in flight is left to it', () => {
		expect(replay([entry(intended), entry(sending)], 'a.yaml', () => true)).toEqual({ operations: [], abandoned: [] });
	});
	test('an operation that ended is history', () => {
		const ended: OperationEvent = { type: 'notSent', at: AT, failure: failure('lost', 'x', 'y') };
		const { operations, abandoned } = replay([entry(intended), entry(sending), entry(ended)], 'a.yaml', () => false);
		expect(operations[0]?.outcome).toBe('failed');
		expect(abandoned).toEqual([]);
	});
});

describe('the runner', () => {
	const rig = (exec: (line: string) => Promise<Answer>, broken = false) => {
		const log: string[] = [];
		const states: Operation[] = [];
		const runner = createRunner({
			journal: {
				path: '',
				append: async (_, event) => {
					log.push(`journal ${event.type}`);
					return broken
						? { ok: false, failure: failure('internal', 'disk full', 'make room') }
						: { ok: true, value: undefined };
				},
				close: async () => {},
			},
			hosts: {
				exec: (_, line) => {
					log.push('exec');
					return exec(line);
				},
				watch: (host, manager, name) => log.push(`watch ${host} ${manager} ${name}`),
			},
			changed: (operation) => states.push(operation),
			userOf: () => 'spark',
			now: () => AT,
			newId: () => 'one',
		});
		return { runner, log, states };
	};
	const accepted = async (): Promise<Answer> => ({ sent: true, code: 0, stderr: '' });

	test('syncs intended and sending before it sends', async () => {
		const { runner, log } = rig(accepted);
		await runner.run(plan);
		expect(log).toEqual([
			'watch spark-a system r.service',
			'journal intended',
			'journal sending',
			'exec',
			'journal answered',
		]);
	});
	test('sends nothing that could not be written down', async () => {
		const { runner, log, states } = rig(accepted, true);
		await runner.run(plan);
		expect(log).not.toContain('exec');
		expect(states.at(-1)).toMatchObject({ outcome: 'failed', failure: { cause: 'disk full' } });
	});
	test('one command at a time on a host', async () => {
		let release: (answer: Answer) => void = () => {};
		const { runner, log } = rig(() => new Promise((resolve) => (release = resolve)));
		const first = runner.run(plan);
		const second = runner.run(plan);
		await new Promise((resolve) => setImmediate(resolve));
		expect(log.filter((line) => line === 'exec')).toHaveLength(1);
		release({ sent: true, code: 0, stderr: '' });
		await first;
		await new Promise((resolve) => setImmediate(resolve));
		expect(log.filter((line) => line === 'exec')).toHaveLength(2);
		release({ sent: true, code: 0, stderr: '' });
		await second;
	});
	test('sees an operation through from observations', async () => {
		const { runner, states } = rig(accepted);
		await runner.run(plan);
		expect(runner.isBusy('spark-a')).toBe(true);
		const gone = observation({ units: [], at: AT + 1000 });
		runner.observe(gone, attribute(gone, settings).services);
		expect(states.at(-1)).toMatchObject({ phase: 'ended', outcome: 'verified' });
		expect(runner.isBusy('spark-a')).toBe(false);
	});
	test('an observation from before the command says nothing', async () => {
		const { runner, states } = rig(accepted);
		await runner.run(plan);
		const old = observation({ units: [], at: AT - 1 });
		runner.observe(old, []);
		expect(states.at(-1)?.phase).toBe('changing');
	});
});
