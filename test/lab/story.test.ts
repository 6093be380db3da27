import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lab } from '../support/lab.ts';
import { PROGRAM, scratch, sparkdeck } from '../support/program.ts';
import { bothUp, type Cast, evictAndUndo, leave, select } from '../support/story.ts';
import { KEYS, launch, type Tui } from '../support/tui.ts';

const cast: Cast = { head: 'spark-a', secondary: 'spark-b', gpu: '0.5 GiB', measured: [0.4, 0.8] };

let home: ReturnType<typeof scratch>;
const open: Tui[] = [];
const console_ = (args: string[] = []): Tui => {
	const tui = launch(process.execPath, [PROGRAM, '--config', lab.config, ...args], {
		env: { XDG_STATE_HOME: home.path },
	});
	open.push(tui);
	return tui;
};

beforeAll(() => {
	if (!lab.isUp()) throw new Error('the lab is down: npm run lab:up');
});
beforeEach(async () => {
	home = scratch();
	for (const host of ['spark-a', 'spark-b']) lab.fault(host, 'heal');
	lab.fault('spark-a', 'heal-b');
	await lab.ssh('spark-a', 'sudo -n systemctl start vllm-reranker.service vllm-cluster.service');
});
afterEach(() => {
	for (const tui of open.splice(0)) tui.kill();
	home.remove();
});

/** Processes of ours on a host: the probe, and what it started. */
const ours = async (host: string): Promise<string> =>
	(await lab.ssh(host, 'pgrep -af "sparkdeck|nvidia-smi --query" || true')).replace(/.*pgrep.*\n/g, '').trim();

/** Waits until a remote state holds; asks again, never sleeps for a guess. */
const eventually = async (holds: () => Promise<boolean>, timeoutMs: number): Promise<number> => {
	const start = Date.now();
	while (!(await holds().catch(() => false))) {
		if (Date.now() - start > timeoutMs) throw new Error(`not within ${timeoutMs} ms`);
		await new Promise((resolve) => setTimeout(resolve, 200));
	}
	return Date.now() - start;
};

test('evict and undo, with real systemd', async () => {
	const tui = console_();
	await evictAndUndo(tui, cast);
	await leave(tui);
	const journal = readFileSync(join(home.path, 'sparkdeck/journal.jsonl'), 'utf8')
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
	expect(journal.map((entry) => entry.event.type)).toEqual(
		expect.arrayContaining(['intended', 'sending', 'answered', 'seen']),
	);
	const restored = await lab.ssh('spark-a', 'systemctl is-active vllm-reranker.service');
	expect(restored.trim()).toBe('active');
}, 120_000);

test('killed in the middle of a stop, it tells what became of it', async () => {
	const tui = console_();
	await bothUp(tui, cast);
	await select(tui, 'vllm-cluster');
	tui.press('e');
	await tui.until('▸ [ Cancel ]');
	tui.press(KEYS.right);
	await tui.until('▸ [ Evict vllm-cluster.service ]');
	tui.press(KEYS.enter);
	await tui.until(/stopping|returning/);
	tui.kill('SIGKILL');
	await tui.exited;
	const again = console_();
	await again.until('found in flight', 30_000);
	await again.until(/vllm-cluster stopped: .* \(found in flight\)/, 60_000);
	expect(again.screen()).toContain('✓ verified');
	// What was stopped before the crash can be put back after it.
	again.press('u');
	await again.until('Start vllm-cluster.service again on');
	again.press(KEYS.right);
	await again.until('▸ [ Start vllm-cluster.service ]');
	again.press(KEYS.enter);
	await again.until('vllm-cluster runs again and holds', 60_000);
	await leave(again);
}, 180_000);

