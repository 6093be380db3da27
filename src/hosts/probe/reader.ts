import { type Failure, failure } from '../../domain/failure.ts';
import type { Identity } from '../../domain/host.ts';
import type { Observation } from '../../domain/observation.ts';
import type { CgroupSum, Process } from '../../domain/process.ts';
import type { Container, Unit, UnitManager } from '../../domain/unit.ts';
import { parseContainers } from '../parse/containers.ts';
import { type CpuTimes, parseCpu, parseMemInfo, parsePressure } from '../parse/meminfo.ts';
import { parseUnits } from '../parse/systemd.ts';
import { number, readIdentity, readProcesses, readSums, string, strings } from './fields.ts';
import { emptyGpuStream, type GpuStream, gpuProcesses, pushApps, pushQuery } from './gpuStream.ts';
import type { ProbeMessage } from './lines.ts';

/**
 * Turns the probe's messages into observations: one at every tick, each part with its own source and time. Nothing a
 * host sends makes it throw; what can't be read becomes a failure of its part, and the part keeps its last facts.
 */
export type ProbeReader = {
	/** Takes one message; `now` is the console's clock in ms. Returns an observation at a tick that could be read. */
	readonly push: (message: ProbeMessage, now: number) => Observation | null;
};

type Part = 'gpu' | 'apps' | 'system' | 'user' | 'containers' | 'walk';

type State = {
	identity: Identity | null;
	/** Host seconds at which the probe started. */
	startedAt: number;
	/** Console ms minus host seconds × 1000: the smallest seen lately, which is the one with the least delay. */
	offset: number;
	cpu: CpuTimes | null;
	cpuBusy: number | null;
	gpu: GpuStream;
	units: Record<UnitManager, { list: ReadonlyMap<string, Unit>; at: number } | null>;
	containers: { list: readonly Container[]; at: number; tool: string } | null;
	walk: { groups: readonly CgroupSum[]; large: readonly Process[]; at: number } | null;
	failures: Map<Part, Failure>;
	answered: Set<Part>;
	/** The same array as long as nothing changed, so that what is derived from it can be kept. */
	unitList: readonly Unit[];
};

export const probeReader = (host: string): ProbeReader => {
	const state: State = {
		identity: null,
		startedAt: 0,
		offset: Number.POSITIVE_INFINITY,
		cpu: null,
		cpuBusy: null,
		gpu: emptyGpuStream,
		units: { system: null, user: null },
		containers: null,
		walk: null,
		failures: new Map(),
		answered: new Set(),
		unitList: [],
	};
	const push = (message: ProbeMessage, now: number): Observation | null => {
		switch (message.k) {
			case 'hello':
				state.identity = readIdentity(message);
				state.startedAt = number(message['at']) ?? 0;
				return null;
			case 'gpu':
				readGpu(state, host, message);
				return null;
			case 'units':
				readUnits(state, host, message);
				return null;
			case 'containers':
				readContainers(state, host, message);
				return null;
			case 'walk':
				readWalk(state, message);
				return null;
			case 'tick':
				return readTick(state, host, message, now);
			default:
				return null;
		}
	};
	return { push };
};

const readGpu = (state: State, host: string, message: ProbeMessage): void => {
	const part: Part = message['what'] === 'apps' ? 'apps' : 'gpu';
	const at = number(message['at']);
	const error = string(message['error']);
	if (error !== '' || at === null) {
		state.answered.add(part);
		state.failures.set(part, gpuFailure(host, error));
		return;
	}
	const lines = strings(message['lines']);
	const before = state.gpu;
	state.gpu = part === 'apps' ? pushApps(before, lines, at) : pushQuery(before, lines, at);
	const heard = part === 'apps' ? state.gpu.appsAt !== before.appsAt : state.gpu.queryRounds !== before.queryRounds;
	if (heard) {
		state.answered.add(part);
		state.failures.delete(part);
	} else if (part === 'gpu' && lines.some((line) => /no devices were found|failed|error/i.test(line))) {
		state.answered.add(part);
		state.failures.set(part, gpuFailure(host, lines.join(' ')));
	}
};

const gpuFailure = (host: string, error: string): Failure =>
	/no such file/i.test(error)
		? failure(
				'missing-tool',
				`${host} has no nvidia-smi`,
				'GPU figures need the NVIDIA driver with its tools on the host',
			)
		: failure(
				'unreadable',
				`nvidia-smi on ${host}: ${error || 'ended'}`,
				`Look at it on the host: ssh ${host} nvidia-smi`,
			);

const readUnits = (state: State, host: string, message: ProbeMessage): void => {
	const manager: UnitManager = message['mgr'] === 'user' ? 'user' : 'system';
	state.answered.add(manager);
	const error = string(message['error']);
	if (error !== '') {
		const hint =
			manager === 'user'
				? `Services of the user's manager need a session: loginctl enable-linger on ${host}`
				: `Look at it on the host: ssh ${host} systemctl status`;
		state.failures.set(manager, failure('unreadable', `${manager} manager of ${host}: ${error}`, hint));
		return;
	}
	state.failures.delete(manager);
	const units = parseUnits(string(message['text']), manager);
	const list = new Map(message['full'] === true ? [] : state.units[manager]?.list);
	for (const unit of units) list.set(unit.name, unit);
	state.units[manager] = { list, at: number(message['at']) ?? 0 };
	state.unitList = [...(state.units.system?.list.values() ?? []), ...(state.units.user?.list.values() ?? [])];
};

