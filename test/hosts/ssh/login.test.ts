import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AskpassPrompt, questionOfPrompt, startAskpass } from '../../../src/hosts/ssh/askpass.ts';
import type { SshTarget } from '../../../src/hosts/ssh/config.ts';
import { startLogin } from '../../../src/hosts/ssh/login.ts';
import { createVault, type Vault } from '../../../src/hosts/ssh/vault.ts';

const HOST_KEY = `The authenticity of host '10.77.1.2 (10.77.1.2)' can't be established.
ED25519 key fingerprint is SHA256:Ly5VXzg.
This key is not known by any other names.
Are you sure you want to continue connecting (yes/no/[fingerprint])? `;

describe('a prompt of ssh', () => {
	test.each([
		[
			"Enter passphrase for key '/home/x/.ssh/id_ed25519': ",
			'passphrase',
			'Passphrase for /home/x/.ssh/id_ed25519',
			true,
		],
		["spark@10.77.1.2's password: ", 'password', "spark@10.77.1.2's password", true],
		['(spark@10.77.1.2) Password: ', 'password', '(spark@10.77.1.2) Password', true],
		['(spark@10.77.1.2) Verification code: ', 'challenge', '(spark@10.77.1.2) Verification code', false],
		['Welcome.\n(spark@h) Which token?\n', 'challenge', '(spark@h) Which token', false],
		[HOST_KEY, 'host-key', 'Connect, and remember the key (yes/no)', false],
		["Please type 'yes', 'no' or the fingerprint: ", 'host-key', 'Connect, and remember the key (yes/no)', false],
		['', 'challenge', '', false],
	])('%j', (text, about, prompt, keep) => {
		const asked = questionOfPrompt({ text, hint: 'answer' }, 'spark-a');
		expect([asked.question.about, asked.question.prompts.map((one) => one.text), asked.keep]).toEqual([
			about,
			[prompt],
			keep,
		]);
	});
	test('that is only shown has nothing to type', () => {
		const { question } = questionOfPrompt(
			{ text: 'Confirm user presence for key ED25519-SK SHA256:x', hint: 'none' },
			'h',
		);
		expect(question).toMatchObject({ about: 'touch', prompts: [] });
	});
});

describe('askpass', () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), 'sparkdeck-askpass-'));
	});
	afterEach(() => rmSync(folder, { recursive: true }));
	const run = promisify(execFile);

	test('brings any prompt here and any answer back, and keeps neither', async () => {
		const seen: AskpassPrompt[] = [];
		const answer = 'p ä"\'$\\ %s';
		const askpass = await startAskpass(folder, async (prompt) => {
			seen.push(prompt);
			return answer;
		});
		const program = askpass.env['SSH_ASKPASS'] ?? '';
		const prompt = `Enter "it" $(id) 'now'\n\u001b[2J: `;
		const { stdout } = await run(program, [prompt], { env: { ...process.env, ...askpass.env } });
		expect(stdout).toBe(`${answer}\n`);
		expect(seen).toEqual([{ text: prompt, hint: 'answer' }]);
		for (const file of readdirSync(folder).filter((name) => name !== 'ask'))
			expect(readFileSync(join(folder, file), 'utf8')).not.toContain(answer);
		askpass.close();
	});
	test('nobody answers, or nobody is there: it fails', async () => {
		const askpass = await startAskpass(folder, async () => null);
		const program = askpass.env['SSH_ASKPASS'] ?? '';
		await expect(run(program, ['Password: '])).rejects.toMatchObject({ code: 1, stdout: '' });
		askpass.close();
		await expect(run(program, ['Password: '])).rejects.toMatchObject({ code: 1, stdout: '' });
	});
	test('ssh that does not wait any more ends the question', async () => {
		let ended: () => void = () => {};
		const over = new Promise<void>((resolve) => {
			ended = resolve;
		});
		const child: { kill?: () => void } = {};
		const askpass = await startAskpass(
			folder,
			(_, gone) =>
				new Promise((resolve) => {
					gone.addEventListener('abort', () => {
						ended();
						resolve(null);
					});
					child.kill?.();
				}),
		);
		const running = run('node', [join(folder, 'askpass.cjs'), 'Touch it']);
		child.kill = () => running.child.kill('SIGTERM');
		await running.catch(() => {});
		await over;
		askpass.close();
	});
});

describe('a login by the system’s ssh', () => {
	const target = {
		alias: 'spark-a',
		hostname: '10.77.1.2',
		port: 22,
		user: 'spark',
		connectTimeoutMs: 60_000,
	} as SshTarget;
	const never = new AbortController().signal;
	const login = (vault: Vault, answers: (string | null)[]) => {
		const asked: string[] = [];
		let given = 0;
		const started = startLogin(
			target,
			{
				configFile: null,
				vault,
				host: 'spark-a',
				ask: async ({ text, about }) => {
					asked.push([about, ...text].join(' '));
					const answer = answers.shift();
					return answer === undefined || answer === null ? null : [answer];
				},
			},
			() => {
				given += 1;
			},
		);
		const prompt = (text: string) => started.answer({ text, hint: 'answer' }, never);
		return { ...started, prompt, asked, given: () => given };
	};
	const PASSWORD = "spark@10.77.1.2's password: ";

	test('what was right is asked for once in a run, and used once in a login', async () => {
		const vault = createVault();
		const first = login(vault, ['wrong', 'right']);
		expect(await first.prompt(PASSWORD)).toBe('wrong');
		expect(await first.prompt(PASSWORD)).toBe('right');
		expect(first.asked[1]).toContain('That was refused.');
		first.accepted();
		first.end();
		const second = login(vault, []);
		expect(await second.prompt(PASSWORD)).toBe('right');
		expect(second.asked).toEqual([]);
		// It is wrong by now: the person is asked, and nothing is repeated.
		expect(await second.prompt(PASSWORD)).toBe(null);
		expect(vault.answers.size).toBe(0);
		second.end();
	});
	test('what was not right is forgotten', async () => {
		const vault = createVault();
		const { prompt, end } = login(vault, ['wrong']);
		await prompt(PASSWORD);
		end();
		expect(vault.answers.size).toBe(0);
	});
	test('a code is used up', async () => {
		const vault = createVault();
		const { prompt, accepted, end } = login(vault, ['123456']);
		expect(await prompt('(spark@h) Verification code: ')).toBe('123456');
		accepted();
		end();
		expect(vault.answers.size).toBe(0);
	});
	test('a password that nobody gives ends it before ssh sends an empty one', async () => {
		const { prompt, given, explain, end } = login(createVault(), [null]);
		expect(await prompt(PASSWORD)).toBe(null);
		expect(given()).toBe(1);
		expect(explain('')).toMatchObject({ kind: 'auth', cause: expect.stringContaining('nobody answered') });
		end();
	});
	test('a passphrase that nobody gives lets ssh go on to the next key', async () => {
		const { prompt, given, end } = login(createVault(), [null]);
		expect(await prompt("Enter passphrase for key '/k': ")).toBe(null);
		expect(given()).toBe(0);
		end();
	});
	test('a host key is taken by yes only', async () => {
		const yes = login(createVault(), ['yes']);
		expect(await yes.prompt(HOST_KEY)).toBe('yes');
		yes.end();
		const no = login(createVault(), ['y']);
		expect(await no.prompt(HOST_KEY)).toBe(null);
		expect(no.given()).toBe(1);
		expect(no.explain('')).toMatchObject({
			kind: 'host-key',
			cause: 'The host key of spark-a is not known: ED25519 SHA256:Ly5VXzg',
		});
		no.end();
	});
});
