import { type Failure, failure } from '../../domain/failure.ts';
import type { Asker } from '../asker.ts';
import { type AskpassPrompt, questionOfPrompt } from './askpass.ts';
import { ANSWER_WITHIN } from './authentication.ts';
import type { SshTarget } from './config.ts';
import { explainOpenssh, refusedAnswer, whereOf } from './explain.ts';
import { unknownKey } from './knownHosts.ts';
import type { Vault } from './vault.ts';

export type LoginOptions = {
	readonly configFile: string | null;
	readonly vault: Vault;
	readonly ask: Asker;
	/** The host of the configuration on whose way this connection is. */
	readonly host: string;
};

/** One login by the system's ssh: what it asks, how long it may take, and why it failed. */
export type Login = {
	readonly answer: (prompt: AskpassPrompt, gone: AbortSignal) => Promise<string | null>;
	/** What was answered was right. */
	readonly accepted: () => void;
	readonly end: () => void;
	/** Why it failed, from what ssh printed and what was asked. */
	readonly explain: (said: string) => Failure;
};

/** How much longer (ms) than ConnectTimeout, which ends with the key exchange, a login may take. */
const LOGIN_EXTRA = 10_000;

/**
 * Nobody is hurried while a question is open; without one, a host that hangs in the login is given up here, for ssh's own
 * ConnectTimeout ends with the key exchange. A password that nobody gives ends the login before ssh learns it: it would
 * send an empty one, three times, and each counts against the account.
 */
export const startLogin = (target: SshTarget, options: LoginOptions, giveUp: () => void): Login => {
	const { vault, ask, host, configFile } = options;
	const over = new AbortController();
	const given = new Map<string, string>();
	const tried = new Set<string>();
	const seen = { unanswered: false, refused: false };
	let failed: Failure | null = null;
	let open = 0;
	let timer: NodeJS.Timeout | undefined;
	const stop = (why: Failure): null => {
		failed ??= why;
		giveUp();
		return null;
	};
	const hurry = (): void => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			const seconds = target.connectTimeoutMs / 1000;
			stop(
				failure(
					'timeout',
					`${whereOf(target)} did not finish the login within ${seconds} s`,
					'It is tried again by itself',
				),
			);
		}, target.connectTimeoutMs + LOGIN_EXTRA);
	};
	hurry();

	const asked = async (prompt: AskpassPrompt, again: boolean, gone: AbortSignal): Promise<string | null> => {
		const { question } = questionOfPrompt(prompt, target.alias);
		open += 1;
		clearTimeout(timer);
		const text = again ? ['That was refused.', ...question.text] : question.text;
		const late = AbortSignal.any([over.signal, gone, AbortSignal.timeout(ANSWER_WITHIN)]);
		const answers = await ask({ ...question, text, host }, late);
		open -= 1;
		if (open === 0 && !over.signal.aborted) hurry();
		return answers?.[0] ?? null;
	};

	return {
		answer: async (prompt, gone) => {
			const { question, keep } = questionOfPrompt(prompt, target.alias);
			const id = `${target.alias} ${prompt.text}`;
			const again = tried.has(id);
			tried.add(id);
			const known = vault.answers.get(id);
			// Once: what is asked for again was wrong, and repeating it might lock an account.
			vault.answers.delete(id);
			if (keep && known !== undefined && !again) {
				given.set(id, known);
				return known;
			}
			const isSecret = question.about === 'password' || question.about === 'challenge';
			if (again && isSecret) seen.refused = true;
			const answer = seen.unanswered ? null : await asked(prompt, again, gone);
			if (question.about === 'touch') return '';
			if (question.about === 'host-key') {
				if (answer?.trim().toLowerCase() === 'yes') return 'yes';
				const shown = /^(\S+) key fingerprint is (\S+?)\.?$/m.exec(prompt.text);
				return stop(unknownKey(target, configFile, shown ? `${shown[1]} ${shown[2]}` : 'it was not accepted'));
			}
			if (answer === null) {
				seen.unanswered = true;
				if (isSecret) return stop(refusedAnswer(target, seen));
			} else if (keep) given.set(id, answer);
			return answer;
		},
		accepted: () => {
			for (const [id, value] of given) vault.answers.set(id, value);
		},
		end: () => {
			clearTimeout(timer);
			over.abort();
		},
		explain: (said) => failed ?? explainOpenssh(said, target, seen),
	};
};