describe('faults of the link', () => {
	test('cut: stale with its age within 5 s, then down; healed: up again without a key', async () => {
		const tui = console_();
		await bothUp(tui, cast);
		const start = Date.now();
		lab.fault('spark-a', 'cut-b');
		await tui.until(/◐ spark-b stale \d+ s/, 10_000);
		expect(Date.now() - start).toBeLessThan(5500);
		expect(tui.screen()).toContain('● spark-a');
		await tui.until('○ spark-b', 30_000);
		// Old figures stay.
		expect(tui.screen()).toMatch(/b\s+vllm-embeddings/);
		lab.fault('spark-a', 'heal-b');
		await tui.until('● spark-b', 60_000);
		await leave(tui);
	}, 120_000);

	test('after the console is gone nothing of ours is left, however it went', async () => {
		const quit = console_();
		await bothUp(quit, cast);
		expect(await ours('spark-b')).toContain('nvidia-smi');
		await leave(quit);
		await eventually(async () => (await ours('spark-a')) + (await ours('spark-b')) === '', 10_000);

		const killed = console_();
		await bothUp(killed, cast);
		killed.kill('SIGKILL');
		await killed.exited;
		await eventually(async () => (await ours('spark-a')) + (await ours('spark-b')) === '', 10_000);

		// Cut without a word: the probe on the far side has to notice by itself.
		const cut = console_();
		await bothUp(cut, cast);
		lab.fault('spark-a', 'cut-b');
		cut.kill('SIGKILL');
		const inside = async (): Promise<boolean> =>
			!/sparkdeck|--query/.test(
				lab.fault('spark-b', 'exec', 'sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "').replace(/sh -c.*/g, ''),
			);
		await eventually(inside, 10_000);
		lab.fault('spark-a', 'heal-b');
	}, 120_000);

	test('a session behind a jump that ends cleanly is noticed and made again', async () => {
		const tui = console_();
		await bothUp(tui, cast);
		// A channel of a jump is half-open: the end of the far side is told differently from that of a socket.
		lab.fault('spark-b', 'exec', 'pkill', '-u', 'spark', '-x', 'sshd');
		await tui.until(/[○◌◐] spark-b/, 30_000);
		await tui.until('● spark-b', 60_000);
		expect(tui.screen()).toContain('● spark-a');
		await leave(tui);
	}, 120_000);

	test('a host that freezes does not touch the other, and comes back by itself', async () => {
		const tui = console_();
		await bothUp(tui, cast);
		lab.fault('spark-b', 'freeze');
		await tui.until(/◐ spark-b stale/, 10_000);
		expect(tui.screen()).toContain('● spark-a');
		lab.fault('spark-b', 'thaw');
		await tui.until('● spark-b', 60_000);
		await leave(tui);
	}, 120_000);
});

test('what others depend on names them, and is refused when one of them is kept', async () => {
	const unit = (name: string, extra: string): string =>
		`printf "[Unit]\\nDescription=${name}\\n${extra}\\n[Service]\\nExecStart=/usr/bin/python3 -c \\"import time;b=bytearray(90<<20);b[::4096]=bytes(len(b[::4096]));time.sleep(9999)\\"\\n" > /run/systemd/system/${name}.service`;
	const made = [
		unit('x-base', ''),
		unit('x-part', 'PartOf=x-base.service'),
		unit('x-top', 'Requires=x-base.service\\nAfter=x-base.service'),
	];
	lab.fault(
		'spark-a',
		'exec',
		'sh',
		'-c',
		`${made.join('; ')}; systemctl daemon-reload; systemctl start x-base x-part x-top`,
	);
	try {
		const tui = console_();
		await bothUp(tui, cast);
		await tui.until(/x-base\s+running/);
		await select(tui, 'x-base');
		tui.press('e');
		await tui.until('▸ [ Cancel ]');
		expect(tui.screen()).toMatch(/x-(part|top)\.service and x-(part|top)\.service depend on it and stop with it/);
		tui.press(KEYS.right);
		await tui.until('▸ [ Evict x-base.service ]');
		tui.press(KEYS.enter);
		await tui.until('✓ verified', 60_000);
		expect((await lab.ssh('spark-a', 'systemctl is-active x-base x-part x-top || true')).trim()).toBe(
			'inactive\ninactive\ninactive',
		);
		tui.press('u');
		await tui.until('Start x-base.service again on');
		tui.press(KEYS.right);
		await tui.until('▸ [ Start x-base.service ]');
		tui.press(KEYS.enter);
		await tui.until('x-base runs again', 60_000);
		expect((await lab.ssh('spark-a', 'systemctl is-active x-base x-part x-top')).trim()).toBe('active\nactive\nactive');
		tui.kill();

		writeFileSync(
			join(home.path, 'config.yaml'),
			`ssh:\n  config: ${lab.sshConfig}\nhosts:\n  - name: spark-a\n    keep: [x-top]\n`,
		);
		const keeping = launch(process.execPath, [PROGRAM, '--config', join(home.path, 'config.yaml')], {
			env: { XDG_STATE_HOME: home.path },
		});
		open.push(keeping);
		await keeping.until(/x-base\s+running/);
		await select(keeping, 'x-base');
		keeping.press('e');
		await keeping.until('x-top.service depends on it and would stop too');
		expect(keeping.screen()).not.toContain('[ Cancel ]');
	} finally {
		lab.fault(
			'spark-a',
			'exec',
			'sh',
			'-c',
			'systemctl stop x-top x-part x-base; rm /run/systemd/system/x-*.service; systemctl daemon-reload',
		);
	}
}, 120_000);

