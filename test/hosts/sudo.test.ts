import { describe, expect, test } from 'vitest';
import { stopUnit, wantsSudoPassword, withSudoPassword } from '../../src/domain/commandLine.ts';
import type { ExecOptions, ExecOutcome } from '../../src/hosts/exec.ts';
import { execWithSudo } from '../../src/hosts/sudo.ts';

const LINE = stopUnit('system', 1000, 'x.service', 'ab').line;
const WANTS = 'sudo: a password is required\n';

/** A host whose sudo takes one password and knows nothing else; counts what was written to it. */
const hostWith = (right: string) => {
	const written: string[] = [];
	const run = async (line: string, { converse }: ExecOptions): Promise<ExecOutcome> => {
		const prompt = /-p (\S+?)'/.exec(line)?.[1];
		if (prompt === undefined) return { sent: true, code: 1, stdout: '', stderr: WANTS };
		let stderr = '';
		const input: string[] = [];
		const say = (text: string): void => {
			stderr += text;
			converse?.(
				stderr,
				(more) => input.push(String(more)),
				() => input.push(''),
			);
		};
		// As it comes over a network: the prompt in two pieces.
		say('Failed to stop x.service: Interactive authentication required.\n');
		say(prompt.slice(0, 9));
		expect(input).toEqual([]);
		say(prompt.slice(9));
		written.push(...input);
		if (input[0] === `${right}\n`) return { sent: true, code: 0, stdout: '', stderr };
		say(`Sorry, try again.\n${prompt}`);
		expect(input).toEqual([input[0], '']);
		return { sent: true, code: 1, stdout: '', stderr: `${stderr}sudo: 1 incorrect password attempt\n` };
	};
	return { run, written };
};

const setUp = (right: string, answers: (string | null)[]) => {
	const { run, written } = hostWith(right);
	const passwords = new Map<string, string>();
	const asked: string[] = [];
	const exec = () =>
		execWithSudo(run, LINE, {
			host: 'head',
			timeoutMs: 1000,
			passwords,
			gone: new AbortController().signal,
			ask: async ({ text }) => {
				asked.push(text.join(' '));
				const answer = answers.shift();
				return answer === null || answer === undefined ? null : [answer];
			},
		});
	return { exec, written, passwords, asked };
};

describe('a command that needs sudo', () => {
	test('is asked for once, and remembered when it was right', async () => {
		const { exec, written, asked, passwords } = setUp('secret', ['secret']);
		expect(await exec()).toMatchObject({ sent: true, code: 0 });
		expect(await exec()).toMatchObject({ sent: true, code: 0 });
		expect(asked).toHaveLength(1);
		expect(written).toEqual(['secret\n', 'secret\n']);
		expect(passwords.get('head')).toBe('secret');
	});
	test('a wrong answer costs one try at the account, and is asked again', async () => {
		const { exec, written, asked } = setUp('secret', ['wrong', 'secret']);
		expect(await exec()).toMatchObject({ code: 0 });
		expect(written).toEqual(['wrong\n', 'secret\n']);
		expect(asked[1]).toBe('That was refused.');
	});
	test('three wrong answers are enough', async () => {
		const { exec, written, passwords } = setUp('secret', ['a', 'b', 'c', 'd']);
		expect(await exec()).toEqual({ sent: true, code: 1, stdout: '', stderr: WANTS });
		expect(written).toHaveLength(3);
		expect(passwords.size).toBe(0);
	});
	test('no answer: the refusal is what the host said', async () => {
		const { exec, written } = setUp('secret', [null]);
		expect(await exec()).toEqual({ sent: true, code: 1, stdout: '', stderr: WANTS });
		expect(written).toEqual([]);
	});
	test('a module that asks for something else gets nothing, and does not wait', async () => {
		const written: string[] = [];
		const run = async (line: string, { converse }: ExecOptions): Promise<ExecOutcome> => {
			if (!line.includes('-S')) return { sent: true, code: 1, stdout: '', stderr: WANTS };
			const stderr = 'Failed to stop x.service: Interactive authentication required.\nVerification code: ';
			converse?.(
				stderr,
				(more) => written.push(String(more)),
				() => written.push('end'),
			);
			return { sent: true, code: 1, stdout: '', stderr: `${stderr}\nsudo: no password was provided\n${WANTS}` };
		};
		const outcome = await execWithSudo(run, LINE, {
			host: 'head',
			timeoutMs: 1000,
			passwords: new Map(),
			gone: new AbortController().signal,
			ask: async () => ['secret'],
		});
		expect(written).toEqual(['end']);
		expect(outcome).toMatchObject({ stderr: 'sudo: a password is required by a prompt of PAM: Verification code:\n' });
	});
	test('one that was right once and is not any more is tried once, then asked for', async () => {
		const { exec, written, passwords, asked } = setUp('new', ['new']);
		passwords.set('head', 'old');
		expect(await exec()).toMatchObject({ code: 0 });
		expect(written).toEqual(['old\n', 'new\n']);
		expect(asked).toHaveLength(1);
	});
});

test('only commands of ours that go through sudo are asked for', () => {
	expect(wantsSudoPassword(LINE, WANTS)).toBe(true);
	expect(wantsSudoPassword(LINE, 'sudo: interactive authentication is required\n')).toBe(true);
	expect(wantsSudoPassword(stopUnit('user', 1000, 'x.service', 'ab').line, WANTS)).toBe(false);
	expect(wantsSudoPassword(LINE, 'a password is required')).toBe(false);
	expect(withSudoPassword('a b', 'p')).toBe("exec env 'SPARKDECK_SUDO=-k -S -p p' sh -c 'a b'");
});
