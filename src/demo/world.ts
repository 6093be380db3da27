import { GiB } from '../domain/bytes.ts';
import { createRandom, hash, wobble } from './random.ts';
import { cast, type HostCast, residents } from './worldCast.ts';
import { closeContainer, crashUnit, scopeOf, serve, unitOf } from './worldLife.ts';
import { memoryOf } from './worldMemory.ts';
import { endProc, later, spawn } from './worldProcs.ts';
import { type Container, keyOf, level, type SimHost, steady, type Unit, type UnitSpec } from './worldTypes.ts';

/**
 * The simulated pair. Pure: it knows no clock; `advance` takes it to an instant, and the same seed and the same calls
 * make the same world. The clocks of the hosts run as the real one does; `speed` makes what happens take less time.
 */
export const createWorld = (options: { speed: number; wallMs: number; seed?: number }): SimHost[] =>
	cast.map((one) => createHost(one, options.speed, options.wallMs, (options.seed ?? 1) + hash(one.name)));

const kb = (gib: number): number => Math.round((gib * GiB) / 1024);

const createHost = (one: HostCast, speed: number, wallMs: number, seed: number): SimHost => {
	const random = createRandom(seed);
	const now = Math.round(one.up * 86_400);
	const [slab, stack, tables, percpu] = one.kernel.map(kb) as [number, number, number, number];
	const uuid = (): string =>
		[8, 4, 4, 4, 12]
			.map((digits) => random.hex(digits))
			.join('-')
			.replace(/^(.{14})./, '$14');
	const host: SimHost = {
		name: one.name,
		role: one.role,
		speed,
		bootId: uuid(),
		machineId: random.hex(32),
		gpuUuid: `GPU-${uuid()}`,
		bootedAt: wallMs - now * 1000,
		totalKb: one.totalKb,
		cacheKb: kb(one.cache),
		kernelKb: { shmem: kb(one.shmem), slab, stack, tables },
		percpuKb: percpu,
		unexplainedKb: kb(one.unexplained),
		random,
		seed,
		now,
		cpuSeconds: now * 20 * (one.role === 'head' ? 0.11 : 0.02),
		units: new Map(),
		procs: new Map(),
		containers: new Map(),
		returning: [],
		residue: new Map(),
		serving: steady(0),
		plans: [],
		order: 0,
		nextPid: 900,
		nextJob: 4200,
		nextSession: 40,
		heard: new Set(),
		faults: { sudo: 'free', gpuHung: false, frozen: false, sticky: new Set() },
	};
	for (const resident of residents) spawn(host, { ...resident, startedAt: 4 });
	for (const spec of one.units) host.units.set(keyOf(spec.manager, spec.name), settled(host, spec));
	if (one.role === 'head') addOldContainer(host);
	host.serving = steady(one.role === 'head' ? 1 : 0);
	close(host, kb(one.free) + kb(one.cache));
	return host;
};

/** A unit as it is long after boot. */
const settled = (host: SimHost, spec: UnitSpec): Unit => {
	const model = spec.container !== null || spec.procs.some((one) => one.hostMiB > 100);
	const startedAt = model ? host.now - 180_000 - Math.floor(host.random.next() * 9000) : 6 + host.random.next() * 9;
	const runs = spec.state === 'running';
	if (runs && model) host.nextPid = Math.max(host.nextPid, 48_000);
	const pids = runs ? spec.procs.map((one) => spawn(host, { ...one, cgroup: spec.cgroup, startedAt }).pid) : [];
	const ran = spec.state !== 'dead';
	const failed = spec.state === 'failed';
	const unit: Unit = {
		spec,
		active: runs || spec.state === 'exited' ? 'active' : failed ? 'failed' : 'inactive',
		sub: spec.state,
		result: failed ? 'exit-code' : 'success',
		mainPid: pids[0] ?? 0,
		main: null,
		pids,
		container: null,
		invocation: ran ? host.random.hex(32) : '',
		restarts: 0,
		activeSince: ran && !failed ? startedAt : null,
		inactiveSince: failed ? startedAt + 60 : null,
		job: null,
		epoch: 0,
		startAfterStop: false,
		messages: [],
	};
	if (pids[0] !== undefined) unit.main = { pid: pids[0], startedAt, endedAt: null, exit: 'code=(null) ; status=0/0' };
	if (failed) unit.main = { pid: 812, startedAt, endedAt: startedAt + 60, exit: 'code=exited ; status=1' };
	if (ran && !failed) {
		const said = [`Started ${spec.name} - ${spec.description}.`, ...spec.log];
		unit.messages = said.map((text, at) => ({ at: startedAt + at * 9, text }));
	}
	if (spec.container) {
		const id = host.random.hex(64);
		const within = spec.container.procs.map((one) => spawn(host, { ...one, cgroup: scopeOf(id), startedAt }).pid);
		unit.container = id;
		host.containers.set(id, {
			id,
			spec: spec.container,
			createdAt: startedAt,
			startedAt,
			endedAt: 0,
			running: true,
			exitCode: 0,
			pids: within,
			unit: keyOf(spec.manager, spec.name),
		});
	}
	return unit;
};

