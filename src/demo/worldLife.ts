import { GiB, MiB } from '../domain/bytes.ts';
import { memoryOf } from './worldMemory.ts';
import { anonBytes, endProc, fillGpu, gpuMiB, later, spawn } from './worldProcs.ts';
import { type Container, keyOf, level, type ProcSpec, type SimHost, steady, type Unit } from './worldTypes.ts';

/** What systemd and docker do to units, containers and processes over time. */

export const announce = (host: SimHost, unit: Unit): void => {
	for (const heard of [...host.heard]) heard({ manager: unit.spec.manager, unit: unit.spec.name });
};

export const announceScope = (host: SimHost, scope: string): void => {
	for (const heard of [...host.heard]) heard({ scope });
};

export const unitOf = (host: SimHost, manager: string, name: string): Unit | undefined => {
	const full = /\.[a-z]+$/.test(name) ? name : `${name}.service`;
	const found = host.units.get(`${manager}/${full}`);
	if (found) return found;
	for (const unit of host.units.values())
		if (unit.spec.manager === manager && unit.spec.aliases.includes(full)) return unit;
	return undefined;
};

/** Plans a turn in the life of a unit; dropped when the unit has taken another direction meanwhile. */
const next = (host: SimHost, unit: Unit, seconds: number, act: () => void): void => {
	const { epoch } = unit;
	later(host, seconds, () => {
		if (unit.epoch === epoch) act();
	});
};

const turn = (host: SimHost, unit: Unit, active: Unit['active'], sub: string): void => {
	if (active === 'active' && unit.active !== 'active') unit.activeSince = host.now;
	if ((active === 'inactive' || active === 'failed') && unit.active !== active) unit.inactiveSince = host.now;
	unit.active = active;
	unit.sub = sub;
	announce(host, unit);
};

const say = (host: SimHost, unit: Unit, text: string): void => {
	unit.messages = [...unit.messages.slice(-49), { at: host.now, text }];
};

const enqueue = (host: SimHost, unit: Unit, type: 'start' | 'stop'): void => {
	host.nextJob += 1;
	unit.epoch += 1;
	unit.job = { id: host.nextJob, type };
	announce(host, unit);
};

export const startUnit = (host: SimHost, unit: Unit): void => {
	if (unit.active === 'active' || unit.job?.type === 'start') return;
	if (unit.active === 'deactivating') {
		unit.startAfterStop = true;
		return;
	}
	for (const name of unit.spec.wants) {
		const wanted = host.units.get(keyOf(unit.spec.manager, name));
		if (wanted && wanted.active === 'inactive') startUnit(host, wanted);
	}
	enqueue(host, unit, 'start');
	next(host, unit, 0.1, () => prepare(host, unit));
};

const prepare = (host: SimHost, unit: Unit): void => {
	const { spec } = unit;
	unit.invocation = host.random.hex(32);
	unit.result = 'success';
	const pre = spec.execStartPre.length > 0;
	say(host, unit, `Starting ${spec.name} - ${spec.description}...`);
	turn(host, unit, 'activating', pre ? 'start-pre' : 'start');
	next(host, unit, pre ? 0.8 : 0.2, () => run(host, unit));
};

const run = (host: SimHost, unit: Unit): void => {
	const { spec } = unit;
	const key = keyOf(spec.manager, spec.name);
	const before = host.residue.get(key);
	if (before) host.residue.set(key, { from: level(before, host.now), to: 0, at: host.now, takes: 2 / host.speed });
	unit.job = null;
	say(host, unit, `Started ${spec.name} - ${spec.description}.`);
	if (spec.type === 'oneshot') {
		turn(host, unit, 'active', 'exited');
		return;
	}
	const procs = spec.procs.map((one, at) => spawn(host, grown(one, spec.cgroup, unit, at)));
	unit.pids = procs.map((proc) => proc.pid);
	unit.mainPid = unit.pids[0] ?? 0;
	unit.main = { pid: unit.mainPid, startedAt: host.now, endedAt: null, exit: 'code=(null) ; status=0/0' };
	turn(host, unit, 'active', 'running');
	if (spec.container) next(host, unit, 0.5, () => runContainer(host, unit));
	load(host, unit, spec.procs, unit.pids);
};

