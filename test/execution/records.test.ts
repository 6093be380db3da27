import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { invoke } from '../../src/commands/index.ts';
import { openRecords } from '../../src/main/records.ts';
import type { Event } from '../../src/store/events.ts';
import { reduce } from '../../src/store/reduce.ts';
import { story } from '../support/state.ts';

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'sparkdeck-records-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = async (at: string): Promise<Event[]> => {
	const records = openRecords({
		folder: at,
		config: 'a.yaml',
		hosts: { exec: async () => ({ sent: true, code: 0, stderr: '' }), watch: () => {} },
		changed: () => {},
		userOf: () => '',
		newId: () => 'one',
	});
	const events = await records.open();
	await records.close();
	return events;
};

test('a journal that can’t be read or written: evict says so, and does nothing', async () => {
	mkdirSync(join(folder, 'journal.jsonl'));
	writeFileSync(join(folder, 'file'), '');
	for (const [at, what] of [
		[folder, /can't be read: EISDIR/],
		[join(folder, 'file'), /can't be read: ENOTDIR/],
	] as const) {
		const events = await open(at);
		expect(events).toContainEqual({ type: 'readOnly', reason: expect.stringMatching(what) });
		expect(events.at(-1)).toMatchObject({ type: 'notice', failure: { hint: expect.stringMatching(/./) } });
		const state = events.reduce(reduce, story());
		expect(state.readOnly).toMatch(what);
		const intents = invoke('evict', state);
		expect(intents).toEqual([
			{ type: 'event', event: expect.objectContaining({ type: 'notice', text: `evict: ${state.readOnly}` }) },
		]);
	}
});
test('a journal that is not there and can’t be made', async () => {
	symlinkSync(join(folder, 'nowhere', 'journal.jsonl'), join(folder, 'journal.jsonl'));
	const events = await open(folder);
	expect(events).toContainEqual({ type: 'readOnly', reason: expect.stringMatching(/can't be written: ENOENT/) });
});
test('--read-only is the reason that is told, also without a journal', () => {
	const asked = { ...story(), readOnly: 'asked for' };
	expect(reduce(asked, { type: 'readOnly', reason: 'no journal' }).readOnly).toBe('asked for');
});
test('lines that are not understood are counted and told; all else works', async () => {
	expect(await open(folder)).toEqual([{ type: 'journalRead', operations: [] }]);
	const base = { v: 1, operation: 'x', by: { pid: 1, started: 1 }, config: 'a.yaml' };
	for (const event of [
		{ type: 'intended', at: 1, id: 'x' },
		{ type: 'pondered', at: 1 },
	]) {
		appendFileSync(join(folder, 'journal.jsonl'), `${JSON.stringify({ ...base, event })}\n`);
	}
	expect(await open(folder)).toEqual([
		{ type: 'journalRead', operations: [] },
		expect.objectContaining({ type: 'notice', text: "2 lines of the journal can't be read and are left out" }),
	]);
});
