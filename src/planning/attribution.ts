import type { GpuProcess } from '../domain/gpu.ts';
import type { HostSettings } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import type { Process } from '../domain/process.ts';
import { type Manager, type Service, type ServiceState, serviceId } from '../domain/service.ts';
import type { Container, Unit } from '../domain/unit.ts';
import { guardedBecause } from './guarded.ts';

/** All services of a host with what they hold, and the memory of the desktop, which is nobody's service. */
export type Attribution = {
	readonly services: readonly Service[];
	readonly desktopBytes: number;
};

/** Cgroups of graphical sessions: display managers and what GNOME, KDE and Xfce start under the user's manager. */
const DESKTOP =
	/\/(gdm3?|sddm|lightdm|display-manager)\.service(\/|$)|\/(org\.gnome\.|gnome-|plasma-|app-gnome|xdg-desktop|dbus-:[^/]*gnome)[^/]*\.(service|scope|slice)(\/|$)|\/session\.slice\/|\/session-c\d+\.scope/;

const CONTAINER = /(?:docker-|libpod-|cri-containerd-|\/docker\/)([0-9a-f]{64})/;

type Bucket = { gpu: number; unknownGpu: boolean; host: number; count: number; processes: Process[] };

const emptyBucket = (): Bucket => ({ gpu: 0, unknownGpu: false, host: 0, count: 0, processes: [] });

/** Joins processes to cgroups, cgroups to units and containers, and containers to the units that run them. */
export const attribute = (seen: Observation, settings: HostSettings): Attribution => {
	const units = seen.units?.value ?? [];
	const containers = seen.containers?.value ?? [];
	const ownerOf = ownerLookup(seen.host, units, containers);
	const buckets = new Map<string, Bucket>();
	const orphans: Process[] = [];
	let desktopBytes = 0;
	const bucket = (id: string): Bucket => {
		const found = buckets.get(id) ?? emptyBucket();
		buckets.set(id, found);
		return found;
	};

	const gpuOf = new Map((seen.gpuProcesses?.value ?? []).map((process) => [process.pid, process]));
	const orphanBytes = new Map<string, number>();
	for (const process of seen.processes) {
		const gpu = gpuOf.get(process.pid);
		let owner = ownerOf(process.cgroup);
		if (owner === null) {
			if (!gpu) continue;
			owner = serviceId(seen.host, 'process', orphanName(process, gpu));
			orphans.push(process);
			bucket(owner).host += process.anonBytes;
			bucket(owner).count += 1;
			orphanBytes.set(process.cgroup, (orphanBytes.get(process.cgroup) ?? 0) + process.anonBytes);
		}
		const into = bucket(owner);
		into.processes.push(process);
		if (gpu && gpu.bytes === null) into.unknownGpu = true;
		into.gpu += gpu?.bytes ?? 0;
	}
	for (const sum of seen.cgroups?.value ?? []) {
		const owner = ownerOf(sum.path);
		if (owner !== null) {
			bucket(owner).host += sum.anonBytes;
			bucket(owner).count += sum.processes;
		} else if (DESKTOP.test(sum.path)) desktopBytes += Math.max(0, sum.anonBytes - (orphanBytes.get(sum.path) ?? 0));
	}

	const make = (
		manager: Manager,
		name: string,
		rest: Pick<Service, 'state' | 'description' | 'unit' | 'container'>,
	) => {
		const id = serviceId(seen.host, manager, name);
		const held = buckets.get(id) ?? emptyBucket();
		return {
			id,
			host: seen.host,
			name,
			manager,
			...rest,
			gpuBytes: seen.gpuProcesses ? held.gpu : null,
			gpuAtLeast: held.unknownGpu,
			hostBytes: held.host,
			keep: isKept(settings.keep, name),
			guarded: guardedBecause(manager, name),
			processes: held.processes,
			processCount: held.count,
		} satisfies Service;
	};
	const services: Service[] = units.map((unit) =>
		make(unit.manager, unit.name, {
			state: unitState(unit),
			description: unit.description,
			unit,
			container: containers.find((one) => one.running && runnerOf(one, units) === unit) ?? null,
		}),
	);
	for (const container of containers) {
		if (runnerOf(container, units) !== null) continue;
		const state = container.running ? 'running' : 'stopped';
		const description = `container of ${container.image}`;
		services.push(
			make('container', container.name || container.id.slice(0, 12), { state, description, unit: null, container }),
		);
	}
	for (const process of orphans) {
		const description = 'process without a unit or a container';
		const name = orphanName(process, gpuOf.get(process.pid));
		services.push(make('process', name, { state: 'running', description, unit: null, container: null }));
	}
	return { services, desktopBytes };
};

