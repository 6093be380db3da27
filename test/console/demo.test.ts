import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DemoServer, PROGRAM, scratch, serveDemo, sparkdeck } from '../support/program.ts';
import { bothUp, type Cast, evictAndUndo, leave, select } from '../support/story.ts';
import { KEYS, launch, type Tui } from '../support/tui.ts';

const cast: Cast = { head: 'spark-1a32', secondary: 'spark-5be3', gpu: '7.9 GiB', measured: [7.9, 8.9] };

let home: ReturnType<typeof scratch>;
let demo: DemoServer | null = null;
const open: Tui[] = [];

beforeEach(() => {
	home = scratch();
});
afterEach(async () => {
	for (const tui of open.splice(0)) tui.kill();
	await demo?.end();
	demo = null;
	home.remove();
});

const state = (): Record<string, string> => ({
	XDG_STATE_HOME: join(home.path, 'state'),
	XDG_CONFIG_HOME: join(home.path, 'config'),
});
const start = (args: readonly string[], options: Parameters<typeof launch>[2] = {}): Tui => {
	const tui = launch(process.execPath, [PROGRAM, ...args], { ...options, env: { ...state(), ...options.env } });
	open.push(tui);
	return tui;
};
const serve = async (speed: number): Promise<DemoServer> => {
	demo = await serveDemo(join(home.path, 'pair'), speed);
	return demo;
};
const journal = (): { event: { type: string }; operation: string }[] =>
	readFileSync(join(home.path, 'state/sparkdeck/journal.jsonl'), 'utf8')
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));

/** Presses through the confirmation of what `key` opens. */
const confirm = async (tui: Tui, key: string, button: string): Promise<void> => {
	tui.press(key);
	await tui.until('▸ [ Cancel ]');
	tui.press(KEYS.right);
	await tui.until(`▸ [ ${button} ]`);
	tui.press(KEYS.enter);
	await tui.until((screen) => !screen.includes('[ Cancel ]'));
};

describe('the story', () => {
	test('evict, verified by measurement, undo, back', async () => {
		const { config } = await serve(3);
		const tui = start(['--config', config]);
		await evictAndUndo(tui, cast);
		await leave(tui);
		const entries = journal();
		expect(new Set(entries.map((entry) => entry.operation)).size).toBe(2);
		expect(entries.slice(0, 3).map((entry) => entry.event.type)).toEqual(['intended', 'sending', 'answered']);
	});

	test('with no configuration it opens the demo pair and says so', async () => {
		const tui = start([]);
		await tui.until(/there is no configuration in .*\/sparkdeck/);
		await bothUp(tui, cast);
		await leave(tui);
	});

	test('what is kept is refused, with the reason', async () => {
		const { config } = await serve(3);
		const tui = start(['--config', config]);
		await bothUp(tui, cast);
		const flag = (): boolean => tui.lines().some((line) => line.includes('▸⚑'));
		for (let presses = 0; presses < 8 && !flag(); presses += 1) {
			const before = tui.screen();
			tui.press(KEYS.down);
			await tui.until((screen) => screen !== before);
		}
		expect(flag()).toBe(true);
		expect(tui.screen()).toContain('You said keep');
		tui.press('e');
		await tui.until('is kept: your configuration says so');
		expect(tui.screen()).not.toContain('[ Cancel ]');
	});

	test('where sudo refuses, nothing is touched and the remedy is shown', async () => {
		const { config, control } = await serve(3);
		await control('deny spark-1a32');
		const tui = start(['--config', config], { columns: 160, rows: 45 });
		await bothUp(tui, cast);
		await select(tui, 'vllm-reranker');
		await confirm(tui, 'e', 'Evict vllm-reranker.service');
		await tui.until('? sudo on spark-1a32: Your password there. a answers');
		tui.press('a');
		await tui.until('sudo wants your password');
		tui.press(...'demo', KEYS.enter);
		await tui.until('! refused');
		expect(tui.screen()).toMatch(/vllm-reranker\s+running/);
		tui.press(KEYS.enter);
		await tui.until('invocation');
		const said = tui.screen().replace(/[│\s]+/g, ' ');
		expect(said).toContain('NOPASSWD: /usr/bin/systemctl stop --no-block -- vllm-reranker.service');
	});

	test('a question of sudo: wrong, then right, and what is typed after its end is for nobody', async () => {
		const { config, control } = await serve(3);
		await control('ask-password spark-1a32');
		const tui = start(['--config', config]);
		await bothUp(tui, cast);
		await select(tui, 'vllm-reranker');
		await confirm(tui, 'e', 'Evict vllm-reranker.service');
		await tui.until('? sudo on spark-1a32');
		tui.press('a');
		await tui.until('sudo wants your password');
		tui.press(...'no');
		await tui.until('Your password there: ••');
		tui.press(KEYS.enter);
		await tui.until('? sudo on spark-1a32');
		tui.press('a');
		await tui.until('That was refused.');
		tui.press('\x1b[200~demo\r\x1b[201~');
		await tui.until('Your password there: ••••');
		tui.press(`${KEYS.enter}q`);
		await tui.until('✓ verified', 60_000);
		expect(tui.raw()).not.toMatch(/\bdemo\b(?! pair)/);
	}, 90_000);

	test('memory that does not come back is unverified, and says who holds it', async () => {
		const { config, control } = await serve(3);
		await control('stick spark-1a32 vllm-reranker.service');
		const tui = start(['--config', config]);
		await bothUp(tui, cast);
		await select(tui, 'vllm-reranker');
		await confirm(tui, 'e', 'Evict vllm-reranker.service');
		await tui.until('! unverified', 60_000);
		expect(tui.screen().replace(/[│\s]+/g, ' ')).toMatch(/VLLM::EngineCor\S* \(pid \d+\) still holds its memory/);
		// The orphan is a row of its own, which can be evicted as a process.
		await tui.until(/VLLM::E\S*:\d+\s+running\s+7\.9/);
	}, 90_000);
});

