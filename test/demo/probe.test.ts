import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, ClientChannel } from 'ssh2';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { runOnce } from '../../src/demo/exec.ts';
import { type Demo, startDemo } from '../../src/demo/index.ts';
import type { Observation } from '../../src/domain/observation.ts';
import { probeCommand, probeProgram } from '../../src/hosts/probe/launch.ts';
import { lineReader, type ProbeMessage } from '../../src/hosts/probe/lines.ts';
import { probeReader } from '../../src/hosts/probe/reader.ts';
import { attribute } from '../../src/planning/attribution.ts';
import { closeStatement } from '../../src/planning/ledger.ts';
import { connect, exec, has, machines, open, until } from './support.ts';

let demo: Demo;
let client: Client;
let dir: string;
/** How far the clock of the hosts is ahead (ms): long waits are jumps. */
let ahead = 0;
beforeAll(async () => {
	dir = mkdtempSync(join(tmpdir(), 'sparkdeck-demo-probe-'));
	demo = await startDemo({ dir, speed: 40, now: () => Date.now() + ahead });
	client = await connect(demo);
});
afterAll(async () => {
	client.on('error', () => {}).destroy();
	await demo.stop();
	rmSync(dir, { recursive: true, force: true });
});
afterEach(() => {
	demo.control('unhang-gpu spark-1a32');
	demo.control('thaw spark-1a32');
});

type Probe = {
	channel: ClientChannel;
	messages: ProbeMessage[];
	/** Messages of a kind from the one with this index on. */
	of: (kind: string, from?: number) => ProbeMessage[];
	seen: () => Observation | null;
	code: () => number | null | undefined;
};

const probe = async (period = 0.1): Promise<Probe> => {
	const channel = await open(client, probeCommand(period, 'abc123'));
	const lines = lineReader('abc123');
	const reader = probeReader('spark-1a32');
	const messages: ProbeMessage[] = [];
	let seen: Observation | null = null;
	let code: number | null | undefined;
	channel.setEncoding('utf8').on('data', (text: string) => {
		for (const message of lines.push(text)) {
			messages.push(message);
			seen = reader.push(message, Date.now()) ?? seen;
		}
	});
	channel.stderr.resume();
	channel.on('exit', (value: number) => {
		code = value;
	});
	channel.write(probeProgram);
	return {
		channel,
		messages,
		of: (kind, from = 0) => messages.slice(from).filter((one) => one.k === kind),
		seen: () => seen,
		code: () => code,
	};
};

test('what the console makes of it is whole, and closes on the figures of the story', async () => {
	const { channel, seen } = await probe();
	const observation = (await until(seen, (one) => one?.complete === true))!;
	channel.end();
	expect(observation.failures).toEqual([]);
	expect(observation.identity).toMatchObject({ hostname: 'spark-1a32', user: 'spark', uid: 1000, machine: 'aarch64' });
	const attribution = attribute(observation, { name: 'spark-1a32', role: null, keep: [] });
	const statement = closeStatement(observation, attribution);
	const rows = statement.rows.map((row) => [row.label, Number((row.bytes / 1024 ** 3).toFixed(1))]);
	expect(rows).toEqual([
		['vllm-cluster.service', 92.3],
		['vllm-reranker.service', 8.4],
		['vllm-embeddings.service', 4.1],
		['vllm-proxy.service', 0.2],
		['desktop', 0.1],
		['other', 1.3],
		['kernel', 0.6],
		['unexplained', 0.3],
		['cache', 9.6],
		['free', 4.8],
	]);
	expect(statement.disagreements).toEqual([]);
	const reranker = attribution.services.find((one) => one.name === 'vllm-reranker.service');
	expect(reranker?.container?.name).toBe('vllm-reranker');
});

