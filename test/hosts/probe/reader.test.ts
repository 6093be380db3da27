import { spawn } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MiB } from '../../../src/domain/bytes.ts';
import { emptyGpuStream, gpuProcesses, pushApps, pushQuery } from '../../../src/hosts/probe/gpuStream.ts';
import { probeCommand, probeProgram } from '../../../src/hosts/probe/launch.ts';
import { lineReader, type ProbeMessage } from '../../../src/hosts/probe/lines.ts';
import { probeReader } from '../../../src/hosts/probe/reader.ts';

const meminfo = 'MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 300 kB\n';
const hello = { k: 'hello', at: 10, hostname: 'a', kernel: 'k', machine: 'm', boot: 'b', uid: 1000, user: 'spark' };
const tick = (at: number, more = {}): ProbeMessage => ({
	k: 'tick',
	n: 1,
	at,
	meminfo,
	psi: null,
	cpu: 'cpu 1 1 1 1',
	gone: [],
	procs: [],
	...more,
});
const unitText = (name: string, state: string): string => `Id=${name}\nActiveState=${state}\nLoadState=loaded\n`;

describe('lines', () => {
	test('noise before the magic line is ignored, also without a line end of its own', () => {
		const reader = lineReader('n1');
		expect(reader.push('Welcome!\n{"k":"fake"}\nprompt> sparkdeck-probe 1 n1\n{"k":"hello"}\n')).toEqual([
			{ k: 'hello' },
		]);
		expect(reader.started()).toBe(true);
	});
	test('another nonce is noise', () => {
		const reader = lineReader('n1');
		expect(reader.push('sparkdeck-probe 1 n2\n{"k":"hello"}\n')).toEqual([]);
	});
	test('cut anywhere, the messages are the same', () => {
		const text = 'x\nsparkdeck-probe 1 n\n{"k":"a","t":"é€𝄞"}\ngarbage\n{"k":"b"}\n[1]\n';
		fc.assert(
			fc.property(fc.array(fc.integer({ min: 0, max: text.length })), (cuts) => {
				const reader = lineReader('n');
				const edges = [0, ...cuts.sort((a, b) => a - b), text.length];
				const messages = edges.slice(1).flatMap((edge, index) => reader.push(text.slice(edges[index], edge)));
				expect(messages.map((one) => one.k)).toEqual(['a', 'b']);
				expect(reader.garbage()).toBe(2);
			}),
		);
	});
	test('a line without an end does not fill the memory', () => {
		const reader = lineReader('n');
		reader.push('sparkdeck-probe 1 n\n');
		for (let sent = 0; sent < 20; sent += 1) reader.push('x'.repeat(1 << 20));
		expect(reader.push('tail\n{"k":"a"}\n')).toEqual([{ k: 'a' }]);
	});
});