describe('killed and reopened', () => {
	test('in the middle of a stop: it tells what became of it', async () => {
		const { config } = await serve(1);
		const first = start(['--config', config]);
		await bothUp(first, cast);
		await select(first, 'vllm-cluster');
		await confirm(first, 'e', 'Evict vllm-cluster.service');
		await first.until(/stopping \d+ s/);
		first.kill('SIGKILL');
		await first.exited;
		const second = start(['--config', config]);
		await second.until('found in flight');
		await second.until(/vllm-cluster stopped: \d+\.\d of \d+\.\d GiB back in .* \(found in flight\)/, 60_000);
		expect(second.screen()).toContain('✓ verified');
		expect(journal().map((entry) => entry.event.type)).toContain('reopened');
	}, 90_000);
});

describe('faults', () => {
	test('a frozen host is stale within 5 s, with its age; the other is untouched; it heals without a key', async () => {
		const { config, control } = await serve(1);
		const tui = start(['--config', config]);
		await bothUp(tui, cast);
		const begin = Date.now();
		await control('freeze spark-5be3');
		await tui.until(/◐ spark-5be3 stale \d+ s/, 10_000);
		expect(Date.now() - begin).toBeLessThan(5500);
		expect(tui.screen()).toContain('● spark-1a32');
		await tui.until('○ spark-5be3', 30_000);
		expect(tui.screen()).toMatch(/5be3\s+vllm-embeddings/);
		await control('thaw spark-5be3');
		await tui.until('● spark-5be3', 60_000);
	}, 120_000);

	test('dropped connections are made again', async () => {
		const { config, control } = await serve(1);
		const tui = start(['--config', config]);
		await bothUp(tui, cast);
		await control('drop spark-1a32');
		await tui.until(/[○◌] spark-1a32/);
		await bothUp(tui, cast);
	});

	test('nvidia-smi hangs: its figures get old and say so, the rest goes on', async () => {
		const { config, control } = await serve(1);
		const tui = start(['--config', config]);
		await bothUp(tui, cast);
		await control('hang-gpu spark-1a32');
		await tui.until('nvidia-smi has not answered for', 30_000);
		expect(tui.screen()).toContain('● spark-1a32');
		expect(tui.screen()).toMatch(/vllm-reranker\s+running\s+7\.9/);
	}, 60_000);
});