test('a change is told soon, with what ended and the containers, without waiting for the next full reading', async () => {
	const { channel, messages, of, seen } = await probe();
	await until(seen, (one) => one?.complete === true);
	const from = messages.length;
	const before = of('tick').at(-1)!['procs'] as unknown[];
	await exec(client, 'sudo -n systemctl stop vllm-reranker');
	const partial = await until(
		() => of('units', from),
		(units) => units.some((one) => String(one['text']).includes('ActiveState=inactive')),
	);
	expect(partial.every((one) => one['full'] === false && one['mgr'] === 'system')).toBe(true);
	expect(partial[0]!['text']).not.toContain('Id=ssh.service');
	await until(
		() => of('tick', from),
		(ticks) => ticks.some((one) => (one['gone'] as number[]).length === 1),
	);
	await until(
		() => of('containers', from),
		(list) => list.some((one) => !String(one['text']).includes('vllm-reranker')),
	);
	await until(
		() => of('walk', from),
		(walks) => walks.some((one) => !Object.keys(one['groups'] as object).some((path) => path.includes('docker-'))),
	);
	await until(
		() => of('tick', from).at(-1),
		(tick) => (tick?.['procs'] as unknown[] | undefined)?.length === before.length - 1,
	);
	await exec(client, 'sudo -n systemctl start vllm-reranker');
	await until(seen, (one) => one?.gpuProcesses?.value.length === 3);
	channel.end();
});

