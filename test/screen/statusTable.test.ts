import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { failure } from '../../src/domain/failure.ts';
import { columnsOf } from '../../src/screen/frame/width.ts';
import { statusText } from '../../src/screen/statusTable.tsx';
import type { State } from '../../src/store/state.ts';
import { AT, observation, process_, sum, unit } from '../support/observation.ts';
import { story } from '../support/state.ts';

const lines = (room: number, state: State = story(), failures = new Map()): string[] =>
	stripVTControlCharacters(statusText(state, failures, room)).split('\n');
/** Every row of a table ends where its frame does. */
const expectWhole = (text: readonly string[]): void => {
	let width = 0;
	for (const line of text) {
		if (line.startsWith('┌')) width = columnsOf(line);
		if (/^[┌├└│]/.test(line)) {
			expect(columnsOf(line), line).toBe(width);
			expect(line).toMatch(/[┐┤┘│]$/);
		}
	}
};

describe('status for people', () => {
	test.each([60, 80, 120, Number.POSITIVE_INFINITY])('at %d columns no row is broken or too wide', (room) => {
		const text = lines(room);
		expectWhole(text);
		for (const line of text) expect(columnsOf(line), line).toBeLessThanOrEqual(room);
		expect(text.filter((line) => /│ vllm-reranker +│/.test(line))).toHaveLength(2);
	});
	test('columns are left out one after the other, and then names are cut', () => {
		const heading = (room: number) =>
			lines(room)
				.find((line) => line.includes('service'))!
				.split('│')
				.map((cell) => cell.trim())
				.filter((cell) => cell !== '');
		expect(heading(80)).toEqual(['host', 'service', 'manager', 'state', 'GPU GiB', 'host GiB', 'keep']);
		expect(heading(67)).toEqual(['host', 'service', 'state', 'GPU GiB', 'host GiB', 'keep']);
		expect(heading(60)).toEqual(['host', 'service', 'state', 'GPU GiB', 'host GiB']);
		expect(heading(50)).toEqual(['host', 'service', 'state', 'GPU GiB']);
		expect(heading(36)).toEqual(['host', 'service', 'GPU GiB']);
		expect(lines(32).find((line) => line.includes('vllm-emb') && line.includes('1a32'))).toContain('…');
		expectWhole(lines(32));
	});
	test('narrower than any table it is still whole', () => expectWhole(lines(5)));
	test('in a pipe nothing is cut, however long', () => {
		const why = failure('timeout', `${'long '.repeat(60)}cause`, 'a hint');
		const text = lines(Number.POSITIVE_INFINITY, story(), new Map([['spark-1a32', why]]));
		expect(text).toContain(`  ${why.cause}`);
		expect(text).toContain('  a hint');
	});
	test('names that are wide, or would move the cursor, do not move the frame', () => {
		const name = '模型-é\u0301\u001b[31m👩‍👩‍👧-x';
		const strange = observation({
			host: 'spark-1a32',
			at: AT + 1,
			units: [unit(`${name}.service`)],
			processes: [process_(11, '/system.slice/m.service', { name })],
			cgroups: [sum('/system.slice/m.service', 2 ** 32)],
			gpu: [[11, 2 ** 33]],
		});
		for (const room of [60, 80, Number.POSITIVE_INFINITY]) {
			expectWhole(lines(room, story({ type: 'observed', observation: strange })));
		}
	});
	test('why a host is not whole stands under its name', () => {
		const why = failure('lost', 'it is gone', 'look for it');
		const text = lines(80, story(), new Map([['spark-5be3', why]]));
		const at = text.findIndex((line) => line.startsWith('● spark-5be3'));
		expect(text.slice(at + 1, at + 3)).toEqual(['  it is gone', '  look for it']);
	});
});
