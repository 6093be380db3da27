import { describe, expect, test } from 'vitest';
import { failure } from '../../src/domain/failure.ts';
import { AT } from '../support/observation.ts';
import { story } from '../support/state.ts';
import { frame, show } from './show.tsx';

const DOWN = '\u001b[B';
const RIGHT = '\u001b[C';

describe('the deck', () => {
	test.each([
		[120, 35],
		[80, 24],
		[200, 60],
		[60, 16],
		[100, 30],
		[40, 10],
		[250, 70],
	])('at %i×%i', async (columns, rows) => {
		const { term } = await show(story(), columns, rows);
		await expect(frame(term.rows())).toMatchFileSnapshot(`../frames/deck-${columns}x${rows}.txt`);
		for (const row of term.rows()) expect(row.length).toBeLessThanOrEqual(columns);
	});
	test('with a host that is down and one that never answered', async () => {
		const lost = failure(
			'unreachable',
			'spark-1a32 (10.0.0.1:22) refuses connections',
			'Is sshd running there? It is tried again',
		);
		const state = story(
			{ type: 'link', host: 'spark-1a32', link: { state: 'down', since: AT, failure: lost, nextTryAt: AT + 8000 } },
			{ type: 'clock', now: AT + 6000 },
		);
		const { term } = await show(state, 120, 35);
		await expect(frame(term.rows())).toMatchFileSnapshot('../frames/deck-down.txt');
	});
	test('after a resize is what a fresh start would draw', async () => {
		const grown = await show(story(), 80, 24);
		for (const [columns, rows] of [
			[120, 35],
			[40, 10],
			[200, 60],
			[6, 3],
			[100, 30],
		] as const) {
			await grown.resize(columns, rows);
			const fresh = await show(story(), columns, rows);
			expect(grown.term.cells()).toEqual(fresh.term.cells());
		}
	});
	test('without colour every state still has its mark or word', async () => {
		const { term } = await show(story(), 120, 35, 'none');
		const screen = term.rows().join('\n');
		for (const mark of ['● spark-1a32', '▸', '⚑', 'AAAA', '░', '?']) expect(screen).toContain(mark);
		for (const row of term.cells()) for (const cell of row) expect([cell.fg, cell.bg]).toEqual(['', '']);
	});
	test('a description full of escape sequences reaches the screen as text', async () => {
		const state = story();
		const host = state.hosts[0]!;
		const services = host.services.map((one) => ({
			...one,
			description: '\u001b]0;owned\u0007\u001b[2Jevil\u009b31m\u202e',
		}));
		const { term } = await show({ ...state, hosts: [{ ...host, services }, state.hosts[1]!] }, 120, 35);
		expect(term.rows().join('\n')).toContain('␛]0;owned');
		expect(term.rows()[0]).toContain('sparkdeck');
	});
});

describe('keys', () => {
	test('select, ask, cancel', async () => {
		const screen = await show(story(), 120, 35);
		await screen.press(DOWN, 'e');
		await expect(frame(screen.term.rows())).toMatchFileSnapshot('../frames/dialog-120x35.txt');
		await screen.press('\r');
		expect(screen.term.rows().join('\n')).not.toContain('[ Cancel ]');
		expect(screen.intents.some((intent) => intent.type === 'execute')).toBe(false);
	});
	test('the dialog takes the keys, and the other button acts', async () => {
		const screen = await show(story(), 80, 24);
		await screen.press(DOWN, 'e', 'q', 'j');
		await expect(frame(screen.term.rows())).toMatchFileSnapshot('../frames/dialog-80x24.txt');
		expect(screen.intents.some((intent) => intent.type === 'quit')).toBe(false);
		await screen.press(RIGHT, '\r');
		expect(screen.intents.at(-1)).toMatchObject({ type: 'execute', plan: { name: 'vllm-reranker.service' } });
	});
	test('what can’t be read in full can’t be confirmed', async () => {
		const screen = await show(story(), 120, 35);
		await screen.press(DOWN, 'e', RIGHT);
		await screen.resize(60, 9);
		await screen.press('\r');
		expect(screen.intents.some((intent) => intent.type === 'execute')).toBe(false);
	});
	test.each([
		['?', 'help'],
		['w', 'sources'],
		['\r', 'details'],
	])('%j opens %s, esc closes it', async (key, name) => {
		const screen = await show(story(), 100, 40);
		await screen.press(key);
		await expect(frame(screen.term.rows())).toMatchFileSnapshot(`../frames/${name}-100x40.txt`);
		await screen.press('\u001b');
		await new Promise((resolve) => setTimeout(resolve, 150));
		await screen.settle();
		expect(screen.term.rows().join('\n')).toContain('services');
	});
	test('q asks to quit', async () => {
		const screen = await show(story(), 120, 35);
		await screen.press('q');
		expect(screen.intents).toEqual([{ type: 'quit' }]);
	});
});