const grown = (one: ProcSpec, cgroup: string, unit: Unit, at: number) => ({
	...one,
	cgroup,
	grows: Math.max(0.2, unit.spec.loadTakes / 3),
	...(at > 0 && { parent: unit.mainPid }),
});

const runContainer = (host: SimHost, unit: Unit): void => {
	const { container: spec } = unit.spec;
	if (!spec) return;
	const id = host.random.hex(64);
	const cgroup = scopeOf(id);
	const pids = spec.procs.map((one, at) => spawn(host, grown(one, cgroup, unit, at)).pid);
	const key = keyOf(unit.spec.manager, unit.spec.name);
	unit.container = id;
	host.containers.set(id, {
		id,
		spec,
		createdAt: host.now,
		startedAt: host.now,
		endedAt: 0,
		running: true,
		exitCode: 0,
		pids,
		unit: key,
	});
	announceScope(host, cgroup);
	load(host, unit, spec.procs, pids);
};

export const scopeOf = (id: string): string => `/system.slice/docker-${id}.scope`;

/** vLLM looks before it takes: where the pool has not enough left, it ends with an error instead of loading. */
const load = (host: SimHost, unit: Unit, specs: readonly ProcSpec[], pids: readonly number[]): void => {
	const at = specs.findIndex((one) => one.gpuMiB > 0);
	const pid = pids[at];
	if (pid === undefined) return;
	const { gpuMiB: wanted } = specs[at]!;
	next(host, unit, unit.spec.loadAfter, () => {
		const proc = host.procs.get(pid);
		if (!proc) return;
		const promised = [...host.procs.values()].reduce((sum, one) => sum + one.gpu.to - level(one.gpu, host.now), 0);
		const room = memoryOf(host).available * 1024 - promised * MiB;
		if (room < wanted * MiB + GiB) {
			const free = (room / GiB).toFixed(2);
			const needs = (wanted / 1024).toFixed(2);
			say(host, unit, `ValueError: Free memory on device (${free} GiB) on startup is less than desired (${needs} GiB)`);
			crashUnit(host, unit, 'code=exited ; status=1', 'exit-code');
			return;
		}
		fillGpu(host, proc, wanted, unit.spec.loadTakes);
		next(host, unit, unit.spec.loadTakes, () => {
			for (const text of unit.spec.log) say(host, unit, text);
			serve(host);
		});
	});
};

/** The load of the GPU follows whether the large model is there: half a minute to warm up or to cool down. */
export const serve = (host: SimHost): void => {
	const serving = [...host.procs.values()].some((proc) => gpuMiB(proc, host.now) > 40_000);
	if (host.serving.to === (serving ? 1 : 0)) return;
	host.serving = {
		from: level(host.serving, host.now),
		to: serving ? 1 : 0,
		at: host.now,
		takes: 20 / host.speed,
	};
};

export const stopUnit = (host: SimHost, unit: Unit): void => {
	unit.startAfterStop = false;
	if (unit.active === 'inactive' || unit.active === 'failed') {
		if (unit.job) {
			unit.epoch += 1;
			unit.job = null;
			announce(host, unit);
		}
		return;
	}
	if (unit.job?.type === 'stop') return;
	enqueue(host, unit, 'stop');
	next(host, unit, 0.1, () => {
		const { spec } = unit;
		say(host, unit, `Stopping ${spec.name} - ${spec.description}...`);
		const takes = unit.sub === 'auto-restart' || spec.type === 'oneshot' ? 0.05 : spec.stopTakes;
		turn(host, unit, 'deactivating', spec.execStop.length > 0 ? 'stop' : 'stop-sigterm');
		// Workers and the container end first, the main process last.
		next(host, unit, takes * 0.8, () => {
			endContainerOf(host, unit);
			endOthers(host, unit);
			next(host, unit, takes * 0.2, () => ended(host, unit));
		});
	});
};