describe('the window', () => {
	test('any size, and back, shows what a fresh start shows', async () => {
		const { config } = await serve(1);
		const tui = start(['--config', config]);
		await bothUp(tui, cast);
		for (const [columns, rows] of [
			[80, 24],
			[200, 60],
			[60, 16],
			[250, 70],
			[120, 35],
		] as const) {
			tui.resize(columns, rows);
			await tui.until((screen) => {
				const lines = screen.split('\n');
				return (
					lines.length === rows &&
					lines[0]!.includes('sparkdeck') &&
					lines[rows - 1]!.includes('quit') &&
					screen.includes('vllm-reranker')
				);
			});
			expect(tui.lines().filter((line) => line.includes('sparkdeck'))).toHaveLength(1);
			for (const line of tui.lines()) expect(line.length).toBeLessThanOrEqual(columns);
		}
		tui.resize(40, 10);
		await tui.until('needs 60×16');
		expect(tui.screen()).toContain('this is 40×10');
		tui.resize(3, 2);
		tui.resize(120, 35);
		await bothUp(tui, cast);
	});

	test.each(['SIGTERM', 'SIGHUP', 'SIGINT'])('%s gives the terminal back', async (signal) => {
		const { config } = await serve(1);
		const tui = start(['--config', config]);
		await bothUp(tui, cast);
		tui.kill(signal);
		await tui.exited;
		await tui.until(() => tui.buffer() === 'normal');
		expect(tui.raw()).toContain('\u001b[?7h');
		expect(tui.raw().lastIndexOf('\u001b[?25h')).toBeGreaterThan(tui.raw().lastIndexOf('\u001b[?25l'));
	});

	test('NO_COLOR: no colour, and everything still there', async () => {
		const { config } = await serve(1);
		const tui = start(['--config', config], { env: { NO_COLOR: '1' } });
		await bothUp(tui, cast);
		for (let y = 0; y < 35; y += 1)
			for (let x = 0; x < 120; x += 1) expect([tui.cell(x, y).fg, tui.cell(x, y).bg]).toEqual([null, null]);
		expect(tui.screen()).toContain('▸');
	});
});

