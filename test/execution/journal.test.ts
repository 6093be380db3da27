import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { failure } from '../../src/domain/failure.ts';
import type { Plan } from '../../src/domain/plan.ts';
import type { Entry } from '../../src/execution/entry.ts';
import { openJournal, readJournal } from '../../src/execution/journal.ts';
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
const all = attribute(seen, settings).services;
const [service] = all;
const planned = planEviction(service!, all, seen);
if (!planned.ok) throw new Error('no plan');
const plan: Plan = planned.value;
const by = { pid: 1, started: 2, run: 'boot:3' };
const intended: OperationEvent = { type: 'intended', at: AT, id: 'one', plan };
const sending = (at = AT): OperationEvent => ({ type: 'sending', at, availableBefore: null });

const open = async (config = 'a.yaml') => {
	const opened = await openJournal(join(folder, 'state'), by, config);
	if (!opened.ok) throw new Error(opened.failure.cause);
	return opened.value;
};

const read = async (from = join(folder, 'state')) => {
	const entries: Entry[] = [];
	const bad = await readJournal(from, (entry) => entries.push(entry));
	if (!bad.ok) throw new Error(bad.failure.cause);
	return { entries, unreadable: bad.value };
};

describe('the journal', () => {
	test('keeps entries in order, in a file that is the owner’s alone', async () => {
		const journal = await open();
		await Promise.all([journal.append('one', intended), journal.append('one', sending(AT + 1))]);
		await journal.close();
		expect(statSync(journal.path).mode & 0o777).toBe(0o600);
		expect(statSync(join(folder, 'state')).mode & 0o777).toBe(0o700);
		const { entries, unreadable } = await read();
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
		await second.append('one', sending());
		await second.close();
		const { entries, unreadable } = await read();
		expect(entries).toHaveLength(2);
		expect(unreadable).toBe(1);
	});
	test('is not there: nothing was done', async () => {
		expect(await read(join(folder, 'nowhere'))).toEqual({ entries: [], unreadable: 0 });
	});
	test('can’t be opened: a failure, no exception', async () => {
		const opened = await openJournal(join(import.meta.filename, 'x'), by, 'a.yaml');
		expect(!opened.ok && opened.failure.hint).toContain('XDG_STATE_HOME');
	});
	test('half a line of a full disk, or of another console, while it is open costs that line and no other', async () => {
		const journal = await open();
		await journal.append('one', intended);
		appendFileSync(journal.path, '{"v":1,"operation":"one","ev');
		await journal.append('one', sending());
		await journal.append('one', { type: 'reopened', at: AT });
		await journal.close();
		const { entries, unreadable } = await read();
		expect(entries.map((entry) => entry.event.type)).toEqual(['intended', 'sending', 'reopened']);
		expect(unreadable).toBe(1);
	});
	test('a time that is none is a failure, and no line', async () => {
		const journal = await open();
		expect((await journal.append('one', sending(Number.NaN))).ok).toBe(false);
		await journal.close();
		expect(await read()).toEqual({ entries: [], unreadable: 0 });
	});
	test('can’t be read: a failure, not an empty journal', async () => {
		mkdirSync(join(folder, 'state', 'journal.jsonl'), { recursive: true });
		const result = await readJournal(join(folder, 'state'), () => {});
		expect(!result.ok && result.failure).toMatchObject({
			kind: 'unreadable',
			hint: expect.stringMatching(/move it away/),
		});
		expect(!result.ok && result.failure.cause).toMatch(/journal\.jsonl can't be read: EISDIR/);
	});
	test('lines over the borders of what is read at once, characters of several bytes, and a line without end', async () => {
		const journal = await open('ä€😀.yaml');
		for (let index = 0; index < 200; index += 1) await journal.append(`é${index}`, intended);
		appendFileSync(journal.path, Buffer.alloc(9 * 1024 * 1024));
		await journal.append('last', intended);
		await journal.close();
		const { entries, unreadable } = await read();
		expect(entries.map((entry) => entry.operation)).toEqual([
			...Array.from({ length: 200 }, (_, index) => `é${index}`),
			'last',
		]);
		expect(new Set(entries.map((entry) => entry.config))).toEqual(new Set(['ä€😀.yaml']));
		expect(unreadable).toBe(1);
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
			newId: () => `operation ${log.length}`,
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
			'watch spark-a system r.service',
			'journal answered',
		]);
	});
	test('sends nothing that could not be written down', async () => {
		const { runner, log, states } = rig(accepted, true);
		await runner.run(plan);
		expect(log).not.toContain('exec');
		expect(states.at(-1)).toMatchObject({ outcome: 'failed', failure: { cause: 'disk full' } });
	});
	test('one operation at a time on a host: the next is sent when the facts have ended the one before', async () => {
		let release: (answer: Answer) => void = () => {};
		const { runner, log } = rig(() => new Promise((resolve) => (release = resolve)));
		const first = runner.run(plan);
		const second = runner.run(plan);
		await new Promise((resolve) => setImmediate(resolve));
		expect(log.filter((line) => line === 'exec')).toHaveLength(1);
		release({ sent: true, code: 0, stderr: '' });
		await first;
		expect(log.filter((line) => line === 'exec')).toHaveLength(1);
		const gone = observation({ units: [], at: AT + 1000 });
		runner.observe(gone, () => attribute(gone, settings).services);
		await new Promise((resolve) => setImmediate(resolve));
		expect(log.filter((line) => line === 'exec')).toHaveLength(2);
		release({ sent: true, code: 0, stderr: '' });
		await second;
	});
	test('sees an operation through from observations', async () => {
		const { runner, states } = rig(accepted);
		await runner.run(plan);
		expect(states.at(-1)?.phase).toBe('changing');
		const gone = observation({ units: [], at: AT + 1000 });
		runner.observe(gone, () => attribute(gone, settings).services);
		expect(states.at(-1)).toMatchObject({ phase: 'ended', outcome: 'verified' });
	});
	test('an observation from before the command says nothing', async () => {
		const { runner, states } = rig(accepted);
		await runner.run(plan);
		const old = observation({ units: [], at: AT - 1 });
		runner.observe(old, () => []);
		expect(states.at(-1)?.phase).toBe('changing');
	});
});