describe('the nvidia-smi loops', () => {
	const query = ['index, name, utilization.gpu [%]', '0, NVIDIA GB10, 3'];
	const apps = ['pid, used_gpu_memory [MiB], gpu_uuid, process_name', '7, 100 MiB, GPU-1, a', '8, 200 MiB, GPU-1, b'];

	const pids = (stream: typeof emptyGpuStream) => gpuProcesses(stream)?.list.map((one) => one.pid);
	test('a round is what comes together; who is not in the next one is gone', () => {
		let stream = pushApps(emptyGpuStream, apps.slice(0, 2), 1);
		stream = pushApps(stream, apps.slice(2), 1.1);
		expect(pids(stream)).toEqual([7, 8]);
		stream = pushApps(stream, ['8, 250 MiB, GPU-1, b'], 2);
		expect(gpuProcesses(stream)?.list).toEqual([{ pid: 8, name: 'b', bytes: 250 * MiB }]);
	});
	test('two rounds in one read are two rounds, not a sum', () => {
		const stream = pushApps(emptyGpuStream, [...apps, '7, 110 MiB, GPU-1, a', '8, 210 MiB, GPU-1, b'], 1);
		expect(gpuProcesses(stream)?.list.map((one) => one.bytes)).toEqual([110 * MiB, 210 * MiB]);
	});
	test('silence is no statement: the list stays, with the time it was said', () => {
		let stream = pushApps(pushQuery(emptyGpuStream, query, 1), apps, 1);
		for (const at of [2, 3, 4, 9]) stream = pushQuery(stream, query.slice(1), at);
		expect(gpuProcesses(stream)).toMatchObject({ at: 1, list: [{ pid: 7 }, { pid: 8 }] });
	});
	test('a header without rows says that there are none', () => {
		expect(gpuProcesses(pushApps(emptyGpuStream, apps.slice(0, 1), 1))).toEqual({ list: [], at: 1 });
	});
	test('nothing is known before the loops have spoken', () => expect(gpuProcesses(emptyGpuStream)).toBe(null));
	test('a process on two GPUs holds the sum, or an unknown amount', () => {
		expect(
			gpuProcesses(pushApps(emptyGpuStream, [apps[0]!, '7, 100 MiB, GPU-1, a', '7, 50 MiB, GPU-2, a'], 1))?.list[0]
				?.bytes,
		).toBe(150 * MiB);
		expect(
			gpuProcesses(pushApps(emptyGpuStream, [apps[0]!, '7, 100 MiB, GPU-1, a', '7, [N/A], GPU-2, a'], 1))?.list[0]
				?.bytes,
		).toBe(null);
	});
});