test('units are told with exactly the properties that the real probe asks for', async () => {
	const source = probeProgram.toString();
	const list = (name: string): string[] =>
		[...new RegExp(`^${name} = \\(([^)]*)\\)`, 'm').exec(source)![1]!.matchAll(/'([^']*)'/g)]
			.map((found) => found[1])
			.join('')
			.split(',');
	const { channel, of } = await probe();
	const [units] = await until(
		() => of('units'),
		(all) => all.length > 0,
	);
	const block = String(units!['text'])
		.split('\n\n')
		.find((one) => one.includes('Id=vllm-cluster.service'))!;
	expect(new Set(block.split('\n').map((line) => line.split('=')[0]))).toEqual(new Set(list('SHOW')));
	const [gpu] = await until(
		() => of('gpu'),
		(all) => all.length > 0,
	);
	const header = (gpu!['lines'] as string[])[0]!;
	expect(header.split(', ').map((cell) => cell.replace(/ \[.*/, ''))).toEqual(list('GPU'));
	channel.end();
});

test('ping and watch', async () => {
	const { channel, messages, of, code } = await probe();
	channel.write('ping 7\nwatch system nosuch.service\nwatch user vllm-embeddings.service\nwatch frob x\n');
	expect(
		await until(
			() => of('pong'),
			(pongs) => pongs.length > 0,
		),
	).toEqual([{ n: '7', k: 'pong' }]);
	await until(
		() => of('units'),
		(units) => units.some((one) => /Id=nosuch\.service\n[\s\S]*LoadState=not-found/.test(String(one['text']))),
	);
	await until(
		() => of('units'),
		(units) => units.some((one) => one['mgr'] === 'user' && one['full'] === false),
	);
	expect(messages[0]?.k).toBe('hello');
	channel.end();
	expect(await until(code, (value) => value !== undefined)).toBe(0);
});

test('without a heartbeat it ends by itself', async () => {
	const { channel, of, code } = await probe();
	await until(
		() => of('tick'),
		(ticks) => ticks.length > 1,
	);
	ahead += 6000;
	channel.write('\n');
	const from = of('tick').length;
	await until(
		() => of('tick'),
		(ticks) => ticks.length > from + 2,
	);
	ahead += 6000;
	channel.write('\n');
	await until(
		() => of('tick'),
		(ticks) => ticks.length > from + 5,
	);
	expect(code()).toBe(undefined);
	ahead += 9000;
	expect(await until(code, (value) => value !== undefined)).toBe(142);
});

test('all units are read again after 30 s, processes after 5', async () => {
	const { channel, of } = await probe();
	await until(
		() => of('walk'),
		(walks) => walks.length === 1,
	);
	const full = (): number => of('units').filter((one) => one['full'] === true).length;
	await until(full, (count) => count === 2);
	for (let jump = 0; jump < 5; jump += 1) {
		ahead += 5100;
		channel.write('\n');
		await until(
			() => of('walk').length,
			(count) => count >= jump + 2,
		);
	}
	expect(full()).toBe(2);
	ahead += 5100;
	channel.write('\n');
	await until(full, (count) => count === 4);
	channel.end();
});

test('a GPU that hangs: silence, then the word that it gave no answer, and rows again after it', async () => {
	const { channel, messages, of } = await probe();
	await until(
		() => of('gpu'),
		(rows) => rows.length >= 2,
	);
	demo.control('hang-gpu spark-1a32');
	const from = messages.length;
	const ticks = of('tick').length;
	await until(
		() => of('tick').length,
		(count) => count > ticks + 3,
	);
	expect(of('gpu', from)).toEqual([]);
	for (let jump = 0; jump < 3; jump += 1) {
		ahead += 5500;
		channel.write('\n');
		const now = of('tick').length;
		await until(
			() => of('tick').length,
			(count) => count > now,
		);
	}
	const told = await until(
		() => of('gpu', from),
		(rows) => rows.length >= 2,
	);
	expect(told.map((one) => [one['what'], one['error'], one['code']])).toEqual([
		['query', 'no answer for 15 s', -9],
		['apps', 'no answer for 15 s', -9],
	]);
	demo.control('unhang-gpu spark-1a32');
	ahead += 1500;
	channel.write('\n');
	const again = await until(
		() => of('gpu', from).filter((one) => one['lines']),
		(rows) => rows.length >= 2,
	);
	// A new nvidia-smi prints its header again.
	expect((again[0]!['lines'] as string[])[0]).toMatch(/^index, uuid, name/);
	channel.end();
});

test('a frozen host sends nothing, and goes on after the thaw', async () => {
	const { channel, of } = await probe();
	await until(
		() => of('tick'),
		(ticks) => ticks.length > 1,
	);
	demo.control('freeze spark-1a32');
	const settled = of('tick').length;
	await new Promise((resolve) => setTimeout(resolve, 400));
	expect(of('tick').length).toBeLessThanOrEqual(settled + 1);
	demo.control('thaw spark-1a32');
	await until(
		() => of('tick').length,
		(count) => count > settled + 3,
	);
	channel.end();
});

describe('anything else is refused', () => {
	const [machine, other] = machines();
	afterAll(() => {
		machine.stop();
		other.stop();
	});
	const program = probeProgram.toString();
	test.each([
		['another program', probeCommand(1, 'n'), program.replace(/^.*/, '# another')],
		['a program that is cut off', probeCommand(1, 'n'), program.slice(0, 50)],
		['another bootstrap', probeCommand(1, 'n').replace('import os,sys', 'import sys,os'), program],
		['one argument more', `${probeCommand(1, 'n')} more`, program],
		['no period', probeCommand(0, 'n'), program],
	])('%s', async (_, line, stdin) => {
		const { code, out } = await runOnce(machine, line, stdin);
		expect([code, out]).toEqual([1, '']);
	});
	test('the right one is not', async () => {
		const { code, out } = await runOnce(machine, probeCommand(1, 'n0nce'), program);
		expect(code).toBe(0);
		expect(out.startsWith('sparkdeck-probe 1 n0nce\n{')).toBe(true);
	});
	test('and it is what the console sends', () => {
		expect(program).toBe(readFileSync(new URL('../../src/hosts/probe/probe.py', import.meta.url), 'utf8'));
	});
});

describe.skipIf(!has('python3', '-V'))('beside the real probe', () => {
	/** Tools that answer as on a Spark, so that the real probe has something to tell here. */
	const TOOLS: Record<string, string> = {
		'nvidia-smi': `case "$1" in
*query-gpu*) while :; do [ -z "$h" ] && echo 'index, name'; h=1; echo '0, NVIDIA GB10'; sleep 1; done;;
*) while :; do [ -z "$h" ] && echo 'pid, used_gpu_memory [MiB]'; h=1; echo "$PPID, 5 MiB"; sleep 1; done;;
esac`,
		docker: `echo '{"ID":"abc"}'`,
		systemctl: 'echo Id=x.service',
	};
	const run = (): Promise<ProbeMessage[]> => {
		const tools = mkdtempSync(join(tmpdir(), 'sparkdeck-demo-tools-'));
		for (const [name, text] of Object.entries(TOOLS)) {
			writeFileSync(join(tools, name), `#!/bin/sh\n${text}\n`);
			chmodSync(join(tools, name), 0o755);
		}
		const child = spawn('sh', ['-c', probeCommand(0.3, 'real')], {
			env: { ...process.env, PATH: `${tools}:${process.env['PATH']}` },
			stdio: ['pipe', 'pipe', 'inherit'],
		});
		const lines = lineReader('real');
		const messages: ProbeMessage[] = [];
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
			let asked = false;
			child.stdout.setEncoding('utf8').on('data', (text: string) => {
				messages.push(...lines.push(text));
				const kinds = new Set(messages.map((one) => one.k));
				const whole = ['hello', 'units', 'containers', 'gpu', 'walk', 'tick'].every((kind) => kinds.has(kind));
				if (whole && !asked) {
					asked = true;
					child.stdin.write('ping 1\nwatch system x.service\n');
				}
				const partial = messages.some((one) => one.k === 'units' && one['full'] === false);
				const held = messages.some((one) => one.k === 'tick' && (one['procs'] as unknown[]).length > 0);
				if (kinds.has('pong') && partial && held) child.stdin.end();
			});
			child.on('error', reject);
			child.on('close', () => {
				clearTimeout(timer);
				rmSync(tools, { recursive: true });
				resolve(messages);
			});
			child.stdin.write(probeProgram);
		});
	};

	/** The kinds of messages with their keys in order, and of which type each is. */
	const shapes = (messages: readonly ProbeMessage[]): Map<string, string> => {
		const type = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value);
		const found = new Map<string, string>();
		for (const message of messages) {
			// Signals of systemd are not there on every machine, and the real probe says so.
			if (message.k === 'note') continue;
			const what = [message.k, message['what'] ?? '', message['full'] ?? '', 'code' in message ? 'ended' : '']
				.join(' ')
				.trim();
			found.set(
				what,
				Object.entries(message)
					.map(([key, value]) => `${key}:${type(value)}`)
					.join(' '),
			);
		}
		return found;
	};
	const types = (row: unknown): string[] => (row as unknown[]).map((value) => typeof value);

	test('the same kinds of messages with the same keys in the same order', async () => {
		const { channel, messages, of } = await probe(0.3);
		channel.write('ping 1\nwatch system vllm-cluster.service\n');
		await until(
			() => of('units'),
			(units) => units.some((one) => one['full'] === false),
		);
		await until(
			() => of('pong').length,
			(count) => count > 0,
		);
		await until(
			() => of('tick'),
			(ticks) => ticks.some((one) => (one['procs'] as unknown[]).length > 0),
		);
		channel.end();
		const real = await run();
		expect([...shapes(messages)].sort()).toEqual([...shapes(real)].sort());
		const rowOf = (all: readonly ProbeMessage[]): unknown =>
			all.flatMap((one) => (one.k === 'tick' ? (one['procs'] as unknown[]) : []))[0];
		expect(types(rowOf(messages))).toEqual(types(rowOf(real)));
		const groupOf = (all: readonly ProbeMessage[]): unknown =>
			Object.values(all.find((one) => one.k === 'walk')!['groups'] as object)[0];
		expect(types(groupOf(messages))).toEqual(types(groupOf(real)));
		const field = (all: readonly ProbeMessage[], kind: string, key: string): string =>
			String(all.find((one) => one.k === kind)?.[key]);
		const names = (text: string): string[] =>
			text
				.split('\n')
				.map((line) => line.split(':')[0]!)
				.filter((name) => /^(Mem|Anon|Shmem|SU|Kernel|Page|Percpu|Swap)/.test(name));
		const needed = names(field(messages, 'tick', 'meminfo'));
		expect(needed.filter((name) => !names(field(real, 'tick', 'meminfo')).includes(name))).toEqual([]);
		expect(field(messages, 'tick', 'cpu').split(' ')).toHaveLength(field(real, 'tick', 'cpu').split(' ').length);
		expect(field(messages, 'hello', 'boot')).toHaveLength(field(real, 'hello', 'boot').length);
	}, 30_000);
});