/** nvidia-smi knows the whole name; the kernel's is cut at 15 characters. The pid tells two of a kind apart. */
const orphanName = (process: Process, gpu: GpuProcess | undefined): string =>
	`${(gpu?.name ?? '').split('/').at(-1) || process.name}:${process.pid}`;

export const isKept = (keep: readonly string[], name: string): boolean =>
	keep.some((kept) => kept === name || `${kept}.service` === name);

const unitState = (unit: Unit): ServiceState => {
	switch (unit.activeState) {
		case 'active':
			return unit.subState === 'exited' ? 'exited' : 'running';
		case 'reloading':
			return 'running';
		case 'activating':
			return 'starting';
		case 'deactivating':
			return 'stopping';
		case 'failed':
			return 'failed';
		default:
			return 'stopped';
	}
};

/** The unit that runs a container: stopping the container alone would be undone by it, or leave it failed. */
const runnerOf = (container: Container, units: readonly Unit[]): Unit | null =>
	units.find((unit) => unit.activeState !== 'inactive' && runsContainer(unit, container.name)) ?? null;

const TOOL = /(^|\/)(docker|podman|nerdctl)$/;

const runsContainer = (unit: Unit, name: string): boolean => {
	if (name === '') return false;
	for (const words of unit.execStart) {
		const tool = words.findIndex((word) => TOOL.test(word));
		if (tool < 0) continue;
		const rest = words.slice(tool + 1);
		if (rest.includes(`--name=${name}`) || rest[rest.indexOf('--name') + 1] === name) return true;
		if ((rest[0] === 'start' || rest[1] === 'start') && rest.at(-1) === name) return true;
		if (unit.name === `${name}.service`) return true;
	}
	return false;
};

/** From a cgroup path to the id of the service that owns it; null for what no unit and no container owns. */
const ownerLookup = (
	host: string,
	units: readonly Unit[],
	containers: readonly Container[],
): ((path: string) => string | null) => {
	const byPath = new Map<string, Unit>();
	for (const unit of units) if (unit.cgroup !== '' && unit.cgroup !== '/') byPath.set(unit.cgroup, unit);
	const byId = new Map(containers.map((container) => [container.id, container]));
	const memo = new Map<string, string | null>();

	const find = (path: string): string | null => {
		if (DESKTOP.test(path)) return null;
		for (let at = path; at.length > 1; at = at.slice(0, at.lastIndexOf('/'))) {
			const unit = byPath.get(at);
			if (unit && !isHousing(unit)) return serviceId(host, unit.manager, unit.name);
		}
		const id = CONTAINER.exec(path)?.[1];
		const container = id === undefined ? undefined : byId.get(id);
		if (!container) return null;
		const runner = runnerOf(container, units);
		return runner
			? serviceId(host, runner.manager, runner.name)
			: serviceId(host, 'container', container.name || container.id.slice(0, 12));
	};
	return (path) => {
		const known = memo.get(path);
		if (known !== undefined) return known;
		const owner = find(path);
		memo.set(path, owner);
		return owner;
	};
};

/** `user@1000.service` houses the units of a user; what lies in it and belongs to none of them is a session's. */
const isHousing = (unit: Unit): boolean => unit.manager === 'system' && unit.name.startsWith('user@');