const readContainers = (state: State, host: string, message: ProbeMessage): void => {
	state.answered.add('containers');
	const tool = string(message['tool']);
	const error = string(message['error']);
	if (tool === '') {
		state.failures.delete('containers');
		return;
	}
	if (message['code'] !== 0) {
		const hint = /permission denied/i.test(error)
			? `Let the user see containers: sudo usermod -aG docker USER on ${host}, then log in again`
			: `Look at it on the host: ssh ${host} ${tool} ps`;
		const kind = /permission denied/i.test(error) ? 'denied' : 'unreadable';
		state.failures.set('containers', failure(kind, `${tool} ps on ${host}: ${error || 'failed'}`, hint));
		return;
	}
	state.failures.delete('containers');
	state.containers = { list: parseContainers(string(message['text']), tool), at: number(message['at']) ?? 0, tool };
};

/** The two loops of nvidia-smi fail alike; once is enough. */
const distinct = (failures: readonly Failure[]): Failure[] =>
	failures.filter((one, index) => failures.findIndex((other) => other.cause === one.cause) === index);

const readWalk = (state: State, message: ProbeMessage): void => {
	const groups = readSums(message['groups']);
	state.walk = { groups, large: readProcesses(message['large']), at: number(message['at']) ?? 0 };
	state.answered.add('walk');
	state.failures.delete('walk');
};

const TOOLS: Readonly<Record<Part, string>> = {
	gpu: 'nvidia-smi',
	apps: 'nvidia-smi',
	system: 'systemctl show',
	user: 'systemctl --user show',
	containers: 'docker ps',
	walk: 'the walk over /proc',
};

/** What has said nothing yet is told as a failure, until it does say something. */
const giveUpWaiting = (state: State, host: string): void => {
	for (const part of PARTS) {
		if (state.answered.has(part)) continue;
		state.answered.add(part);
		const cause = `${TOOLS[part]} on ${host} has not answered for ${SLOW} s`;
		state.failures.set(part, failure('timeout', cause, `Look at it on the host: ssh ${host} ${TOOLS[part]}`));
	}
};

const readTick = (state: State, host: string, message: ProbeMessage, now: number): Observation | null => {
	const at = number(message['at']);
	const memory = parseMemInfo(string(message['meminfo']));
	if (at === null || state.identity === null || !memory.ok) return null;
	// The smallest is the one with the least delay on the way. It may grow by 1 ms a tick, and a jump of one of the clocks
	// (a suspend) is followed at once: a frame that is that late would be no news.
	const offset = now - at * 1000;
	state.offset = Math.abs(offset - state.offset) > JUMP ? offset : Math.min(state.offset + 1, offset);
	const clock = (seconds: number): number => Math.round(seconds * 1000 + state.offset);
	const seen = clock(at);

	const pressure = parsePressure(string(message['psi']));
	const cpu = parseCpu(string(message['cpu']));
	if (cpu.ok && state.cpu && cpu.value.total > state.cpu.total) {
		const share = (cpu.value.busy - state.cpu.busy) / (cpu.value.total - state.cpu.total);
		state.cpuBusy = Math.min(1, Math.max(0, share));
	}
	if (cpu.ok) state.cpu = cpu.value;

	if (at - state.startedAt > SLOW) giveUpWaiting(state, host);
	const procs = readProcesses(message['procs']);
	const gone = new Set([
		...(Array.isArray(message['gone']) ? message['gone'] : []),
		...procs.filter((process) => process.state === 'Z').map((process) => process.pid),
	]);
	const apps = gpuProcesses(state.gpu);
	const holders = apps?.list.filter((process) => !gone.has(process.pid)) ?? [];
	// An empty list is as new as the other loop's word: there is nobody left whom it could name.
	const appsAt = holders.length === 0 ? Math.max(apps?.at ?? 0, state.gpu.queryAt ?? 0) : (apps?.at ?? 0);
	if (apps) state.answered.add('apps');
	if (apps && state.failures.get('apps')?.kind === 'timeout') state.failures.delete('apps');
	const known = new Set(procs.map((process) => process.pid));
	const large = (state.walk?.large ?? []).filter((process) => !known.has(process.pid) && !gone.has(process.pid));
	const unitsAt = Math.max(state.units.system?.at ?? 0, state.units.user?.at ?? 0);
	return {
		host,
		at: seen,
		sequence: number(message['n']) ?? 0,
		complete: PARTS.every((part) => state.answered.has(part)),
		identity: state.identity,
		uptime: at,
		memory: { value: memory.value, source: '/proc/meminfo', observedAt: seen },
		pressure: pressure.ok ? { value: pressure.value, source: '/proc/pressure/memory', observedAt: seen } : null,
		cpuBusy: state.cpuBusy,
		gpus:
			state.gpu.queryAt === null
				? null
				: {
						value: [...state.gpu.gpus.values()],
						source: 'nvidia-smi --query-gpu',
						observedAt: clock(state.gpu.queryAt),
					},
		gpuProcesses: apps && {
			value: holders,
			source: 'nvidia-smi --query-compute-apps',
			observedAt: clock(appsAt),
		},
		processes: [...procs.filter((process) => !gone.has(process.pid)), ...large],
		cgroups: state.walk && { value: state.walk.groups, source: '/proc/PID/statm', observedAt: clock(state.walk.at) },
		units:
			state.unitList.length > 0 || state.units.system
				? { value: state.unitList, source: 'systemctl show', observedAt: clock(unitsAt) }
				: null,
		containers: state.containers && {
			value: state.containers.list,
			source: `${state.containers.tool} ps`,
			observedAt: clock(state.containers.at),
		},
		failures: distinct([...state.failures.values()]),
	};
};

/** Milliseconds: longer than any frame is held up on a live connection (keepalive ends it after 8 s). */
const JUMP = 15_000;

/** Seconds after which a part that has not answered at all counts as one that does not: the rest is not held up by it. */
const SLOW = 6;

const PARTS: readonly Part[] = ['gpu', 'apps', 'system', 'user', 'containers', 'walk'];
