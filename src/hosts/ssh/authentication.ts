import type { AuthenticationType, AuthHandlerMiddleware, NextAuthHandler, Prompt as Ssh2Prompt } from 'ssh2';
import type { Question } from '../../domain/question.ts';
import type { AuthMethod, SshTarget } from './config.ts';
import type { Credentials } from './credentials.ts';
import { keyringOf } from './keyring.ts';
import type { Ssh2, Vault } from './vault.ts';

/** sshd gives up a login after 120 s (LoginGraceTime of sshd_config(5)); a question must be answered before (ms). */
export const ANSWER_WITHIN = 100_000;

/** Asks the person on behalf of a target; null: nobody answers. */
export type AskFor = (question: Omit<Question, 'id' | 'host'>) => Promise<readonly string[] | null>;

export type Authentication = {
	readonly handler: AuthHandlerMiddleware;
	/** What happened, for the message when it failed. */
	readonly seen: {
		/** Methods that the server still takes, as it said last. */
		offered: readonly string[];
		/** A method was given up because nobody answered. */
		unanswered: boolean;
		/** A password or an answer was refused. */
		refused: boolean;
	};
	/** Keeps what was right: to be called when the connection is ready. */
	readonly accepted: () => void;
};

/**
 * The order of authentication as OpenSSH has it: `none` first, to learn what the server takes (it counts as no try), then
 * the methods of the configuration that the server takes, each until it is exhausted; after a partial success (a second
 * factor) from the start again. A password is tried as often as NumberOfPasswordPrompts says and never by itself again.
 */
export const authenticate = (
	ssh2: Ssh2,
	target: SshTarget,
	credentials: Credentials,
	vault: Vault,
	ask: AskFor,
): Authentication => {
	const username = target.user;
	const who = `${target.user}@${target.alias}`;
	const account = `${target.user}@${target.hostname}:${target.port}`;
	const seen: Authentication['seen'] = { offered: [], unanswered: false, refused: false };
	const asking: AskFor = target.batch ? async () => null : ask;
	let typed: string | null = null;
	/** Keys that were not offered yet. */
	const keys = [...credentials.keys];
	/** Tries left at the methods that ask; refilled after a partial success. */
	const tries = (): Record<Exclude<AuthMethod, 'publickey'>, number> => ({
		'keyboard-interactive': target.passwordPrompts,
		password: target.passwordPrompts,
	});
	let left = tries();
	/**
	 * A key was taken and signed with, and we are asked for more: the server wants a second factor, but ssh2 1.17 hides what
	 * it said of that for keys of an agent. So it is asked once more what it takes.
	 */
	let signed = false;

	const askPassphrase = async (file: string, again: boolean): Promise<string | null> => {
		const answer = await asking({
			about: 'passphrase',
			title: `Key ${file}`,
			text: [again ? 'That was not it.' : `${target.alias} takes this key; it is encrypted.`],
			prompts: [{ text: `Passphrase for ${file}`, echo: false }],
		});
		if (answer === null) seen.unanswered = true;
		return answer?.[0] ?? null;
	};

	const askPassword = async (again: boolean): Promise<string | null> => {
		const known = vault.passwords.get(account);
		if (known !== undefined) {
			// Once: if it is wrong by now, repeating it would lock the account.
			vault.passwords.delete(account);
			return known;
		}
		const answer = await asking({
			about: 'password',
			title: `Log in to ${target.alias}`,
			text: again ? ['That was refused.'] : [],
			prompts: [{ text: `${who}'s password`, echo: false }],
		});
		return answer?.[0] ?? null;
	};

	const challenge = (
		name: string,
		instructions: string,
		prompts: readonly Ssh2Prompt[],
		done: (answers: string[]) => void,
		stop: () => void,
	): void => {
		if (prompts.length === 0) {
			done([]);
			return;
		}
		const single = prompts.length === 1 ? prompts[0] : undefined;
		const isPassword = single !== undefined && single.echo !== true && /password/i.test(single.prompt);
		const again = left['keyboard-interactive'] < target.passwordPrompts - 1;
		const answering = isPassword
			? askPassword(again).then((answer) => (answer === null ? null : [answer]))
			: asking({
					about: 'challenge',
					title: name.trim() || `Log in to ${who}`,
					text: [
						...instructions.split('\n').filter((line) => line.trim() !== ''),
						...(again ? ['That was refused.'] : []),
					],
					prompts: prompts.map((prompt) => ({ text: prompt.prompt.replace(/:\s*$/, ''), echo: prompt.echo === true })),
				});
		void answering.then((answers) => {
			if (answers === null) {
				seen.unanswered = true;
				return stop();
			}
			if (isPassword) typed = answers[0] ?? null;
			done([...answers]);
		});
	};

	const next = (offered: readonly string[], give: NextAuthHandler): void => {
		const stop = (): void => give(false as never);
		for (const method of target.methods) {
			if (!offered.includes(method)) continue;
			if (method === 'publickey') {
				const key = keys.shift();
				if (!key) continue;
				const agent = keyringOf(ssh2, [key], target.agent, vault, askPassphrase, () => {
					signed = true;
				});
				give({ type: 'agent', username, agent });
				return;
			}
			if (left[method] === 0) continue;
			const first = left[method] === target.passwordPrompts;
			if (!first) seen.refused = true;
			left[method] -= 1;
			if (method === 'password') {
				void askPassword(!first).then((password) => {
					typed = password;
					if (password !== null) return give({ type: 'password', username, password });
					seen.unanswered = true;
					stop();
				});
				return;
			}
			if (target.batch) continue;
			give({
				type: 'keyboard-interactive',
				username,
				prompt: (name, instructions, _language, prompts, done) =>
					challenge(name, instructions, prompts, done, () => abandon()),
			});
			return;
		}
		stop();
	};

	let abandon: () => void = () => {};
	return {
		seen,
		handler: (offered: AuthenticationType[] | null, partial: boolean, give) => {
			if (offered === null) {
				give({ type: 'none', username });
				return;
			}
			if (partial || signed) {
				left = tries();
				seen.refused = false;
			}
			if (signed) {
				signed = false;
				give({ type: 'none', username });
				return;
			}
			seen.offered = offered;
			// There is no answer to a prompt that nobody wants to answer: the attempt ends.
			abandon = () => give(false as never);
			next(offered, give);
		},
		accepted: () => {
			if (typed !== null) vault.passwords.set(account, typed);
		},
	};
};
