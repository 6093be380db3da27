import type { Asker } from '../hosts/asker.ts';
import type { Event } from '../store/events.ts';

/** The console's side of asking: questions go to the store, answers go past it straight to who waits. */
export type Questions = {
	readonly ask: Asker;
	readonly answer: (id: string, answers: readonly string[] | null) => void;
};

export const createQuestions = (dispatch: (event: Event) => void): Questions => {
	const waiting = new Map<string, (answers: readonly string[] | null) => void>();
	let count = 0;
	return {
		ask: (question, gone) =>
			new Promise((resolve) => {
				if (gone.aborted) return resolve(null);
				count += 1;
				const id = String(count);
				const late = (): void => settle(null);
				const settle = (answers: readonly string[] | null): void => {
					gone.removeEventListener('abort', late);
					waiting.delete(id);
					dispatch({ type: 'unasked', id });
					resolve(answers);
				};
				waiting.set(id, settle);
				gone.addEventListener('abort', late);
				dispatch({ type: 'asked', question: { ...question, id } });
			}),
		answer: (id, answers) => waiting.get(id)?.(answers),
	};
};