describe('status', () => {
	test('closes to the byte, over both hosts', async () => {
		const { code, stdout } = await sparkdeck(['--config', lab.config, 'status', '--json'], {
			XDG_STATE_HOME: home.path,
		});
		expect(code).toBe(0);
		const { hosts } = JSON.parse(stdout) as {
			hosts: {
				name: string;
				state: string;
				memory: { totalBytes: number; rows: { bytes: number }[] };
				services: { name: string; keep: boolean; manager: string; gpuBytes: number }[];
			}[];
		};
		expect(hosts.map((host) => host.state)).toEqual(['up', 'up']);
		for (const host of hosts)
			expect(host.memory.rows.reduce((sum, row) => sum + row.bytes, 0)).toBe(host.memory.totalBytes);
		expect(hosts[1]?.services.find((one) => one.name === 'vllm-embeddings.service')).toMatchObject({
			keep: true,
			manager: 'user',
			gpuBytes: 256 * 1024 ** 2,
		});
		expect(hosts[0]?.services.find((one) => one.name === 'vllm-reranker.service')).toMatchObject({
			keep: false,
			manager: 'system',
			gpuBytes: 512 * 1024 ** 2,
		});
	});
	test('an unknown host key refuses, with the command that makes it known', async () => {
		const known = join(home.path, 'known_hosts');
		writeFileSync(known, '');
		const config = readFileSync(lab.sshConfig, 'utf8').replace(/UserKnownHostsFile .*/, `UserKnownHostsFile ${known}`);
		writeFileSync(join(home.path, 'ssh_config'), config);
		writeFileSync(join(home.path, 'config.yaml'), 'ssh:\n  config: ./ssh_config\nhosts: [spark-a]\n');
		const { code, stdout } = await sparkdeck(['--config', join(home.path, 'config.yaml'), 'status', '--json']);
		expect(code).toBe(3);
		const host = (
			JSON.parse(stdout) as { hosts: { state: string; failure: { kind: string; cause: string; hint: string } }[] }
		).hosts[0]!;
		expect(host.state).toBe('down');
		expect(host.failure.kind).toBe('host-key');
		expect(host.failure.cause).toMatch(/SHA256:/);
		expect(host.failure.hint).toContain('-o StrictHostKeyChecking=ask spark-a true');
	});
	test('a host that is cut off is told inside, and the other is whole', async () => {
		lab.fault('spark-a', 'cut-b');
		const { code, stdout } = await sparkdeck(['--config', lab.config, 'status', '--json']);
		lab.fault('spark-a', 'heal-b');
		expect(code).toBe(3);
		const { hosts } = JSON.parse(stdout) as { hosts: { state: string; failure?: { cause: string } }[] };
		expect(hosts[0]?.state).toBe('up');
		expect(hosts[1]?.failure?.cause).toContain('spark-b');
	});
});
