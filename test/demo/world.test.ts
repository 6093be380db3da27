import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { advance } from '../../src/demo/world.ts';
import { crashUnit, startUnit, stopUnit, unitOf } from '../../src/demo/worldLife.ts';
import { meminfoText, memoryOf } from '../../src/demo/worldMemory.ts';
import { anonBytes, gpuMiB } from '../../src/demo/worldProcs.ts';
import type { SimHost, Unit } from '../../src/demo/worldTypes.ts';
import { GiB, MiB } from '../../src/domain/bytes.ts';
import { parseMemInfo } from '../../src/hosts/parse/meminfo.ts';
import { world } from './support.ts';

const unit = (host: SimHost, name: string): Unit =>
	(unitOf(host, 'system', name) ?? unitOf(host, 'user', name)) as Unit;
const gpuOf = (host: SimHost): number =>
	[...host.procs.values()].reduce((sum, proc) => sum + gpuMiB(proc, host.now), 0) * MiB;
const pass = (host: SimHost, seconds: number): void => advance(host, host.now + seconds);
/** Steps of a tenth of a second until it holds; how long that took. */
const secondsUntil = (host: SimHost, holds: () => boolean): number => {
	const start = host.now;
	while (!holds()) {
		if (host.now - start > 200) throw new Error('never');
		pass(host, 0.1);
	}
	return host.now - start;
};

/** What must hold of /proc/meminfo at every instant, read as the console reads it. */
const closes = (host: SimHost): void => {
	const parsed = parseMemInfo(meminfoText(host));
	if (!parsed.ok) throw new Error(parsed.failure.cause);
	const memory = parsed.value;
	const parts = [
		memory.anonPages,
		memory.shmem,
		memory.slabUnreclaimable,
		memory.kernelStack,
		memory.pageTables,
		memory.percpu,
	];
	const named = parts.reduce<number>((sum, part) => sum + (part ?? Number.NaN), gpuOf(host));
	const { returning } = memoryOf(host);
	const unexplained = memory.total - memory.available - named - returning * 1024;
	expect(unexplained).toBeGreaterThan(0);
	expect(unexplained).toBeLessThan(0.75 * GiB);
	expect(memory.anonPages).toBe([...host.procs.values()].reduce((sum, proc) => sum + anonBytes(proc, host.now), 0));
	expect(memory.free).toBeGreaterThanOrEqual(0);
	expect(memory.available).toBeGreaterThan(memory.free);
	expect(memory.cached! + memory.buffers!).toBeGreaterThan(0);
};

describe('the start of the story', () => {
	const gib = (kb: number): number => Number((kb / 1024 ** 2).toFixed(1));
	test('the figures of the head', () => {
		const [head] = world();
		const memory = memoryOf(head);
		expect([memory.total, gib(memory.free), gib(memory.cache), gib(memory.available), gib(memory.used)]).toEqual([
			127_601_228, 4.8, 9.6, 14.4, 107.3,
		]);
		expect([...head.units.values()].length).toBeGreaterThan(58);
	});
	test('the figures of the secondary', () => {
		const [, second] = world();
		const memory = memoryOf(second);
		expect([memory.total, gib(memory.free), gib(memory.cache), gib(memory.used)]).toEqual([
			127_532_360, 106.7, 6.9, 8.0,
		]);
	});
	test('what is nobody’s is about what the story says', () => {
		for (const [host, other] of [
			[world()[0], 1.5],
			[world()[1], 3],
		] as const) {
			const owned = /vllm-|docker-|session-c1|user-120|gdm/;
			const nobodys = [...host.procs.values()].filter((proc) => !owned.test(proc.cgroup));
			const bytes = nobodys.reduce((sum, proc) => sum + anonBytes(proc, host.now), 0) + memoryOf(host).shmem * 1024;
			expect(Math.abs(bytes / GiB - other)).toBeLessThan(0.25);
		}
	});
	test('the same seed makes the same world, another one another', () => {
		const story = (seed: number): string => {
			const [head] = world(1, seed);
			stopUnit(head, unit(head, 'vllm-reranker'));
			pass(head, 20);
			startUnit(head, unit(head, 'vllm-reranker'));
			pass(head, 5);
			return JSON.stringify([unit(head, 'vllm-reranker').invocation, [...head.procs.keys()], meminfoText(head)]);
		};
		expect(story(3)).toBe(story(3));
		expect(story(3)).not.toBe(story(4));
	});
});

test('memory closes at every instant, whatever is stopped, started, crashed or stuck', () => {
	const names = ['vllm-cluster', 'vllm-reranker', 'vllm-embeddings', 'vllm-proxy', 'gdm', 'docker'];
	const step = fc.record({
		verb: fc.constantFrom('stop', 'start', 'crash', 'stick', 'wait', 'wait'),
		name: fc.constantFrom(...names),
		seconds: fc.double({ min: 0.01, max: 12, noNaN: true }),
	});
	fc.assert(
		fc.property(fc.array(step, { maxLength: 40 }), fc.integer(), fc.constantFrom(0, 1), (steps, seed, at) => {
			const host = world(1, seed)[at]!;
			closes(host);
			for (const { verb, name, seconds } of steps) {
				const target = unitOf(host, 'system', name) ?? unitOf(host, 'user', name);
				if (target && verb === 'stop') stopUnit(host, target);
				if (target && verb === 'start') startUnit(host, target);
				if (target && verb === 'crash') crashUnit(host, target, 'code=killed ; status=9/KILL', 'signal');
				if (target && verb === 'stick') host.faults.sticky.add(`${target.spec.manager}/${target.spec.name}`);
				pass(host, seconds);
				closes(host);
			}
		}),
		{ numRuns: 150 },
	);
}, 30_000);

