import { randomBytes } from 'node:crypto';
import { wantsSudoPassword, withSudoPassword } from '../domain/commandLine.ts';
import type { Asker } from './asker.ts';
import type { ExecOptions, ExecOutcome } from './exec.ts';

export type SudoOptions = {
	readonly host: string;
	readonly timeoutMs: number;
	/** Passwords that were right, by host of the configuration. */
	readonly passwords: Map<string, string>;
	readonly ask: Asker;
	/** Nothing is sent any more when it is aborted: the console ends, or the host is lost. */
	readonly gone: AbortSignal;
};

/** As often as sudo itself asks (passwd_tries). */
const TRIES = 3;
/** How long (ms) a question stands: what was confirmed then must not be done half an hour later. */
const PATIENCE = 120_000;

/**
 * Runs a command that may need sudo: without a password first; where sudo wants one, with one that was right before, or
 * that the person gives now. Each answer is tried once, so that a typing error costs one try and not all of them. The
 * password goes over stdin, and only after sudo has written a prompt that nobody else can know.
 */
export const execWithSudo = async (
	run: (line: string, options: ExecOptions) => Promise<ExecOutcome>,
	line: string,
	{ host, timeoutMs, passwords, ask, gone }: SudoOptions,
): Promise<ExecOutcome> => {
	let outcome = await run(line, { timeoutMs });
	for (let tried = 0; tried < TRIES; tried += 1) {
		if (!outcome.sent || outcome.code === 0 || !wantsSudoPassword(line, outcome.stderr)) return outcome;
		const known = passwords.get(host);
		const password = known ?? (await askFor(host, tried > 0, ask, gone));
		if (password === null || gone.aborted) return outcome;
		passwords.delete(host);
		const answered = await withPassword(run, line, timeoutMs, password);
		if (answered.right) passwords.set(host, password);
		// One that was right before and is wrong now costs the person none of the tries.
		else if (known !== undefined) tried -= 1;
		if (answered.right || !answered.wrong) return answered.outcome;
		outcome = answered.outcome;
	}
	return outcome;
};

const askFor = async (host: string, again: boolean, ask: Asker, gone: AbortSignal): Promise<string | null> => {
	const late = AbortSignal.any([gone, AbortSignal.timeout(PATIENCE)]);
	const answers = await ask(
		{
			host,
			about: 'sudo',
			title: `sudo on ${host}`,
			text: [again ? 'That was refused.' : 'What you confirmed needs sudo there, and sudo wants your password.'],
			prompts: [{ text: 'Your password there', echo: false }],
		},
		late,
	);
	return late.aborted ? null : (answers?.[0] ?? null);
};

type Answered = { readonly outcome: ExecOutcome; readonly right: boolean; readonly wrong: boolean };

const withPassword = async (
	run: (line: string, options: ExecOptions) => Promise<ExecOutcome>,
	line: string,
	timeoutMs: number,
	password: string,
): Promise<Answered> => {
	const prompt = `sparkdeck-${randomBytes(9).toString('hex')}`;
	let prompts = 0;
	let other: string | null = null;
	const outcome = await run(withSudoPassword(line, prompt), {
		timeoutMs,
		converse: (stderr, write, end) => {
			const seen = stderr.split(prompt).length - 1;
			if (seen === 0) other = promptOfAModule(stderr);
			// It will not be answered, so it must not wait.
			if (other !== null) return end();
			if (seen === prompts) return;
			if (prompts === 0) write(`${password}\n`);
			// Asked once more: it was wrong. The same again would only cost a try at the account.
			if (seen > 1) end();
			prompts = seen;
		},
	});
	if (!outcome.sent) return { outcome, right: false, wrong: false };
	if (other !== null) {
		const stderr = `sudo: a password is required by a prompt of PAM: ${other}\n`;
		return { outcome: { ...outcome, stderr }, right: false, wrong: false };
	}
	const wrong = prompts > 1;
	// What is kept of it goes to the journal: the prompt means nothing there, and a module might echo what was typed.
	const clean = (text: string): string => text.replaceAll(prompt, '').replaceAll(password || prompt, '…');
	const stderr = wrong ? `sudo: a password is required\n` : clean(outcome.stderr).trimStart();
	return {
		outcome: { ...outcome, stdout: clean(outcome.stdout), stderr },
		right: prompts === 1 && outcome.code === 0,
		wrong,
	};
};

/**
 * What a module asks in its own words (`Verification code: `): sudo puts its prompt only in the place of a plain
 * `Password: ` (sudo(8), --prompt). Said by a line that has not ended and ends as questions do.
 */
const promptOfAModule = (stderr: string): string | null => {
	const line = stderr.slice(stderr.lastIndexOf('\n') + 1);
	return /\S.*[:?]\s*$/.test(line) ? line.trim() : null;
};
