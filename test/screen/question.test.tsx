import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Question } from '../../src/domain/question.ts';
import type { Event } from '../../src/store/events.ts';
import { story } from '../support/state.ts';
import { frame, show } from './show.tsx';

const sudo: Question = {
	id: '1',
	host: 'spark-1a32',
	about: 'sudo',
	title: 'sudo on spark-1a32',
	text: ['What you confirmed needs sudo there, and sudo wants your password.'],
	prompts: [{ text: 'Your password there', echo: false }],
};
const challenge: Question = {
	id: '2',
	host: 'spark-5be3',
	about: 'challenge',
	title: 'spark-5be3 asks',
	text: ['\u001b[2JEvil \u202eserver', 'says this'],
	prompts: [
		{ text: 'Verification code', echo: true },
		{ text: 'PIN', echo: false },
	],
};
const asked = (question: Question): Event => ({ type: 'asked', question });

const answers = (intents: readonly { type: string }[]) => intents.filter(({ type }) => type === 'answer');

describe('a question', () => {
	test('is told in a line, and takes no key before its own', async () => {
		const { term, press, intents } = await show(story(asked(sudo)), 120, 35);
		expect(term.rows().join('\n')).toContain('? sudo on spark-1a32: Your password there. a answers');
		await press('s', 'e', 'c', '\r');
		expect(answers(intents)).toEqual([]);
		expect(term.rows().join('\n')).not.toContain('•');
	});
	test.each([
		[120, 35],
		[60, 16],
	])('is answered in a dialog at %i×%i', async (columns, rows) => {
		const { term, press, intents, store } = await show(story(asked(sudo), asked(challenge)), columns, rows);
		await press('a', 's', 'é', ' ', 'c');
		await expect(frame(term.rows())).toMatchFileSnapshot(`../frames/question-${columns}x${rows}.txt`);
		await press('\r');
		expect(answers(intents)).toEqual([{ type: 'answer', question: '1', answers: ['sé c'] }]);
		expect(store.get().ui.answering).toBeNull();
	});
	test('of several prompts takes one after the other; a server’s text is text', async () => {
		const { term, press, intents } = await show(story(asked(challenge)), 100, 30);
		await press('a', '1', '2', '\u007f', '3', '\r', 'x', '\u0015', 'p');
		await expect(frame(term.rows())).toMatchFileSnapshot('../frames/question-challenge.txt');
		await press('\r');
		expect(answers(intents)).toEqual([{ type: 'answer', question: '2', answers: ['13', 'p'] }]);
	});
	test('esc does not answer', async () => {
		const { press, intents } = await show(story(asked(sudo)), 100, 30);
		await press('a', 'h', 'a', 'l', 'f', '\u001b');
		// Ink waits a moment whether an escape starts a sequence.
		await vi.waitFor(() => expect(answers(intents)).not.toEqual([]));
		expect(answers(intents)).toEqual([{ type: 'answer', question: '1', answers: null }]);
	});
	test('that nobody waits for any more keeps the keys until it is closed', async () => {
		const { term, press, intents, store, settle } = await show(story(asked(sudo)), 120, 35);
		await press('a', 's', 'e', 'c');
		store.dispatch({ type: 'unasked', id: '1' });
		await settle();
		expect(term.rows().join('\n')).toContain('Nobody waits for this any more.');
		const before = intents.length;
		await press('q', 'e', 'u', '?');
		expect(intents.length).toBe(before);
		expect(store.get().ui).toMatchObject({ dialog: null, view: 'deck' });
		await press('\r');
		expect(store.get().ui.answering).toBeNull();
	});
	test('too small to be read takes nothing', async () => {
		const { press, intents } = await show(story(asked(sudo)), 20, 5);
		await press('a', 'x', '\r');
		expect(answers(intents)).toEqual([]);
	});
	test('whatever is typed, nothing but its answer leaves it', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.constantFrom('q', 'e', 'u', '?', ' ', '\u0012', '\u001b[A', '\u001b[5~', '\t', '\u007f'), {
					maxLength: 12,
				}),
				async (typed) => {
					const { press, intents, store } = await show(story(asked(sudo)), 100, 30);
					await press('a');
					const before = intents.length;
					await press(...typed);
					expect(intents.length).toBe(before);
					expect(store.get().ui.answering?.id).toBe('1');
				},
			),
			{ numRuns: 25 },
		);
	});
});
