import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2, { type Client, type ClientChannel } from 'ssh2';
import { runOnce } from '../../src/demo/exec.ts';
import { type Demo, startDemo } from '../../src/demo/index.ts';
import { createMachine, type Machine } from '../../src/demo/machine.ts';
import { createWorld } from '../../src/demo/world.ts';
import type { SimHost } from '../../src/demo/worldTypes.ts';

export const WALL = Date.UTC(2026, 11, 1, 14, 2, 31);

export const world = (speed = 1, seed = 7): [SimHost, SimHost] =>
	createWorld({ speed, wallMs: WALL, seed }) as [SimHost, SimHost];

/** Hosts on the real clock, without a server. */
export const machines = (speed = 50): [Machine, Machine] =>
	createWorld({ speed, wallMs: Date.now(), seed: 7 }).map((host) => createMachine(host, Date.now)) as [
		Machine,
		Machine,
	];

export const answer = async (machine: Machine, line: string): Promise<string> => {
	const { code, out, err } = await runOnce(machine, line);
	if (code !== 0) throw new Error(`${line}: ${code} ${err}`);
	return out;
};

/** Waits until something holds, looking again and again; tells what it last saw when it never does. */
export const until = async <T>(
	look: () => T | Promise<T>,
	holds: (seen: T) => boolean,
	timeoutMs = 10_000,
): Promise<T> => {
	const end = Date.now() + timeoutMs;
	for (;;) {
		const seen = await look();
		if (holds(seen)) return seen;
		if (Date.now() > end)
			throw new Error(`not within ${timeoutMs} ms; last seen: ${JSON.stringify(seen)?.slice(0, 2000)}`);
		await new Promise((resolve) => setTimeout(resolve, 15));
	}
};

/** A demo in a folder of its own; `end` takes both away. */
export const demoIn = async (speed: number): Promise<{ demo: Demo; end: () => Promise<void> }> => {
	const dir = mkdtempSync(join(tmpdir(), 'sparkdeck-demo-test-'));
	const demo = await startDemo({ dir, speed });
	return {
		demo,
		end: async () => {
			await demo.stop();
			rmSync(dir, { recursive: true, force: true });
		},
	};
};

export const keyOfDemo = (demo: Demo): string => readFileSync(join(demo.dir, 'id_ed25519'), 'utf8');

export type Outcome = { code: number | null; out: string; err: string };

/** A client on the head, or through it on the secondary. */
export const connect = (
	demo: Demo,
	options: { key?: string; user?: string; through?: Client; timeoutMs?: number } = {},
): Promise<Client> =>
	new Promise((resolve, reject) => {
		const client = new ssh2.Client();
		client.on('error', reject);
		client.on('close', () => reject(new Error('closed')));
		client.once('ready', () => resolve(client));
		const config = {
			username: options.user ?? 'spark',
			privateKey: options.key ?? keyOfDemo(demo),
			readyTimeout: options.timeoutMs ?? 10_000,
		};
		if (!options.through) client.connect({ ...config, host: '127.0.0.1', port: demo.port });
		else {
			setTimeout(() => reject(new Error('Timed out')), config.readyTimeout).unref();
			options.through.forwardOut('127.0.0.1', 0, 'spark-5be3', 22, (error, sock) =>
				error ? reject(error) : client.connect({ ...config, sock }),
			);
		}
	});

export const open = (client: Client, command: string): Promise<ClientChannel> =>
	new Promise((resolve, reject) =>
		client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel))),
	);

export const exec = (client: Client, command: string, input = ''): Promise<Outcome> =>
	new Promise((resolve, reject) =>
		client.exec(command, (error, channel) => {
			if (error) {
				reject(error);
				return;
			}
			// At once: an exit status may be in the very packet that brought the channel.
			const outcome: Outcome = { code: null, out: '', err: '' };
			channel.setEncoding('utf8').on('data', (text: string) => {
				outcome.out += text;
			});
			channel.stderr.setEncoding('utf8').on('data', (text: string) => {
				outcome.err += text;
			});
			channel.on('exit', (code: number | null) => {
				outcome.code = code;
			});
			channel.on('close', () => resolve(outcome));
			channel.end(input);
		}),
	);

/** Whether a tool is here; where it is not, the tests that need it are skipped, and say so. */
export const has = (tool: string, ...args: string[]): boolean => {
	const there = spawnSync(tool, args, { stdio: 'ignore' }).error === undefined;
	if (!there) console.warn(`SKIPPED: ${tool} is not installed, so what needs it is not tested`);
	return there;
};