describe('stop and start', () => {
	test('the reranker: queued, deactivating, gone from the GPU, then memory back over seconds', () => {
		const [head] = world();
		const reranker = unit(head, 'vllm-reranker');
		const before = memoryOf(head).available;
		const { invocation } = reranker;
		const [id] = [...head.containers.values()].filter((one) => one.running).map((one) => one.id);
		stopUnit(head, reranker);
		expect([reranker.active, reranker.job?.type]).toEqual(['active', 'stop']);
		pass(head, 0.5);
		expect([reranker.active, reranker.job?.type]).toEqual(['deactivating', 'stop']);
		const stopped = secondsUntil(head, () => reranker.active === 'inactive');
		expect(stopped).toBeGreaterThan(2);
		expect(stopped).toBeLessThan(4);
		expect(reranker.job).toBe(null);
		expect([...head.procs.values()].some((proc) => proc.cgroup.includes(id!))).toBe(false);
		expect(memoryOf(head).available - before).toBeLessThan(4 * 1024 ** 2);
		const returned = secondsUntil(head, () => memoryOf(head).returning === 0);
		expect(returned).toBeGreaterThan(1.5);
		expect(returned).toBeLessThan(5);
		const share = ((memoryOf(head).available - before) * 1024) / ((8090 + 512) * MiB);
		expect(share).toBeGreaterThan(0.978);
		expect(share).toBeLessThan(1.011);

		startUnit(head, reranker);
		secondsUntil(head, () => reranker.active === 'activating');
		secondsUntil(head, () => reranker.active === 'active');
		expect(reranker.invocation).toMatch(/^[0-9a-f]{32}$/);
		expect(reranker.invocation).not.toBe(invocation);
		const loaded = secondsUntil(head, () => gpuOf(head) > 105_000 * MiB);
		expect(loaded).toBeGreaterThan(5);
		expect(loaded).toBeLessThan(11);
		const [again] = [...head.containers.values()].filter((one) => one.running).map((one) => one.id);
		expect(again).toMatch(/^[0-9a-f]{64}$/);
		expect(again).not.toBe(id);
		pass(head, 5);
		expect(Math.abs(memoryOf(head).available - before)).toBeLessThan(4096);
	});
	test('the cluster takes about 8 s to end and about 40 s to load', () => {
		const [head] = world();
		const cluster = unit(head, 'vllm-cluster');
		stopUnit(head, cluster);
		expect(Math.abs(secondsUntil(head, () => cluster.active === 'inactive') - 8)).toBeLessThan(1);
		expect(memoryOf(head).returning).toBeGreaterThan(0);
		secondsUntil(head, () => memoryOf(head).returning === 0);
		expect(memoryOf(head).available / 1024 ** 2).toBeGreaterThan(106);
		startUnit(head, cluster);
		expect(Math.abs(secondsUntil(head, () => gpuOf(head) > 105_200 * MiB) - 41)).toBeLessThan(3);
	});
	test('at speed 20 it takes a twentieth', () => {
		const [head] = world(20);
		const cluster = unit(head, 'vllm-cluster');
		stopUnit(head, cluster);
		expect(secondsUntil(head, () => cluster.active === 'inactive')).toBeLessThan(0.6);
	});
	test('Restart=always follows a crash and not a stop', () => {
		const [head] = world();
		const cluster = unit(head, 'vllm-cluster');
		const { mainPid, invocation } = cluster;
		crashUnit(head, cluster, 'code=killed ; status=9/KILL', 'signal');
		expect([cluster.active, cluster.sub, cluster.result]).toEqual(['activating', 'auto-restart', 'signal']);
		secondsUntil(head, () => cluster.active === 'active');
		expect(cluster.restarts).toBe(1);
		expect(cluster.mainPid).not.toBe(mainPid);
		expect(cluster.invocation).not.toBe(invocation);
		stopUnit(head, cluster);
		secondsUntil(head, () => cluster.active === 'inactive');
		pass(head, 60);
		expect([cluster.active, cluster.restarts]).toEqual(['inactive', 1]);
	});
	test('a stuck engine outlives its unit, keeps the memory, and keeps a new one from loading', () => {
		const [head] = world();
		const cluster = unit(head, 'vllm-cluster');
		head.faults.sticky.add('system/vllm-cluster.service');
		const before = memoryOf(head).available;
		stopUnit(head, cluster);
		secondsUntil(head, () => cluster.active === 'inactive');
		pass(head, 30);
		expect((memoryOf(head).available - before) / 1024 ** 2).toBeLessThan(0.6);
		const orphan = [...head.procs.values()].find((proc) => gpuMiB(proc, head.now) > 90_000);
		expect(orphan?.name).toBe('VLLM::EngineCore');
		expect(cluster.pids).toEqual([]);
		startUnit(head, cluster);
		secondsUntil(head, () => cluster.sub === 'auto-restart');
		expect(cluster.messages.some(({ text }) => /^ValueError: Free memory on device/.test(text))).toBe(true);
	});
	test('the proxy wants the servers behind it, and does not stop with them', () => {
		const [head] = world();
		for (const name of ['vllm-reranker', 'vllm-cluster']) stopUnit(head, unit(head, name));
		pass(head, 20);
		expect(unit(head, 'vllm-proxy').active).toBe('active');
		stopUnit(head, unit(head, 'vllm-proxy'));
		pass(head, 5);
		startUnit(head, unit(head, 'vllm-proxy'));
		pass(head, 5);
		expect(['vllm-reranker', 'vllm-cluster'].map((name) => unit(head, name).active)).toEqual(['active', 'active']);
	});
});