describe('without a screen', () => {
	const expectNoStack = (text: string): void => {
		expect(text).not.toMatch(/\n\s+at /);
		expect(text.trim().split('\n').length).toBeLessThan(6);
	};
	test('not a terminal', async () => {
		const { code, stderr } = await sparkdeck([], state());
		expect(code).toBe(2);
		expect(stderr).toContain('needs a terminal');
		expectNoStack(stderr);
	});
	test('TERM=dumb', async () => {
		const tui = start([], { env: { TERM: 'dumb', TERM_NAME: 'dumb' } });
		expect((await tui.exited).code).toBe(2);
		await tui.until('TERM=dumb');
		expectNoStack(tui.screen().trim());
	});
	test('a Node that is too old says so in one line', async () => {
		const old = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => {
			try {
				return Number(execFileSync(path, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' })) < 22;
			} catch {
				return false;
			}
		});
		if (!old) return;
		const { code, stderr } = await sparkdeck(['--version'], {}, old);
		expect(code).toBe(1);
		expect(stderr).toMatch(/^sparkdeck needs Node 22\.12 or newer; this is Node .*\n$/);
	});
	test.each([
		['hosts: [a\n', 'config.yaml:2:1'],
		['hosts:\n  - name: a\n    kep: [x]\n', 'config.yaml:3:5'],
		['hosts: [a, a]\n', 'names a host twice'],
		['host: [a]\n', 'config.yaml:1:1'],
		['', 'config.yaml:1'],
		['hosts: ["-oProxyCommand=evil"]\n', 'config.yaml:1'],
	])('configuration %j is refused with its place', async (text, place) => {
		const file = join(home.path, 'config.yaml');
		writeFileSync(file, text);
		const { code, stderr, stdout } = await sparkdeck(['--config', file, 'status', '--json'], state());
		expect(code).toBe(2);
		expect(stdout).toBe('');
		expect(stderr).toContain(place);
		expectNoStack(stderr);
	});
	test.each([
		[['--config', '/nowhere/config.yaml', 'status']],
		[['--config', '/tmp', 'status']],
		[['nonsense']],
		[['--nonsense']],
	])('%j is bad usage', async (args) => {
		const { code, stderr } = await sparkdeck(args, state());
		expect(code).toBe(2);
		expectNoStack(stderr);
	});
	test('a theme of one’s own with a mistake is told with its place', async () => {
		mkdirSync(join(home.path, 'config/sparkdeck/themes'), { recursive: true });
		writeFileSync(
			join(home.path, 'config/sparkdeck/themes/mine.yaml'),
			'name: mine\ninherits: dark\ntokens:\n  title: { fg: nocolour }\n',
		);
		const tui = start(['--theme', 'mine']);
		expect((await tui.exited).code).toBe(2);
		await tui.until('mine.yaml:4:16');
	});
});

describe('status', () => {
	type Status = {
		hosts: {
			name: string;
			state: string;
			failure?: { kind: string };
			memory: {
				totalBytes: number;
				rows: { owner: string; kind: string; bytes: number; source: string; observedAt: string }[];
			};
			gpus: Record<string, unknown>[];
			services: {
				id: string;
				name: string;
				manager: string;
				state: string;
				gpuBytes: number | null;
				hostBytes: number;
				keep: boolean;
			}[];
		}[];
	};
	test('--json: one complete observation of both hosts, which closes', async () => {
		const { config } = await serve(1);
		const { code, stdout, stderr } = await sparkdeck(['--config', config, 'status', '--json'], state());
		expect([code, stderr]).toEqual([0, '']);
		const { hosts } = JSON.parse(stdout) as Status;
		expect(hosts.map((host) => [host.name, host.state])).toEqual([
			['spark-1a32', 'up'],
			['spark-5be3', 'up'],
		]);
		for (const { memory, gpus } of hosts) {
			expect(memory.rows.reduce((sum, row) => sum + row.bytes, 0)).toBe(memory.totalBytes);
			expect(memory.rows.map((row) => row.kind)).toEqual(expect.arrayContaining(['unexplained', 'free', 'cache']));
			for (const row of memory.rows)
				expect(row).toMatchObject({ source: expect.stringMatching(/./), observedAt: expect.stringMatching(/^\d{4}-/) });
			expect(gpus[0]).toMatchObject({
				name: 'NVIDIA GB10',
				memoryTotalBytes: null,
				utilisationPercent: expect.any(Number),
			});
		}
		const reranker = hosts[0]!.services.find((one) => one.name === 'vllm-reranker.service');
		expect(reranker).toMatchObject({
			id: 'spark-1a32/system/vllm-reranker.service',
			manager: 'system',
			state: 'running',
			keep: false,
		});
		expect(reranker!.gpuBytes! / 1024 ** 3).toBeCloseTo(7.9, 1);
		expect(hosts[1]!.services.find((one) => one.name === 'vllm-embeddings.service')).toMatchObject({
			manager: 'user',
			keep: true,
		});
	});
	test('a host that can’t be reached: 3, with its failure inside and the other whole', async () => {
		const { config, control } = await serve(1);
		await control('freeze spark-5be3');
		const { code, stdout } = await sparkdeck(['--config', config, 'status', '--json', '--timeout', '12'], state());
		expect(code).toBe(3);
		const { hosts } = JSON.parse(stdout) as Status;
		expect(hosts[0]?.state).toBe('up');
		expect(hosts[1]).toMatchObject({ state: 'down', failure: { kind: expect.any(String) } });
	});
	test('for people: tables', async () => {
		const { config } = await serve(1);
		const { code, stdout } = await sparkdeck(['--config', config, 'status'], { ...state(), NO_COLOR: '1' });
		expect(code).toBe(0);
		expect(stdout).toMatch(/● spark-1a32.*107\.\d of 121\.7 GiB used/);
		expect(stdout).toMatch(/vllm-reranker.*7\.9/);
	});
});

test('demo --serve works with the system’s own ssh, the second host through the first', async () => {
	const { sshConfig } = await serve(1);
	const ssh = (host: string, command: string): string =>
		execFileSync('ssh', ['-F', sshConfig, '-o', 'BatchMode=yes', host, command], { encoding: 'utf8' });
	expect(ssh('spark-1a32', 'systemctl list-units')).toContain('vllm-reranker.service');
	expect(ssh('spark-5be3', 'nvidia-smi --query-gpu=name,memory.total --format=csv,noheader')).toBe(
		'NVIDIA GB10, [N/A]\n',
	);
	expect(ssh('spark-5be3', 'hostname').trim()).toBe('spark-5be3');
});
