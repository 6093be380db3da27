import type { Question } from '../domain/question.ts';

/**
 * How a session asks the person: on the terminal before the console starts, in the console's dialog later. Resolves with
 * one answer for each prompt, or null when nobody wants to answer. `gone` ends the asking from the other side: the server
 * did not wait, the connection was lost.
 */
export type Asker = (question: Omit<Question, 'id'>, gone: AbortSignal) => Promise<readonly string[] | null>;

/** For scripts: there is nobody to ask. */
export const askNobody: Asker = async () => null;