describe('observations', () => {
	test('are complete once every part was read or has failed', () => {
		const reader = probeReader('a');
		reader.push(hello, 0);
		expect(reader.push(tick(11), 1000)?.complete).toBe(false);
		for (const message of [
			{ k: 'units', mgr: 'system', full: true, at: 11, text: unitText('a.service', 'active') },
			{ k: 'units', mgr: 'user', error: 'Failed to connect to bus', code: 1 },
			{ k: 'containers', tool: 'docker', at: 11, code: 1, text: '', error: 'permission denied' },
			{ k: 'walk', at: 11, groups: { '/system.slice/a.service': [2, 4096, 'rss', 1024] }, large: [] },
			{ k: 'gpu', what: 'query', error: 'No such file or directory' },
			{ k: 'gpu', what: 'apps', error: 'No such file or directory' },
		]) {
			reader.push(message, 1500);
		}
		const seen = reader.push(tick(12), 2000);
		expect(seen).toMatchObject({
			complete: true,
			host: 'a',
			gpuProcesses: null,
			memory: { value: { total: 1024000 }, observedAt: 2000 },
		});
		expect(seen?.units?.value.map((one) => one.name)).toEqual(['a.service']);
		expect(seen?.cgroups?.value).toEqual([
			{ path: '/system.slice/a.service', processes: 2, anonBytes: 4096, doubtfulBytes: 3072 },
		]);
		expect(seen?.failures.map((failure) => failure.kind).sort()).toEqual(['denied', 'missing-tool', 'unreadable']);
	});
	test('a part that does not answer at all is told after 6 s, and does not hold up the rest', () => {
		const reader = probeReader('a');
		reader.push(hello, 0);
		expect(reader.push(tick(15), 5000)?.complete).toBe(false);
		const seen = reader.push(tick(17), 7000);
		expect(seen?.complete).toBe(true);
		expect(seen?.failures.map((one) => one.cause)).toContain('nvidia-smi on a has not answered for 6 s');
		reader.push({ k: 'gpu', what: 'query', at: 18, lines: ['index, name', '0, NVIDIA GB10'] }, 8000);
		reader.push({ k: 'gpu', what: 'apps', at: 18, lines: ['pid, used_gpu_memory [MiB]', '7, 1 MiB'] }, 8000);
		expect(
			reader
				.push(tick(18), 8000)
				?.failures.map((one) => one.cause)
				.join(),
		).not.toContain('nvidia-smi');
	});
	test('a changed unit replaces its old state; a full reading forgets what is gone', () => {
		const reader = probeReader('a');
		reader.push(hello, 0);
		const units = (text: string, full: boolean) => reader.push({ k: 'units', mgr: 'system', full, at: 11, text }, 0);
		units(`${unitText('a.service', 'active')}\n${unitText('b.service', 'active')}`, true);
		units(unitText('a.service', 'inactive'), false);
		expect(reader.push(tick(12), 1)?.units?.value.map((one) => one.activeState)).toEqual(['inactive', 'active']);
		units(unitText('b.service', 'active'), true);
		expect(reader.push(tick(13), 2)?.units?.value.map((one) => one.name)).toEqual(['b.service']);
	});
	test('a process that has gone takes its GPU memory out of the list at once', () => {
		const reader = probeReader('a');
		reader.push(hello, 0);
		reader.push(
			{
				k: 'gpu',
				what: 'apps',
				at: 11,
				lines: ['pid, used_gpu_memory [MiB], gpu_uuid, process_name', '7, 1 MiB, g, a', '8, 1 MiB, g, b'],
			},
			0,
		);
		const procs = [[8, 1, 'Z', 'b', '/', 0]];
		expect(reader.push(tick(11.5, { gone: [7], procs }), 1)?.gpuProcesses?.value).toEqual([]);
	});
	test('a frame that was held up on the way is as old as it is', () => {
		const reader = probeReader('a');
		reader.push(hello, 0);
		expect(reader.push(tick(11), 1000)?.at).toBe(1000);
		expect(reader.push(tick(12), 6000)?.at).toBeLessThan(2100);
	});
	test('a clock that is set on either side does not make figures old or new', () => {
		const reader = probeReader('a');
		reader.push(hello, 0);
		for (let second = 0; second < 60; second += 1) reader.push(tick(100 + second), 1_000_000 + second * 1000);
		expect(reader.push(tick(160), 4_660_000)?.at).toBe(4_660_000);
		expect(reader.push(tick(161), 61_000)?.at).toBe(61_000);
	});
	test('whatever a host sends, nothing throws', () => {
		const value = fc.oneof(fc.jsonValue(), fc.constantFrom('system', 'apps', 'query', 'docker', meminfo, 11));
		const message = fc
			.tuple(
				fc.constantFrom('hello', 'gpu', 'units', 'containers', 'walk', 'tick', 'pong', 'x'),
				fc.dictionary(
					fc.constantFrom(
						'at',
						'what',
						'lines',
						'mgr',
						'text',
						'error',
						'groups',
						'large',
						'procs',
						'gone',
						'meminfo',
						'psi',
						'cpu',
						'tool',
						'code',
						'full',
					),
					value,
				),
			)
			.map(([k, fields]) => ({ ...fields, k }) as ProbeMessage);
		fc.assert(
			fc.property(fc.array(message), (messages) => {
				const reader = probeReader('a');
				reader.push(hello, 0);
				for (const one of messages) reader.push(one, 5);
			}),
			{ numRuns: 500 },
		);
	});
});

test('the real probe, run here: one observation, and it ends by itself without heartbeats', async () => {
	const child = spawn('sh', ['-c', probeCommand(0.2, 'nonce')], { stdio: ['pipe', 'pipe', 'inherit'] });
	child.stdin.write(probeProgram);
	const lines = lineReader('nonce');
	const reader = probeReader('here');
	const ended = new Promise<number | null>((resolve) =>
		child.on('close', (_, signal) => resolve(signal === 'SIGALRM' ? 14 : null)),
	);
	const seen = await new Promise((resolve) => {
		child.stdout.setEncoding('utf8');
		child.stdout.on('data', (text: string) => {
			for (const message of lines.push(text)) {
				const observation = reader.push(message, Date.now());
				if (observation?.complete) resolve(observation);
			}
		});
	});
	expect(seen).toMatchObject({ identity: { bootId: expect.stringMatching(/^[0-9a-f-]{36}$/) }, complete: true });
	expect(lines.garbage()).toBe(0);
	expect(await ended).toBe(14);
}, 20_000);