/** Ends all but the main process; a stuck engine is left behind, without anybody who knows of it. */
const endOthers = (host: SimHost, unit: Unit): void => {
	keepResidue(host, unit, unit.pids);
	const [main, ...others] = unit.pids;
	for (const pid of others) leave(host, unit, pid);
	unit.pids = main === undefined ? [] : [main];
	serve(host);
};

const leave = (host: SimHost, unit: Unit, pid: number): void => {
	const proc = host.procs.get(pid);
	const key = keyOf(unit.spec.manager, unit.spec.name);
	if (proc && proc.gpuType === 'C' && host.faults.sticky.delete(key)) return;
	endProc(host, pid, unit.spec.returnTakes);
};

/** What is measured to come back is never quite what was held: up to 2 % less or 1 % more, and little in all. */
const keepResidue = (host: SimHost, unit: Unit, pids: readonly number[]): void => {
	const held = pids.reduce((sum, pid) => {
		const proc = host.procs.get(pid);
		return proc ? sum + anonBytes(proc, host.now) + gpuMiB(proc, host.now) * MiB : sum;
	}, 0);
	if (held < 256 * MiB) return;
	const share = host.random.next() * 0.03 - 0.01;
	const bytes = Math.max(-40 * MiB, Math.min(120 * MiB, held * share));
	host.residue.set(keyOf(unit.spec.manager, unit.spec.name), steady(Math.round(bytes)));
};

const ended = (host: SimHost, unit: Unit): void => {
	for (const pid of unit.pids) leave(host, unit, pid);
	unit.pids = [];
	unit.mainPid = 0;
	if (unit.main) unit.main = { ...unit.main, endedAt: host.now, exit: 'code=exited ; status=0' };
	unit.job = null;
	unit.result = 'success';
	say(host, unit, `${unit.spec.name}: Deactivated successfully.`);
	say(host, unit, `Stopped ${unit.spec.name} - ${unit.spec.description}.`);
	turn(host, unit, 'inactive', 'dead');
	serve(host);
	if (unit.startAfterStop) {
		unit.startAfterStop = false;
		startUnit(host, unit);
	}
};

const endContainerOf = (host: SimHost, unit: Unit): void => {
	const container = unit.container === null ? undefined : host.containers.get(unit.container);
	unit.container = null;
	if (!container) return;
	keepResidue(host, unit, container.pids);
	for (const pid of container.pids) leave(host, unit, pid);
	closeContainer(host, container, 0);
};

export const closeContainer = (host: SimHost, container: Container, exitCode: number): void => {
	container.pids = [];
	container.running = false;
	container.endedAt = host.now;
	container.exitCode = exitCode;
	if (container.spec.remove) host.containers.delete(container.id);
	announceScope(host, scopeOf(container.id));
	serve(host);
};

/** The main process is gone by itself; what is left of the unit goes with it, and Restart= decides. */
export const crashUnit = (host: SimHost, unit: Unit, exit: string, result: string): void => {
	if (unit.active !== 'active' && unit.active !== 'activating') return;
	unit.epoch += 1;
	unit.job = null;
	endContainerOf(host, unit);
	keepResidue(host, unit, unit.pids);
	for (const pid of unit.pids) leave(host, unit, pid);
	unit.pids = [];
	unit.mainPid = 0;
	if (unit.main) unit.main = { ...unit.main, endedAt: host.now, exit };
	unit.result = result;
	serve(host);
	const { name, restart, restartSeconds } = unit.spec;
	say(host, unit, `${name}: Main process exited, ${exit.replace(' ; ', ', ')}`);
	say(host, unit, `${name}: Failed with result '${result}'.`);
	if (restart === 'no') {
		turn(host, unit, 'failed', 'failed');
		return;
	}
	turn(host, unit, 'activating', 'auto-restart');
	next(host, unit, restartSeconds, () => {
		unit.restarts += 1;
		say(host, unit, `${name}: Scheduled restart job, restart counter is at ${unit.restarts}.`);
		prepare(host, unit);
	});
};