/** A container that nobody runs: left over from a measurement of the link. */
const addOldContainer = (host: SimHost): void => {
	const id = host.random.hex(64);
	const spec = {
		name: 'nccl-test',
		image: 'nvcr.io/nvidia/pytorch:26.05-py3',
		command: '/opt/nccl-tests/build/all_reduce_perf -b 1G',
		procs: [{ name: 'all_reduce_perf', command: 'all_reduce_perf -b 1G', user: 'root', hostMiB: 96, gpuMiB: 0 }],
		remove: false,
	};
	const at = host.now - 260_000;
	host.containers.set(id, {
		id,
		spec,
		createdAt: at,
		startedAt: at,
		endedAt: at + 300,
		running: false,
		exitCode: 0,
		pids: [],
		unit: null,
	});
};

/** The operator's notebooks hold what is missing for the sums to close on the figures of the story. */
const close = (host: SimHost, availableKb: number): void => {
	const missing = memoryOf(host).available - availableKb;
	const cgroup = '/user.slice/user-1000.slice/session-2.scope';
	for (const share of [0.7, 0.3])
		spawn(host, {
			name: 'python3',
			command: '/home/spark/.venv/bin/python3 -m ipykernel_launcher',
			user: 'spark',
			hostMiB: (missing * share) / 1024,
			gpuMiB: 0,
			cgroup,
			startedAt: host.now - 50_000,
		});
};

/** Takes a host to `now` (seconds since boot), through everything that was planned on the way. */
export const advance = (host: SimHost, now: number): void => {
	for (;;) {
		const due = nextPlan(host);
		if (!due || due.at > now) break;
		host.plans.splice(host.plans.indexOf(due), 1);
		pass(host, Math.max(host.now, due.at));
		due.act();
	}
	pass(host, Math.max(host.now, now));
	host.returning = host.returning.filter((ramp) => host.now < ramp.at + ramp.takes);
};

export const nextPlan = (host: SimHost): SimHost['plans'][number] | undefined => {
	let first: SimHost['plans'][number] | undefined;
	for (const plan of host.plans)
		if (!first || plan.at < first.at || (plan.at === first.at && plan.order < first.order)) first = plan;
	return first;
};

const pass = (host: SimHost, now: number): void => {
	host.cpuSeconds += (now - host.now) * 20 * cpuBusy(host);
	host.now = now;
};

/** Share of the 20 cores that is busy. */
const cpuBusy = (host: SimHost): number =>
	0.02 + 0.12 * level(host.serving, host.now) + 0.008 * wobble(host.seed, 'cpu', host.now);

/** SIGTERM to a process; what it belonged to reacts. False where there is none. */
export const terminate = (host: SimHost, pid: number): boolean => {
	if (!host.procs.has(pid)) return false;
	for (const unit of host.units.values()) {
		const container = unit.container === null ? undefined : host.containers.get(unit.container);
		if (unit.pids.includes(pid) || container?.pids.includes(pid)) {
			later(host, 0.3, () => crashUnit(host, unit, 'code=exited ; status=1', 'exit-code'));
			return true;
		}
	}
	later(host, 0.5, () => {
		endProc(host, pid, 5);
		serve(host);
	});
	return true;
};

/** `docker stop`: one of a unit takes the unit's client with it. */
export const stopContainer = (host: SimHost, container: Container): void => {
	const unit = container.unit === null ? undefined : unitOf(host, ...splitKey(container.unit));
	later(host, unit ? unit.spec.stopTakes * 0.8 : 1, () => {
		if (!container.running) return;
		if (unit) crashUnit(host, unit, 'code=exited ; status=143', 'exit-code');
		else {
			for (const pid of container.pids) endProc(host, pid, 1);
			closeContainer(host, container, 143);
		}
	});
};

export const startContainer = (host: SimHost, container: Container): void => {
	if (container.running) return;
	container.running = true;
	container.startedAt = host.now;
	const cgroup = scopeOf(container.id);
	container.pids = container.spec.procs.map((one) => spawn(host, { ...one, cgroup, grows: 1 }).pid);
};

const splitKey = (key: string): [string, string] => {
	const at = key.indexOf('/');
	return [key.slice(0, at), key.slice(at + 1)];
};
