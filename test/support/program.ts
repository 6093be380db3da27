import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The built program; `npm test` builds it first. */
export const PROGRAM = new URL('../../dist/sparkdeck.mjs', import.meta.url).pathname;

/** A folder that is gone after the test. */
export const scratch = (): { path: string; remove: () => void } => {
	const path = mkdtempSync(join(tmpdir(), 'sparkdeck-test-'));
	return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};

export type Output = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs the program without a terminal. */
export const sparkdeck = (
	args: readonly string[],
	env: Record<string, string | undefined> = {},
	node = process.execPath,
): Promise<Output> =>
	new Promise((resolve, reject) => {
		const child = spawn(node, [PROGRAM, ...args], {
			env: { ...process.env, ...env },
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		let stdout = '';
		let stderr = '';
		child.stdout.on('data', (data) => (stdout += data));
		child.stderr.on('data', (data) => (stderr += data));
		child.on('error', reject);
		child.on('close', (code) => resolve({ code, stdout, stderr }));
	});

export type DemoServer = {
	readonly config: string;
	readonly sshConfig: string;
	/** Sends one control line; resolves with the answer. */
	readonly control: (line: string) => Promise<string>;
	readonly child: ChildProcess;
	readonly end: () => Promise<void>;
};

/** `sparkdeck demo --serve DIR` in a process of its own. */
export const serveDemo = async (dir: string, speed = 1): Promise<DemoServer> => {
	const child = spawn(process.execPath, [PROGRAM, 'demo', '--serve', dir, '--speed', String(speed)], {
		stdio: ['pipe', 'pipe', 'inherit'],
	});
	const lines = createInterface({ input: child.stdout! });
	const waiting: ((line: string) => void)[] = [];
	lines.on('line', (line) => waiting.shift()?.(line));
	const next = (): Promise<string> => new Promise((resolve) => waiting.push(resolve));
	const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
	const first = await Promise.race([next(), ended.then(() => 'ended')]);
	if ((JSON.parse(first) as { ready?: boolean }).ready !== true) throw new Error(`the demo is not ready: ${first}`);
	return {
		config: join(dir, 'config.yaml'),
		sshConfig: join(dir, 'ssh_config'),
		control: (line) => {
			const answer = next();
			child.stdin?.write(`${line}\n`);
			return answer;
		},
		child,
		end: () => {
			child.kill('SIGTERM');
			return ended;
		},
	};
};
