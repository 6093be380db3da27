import type { GpuProcess } from '../domain/gpu.ts';
import type { HostSettings } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import type { Process } from '../domain/process.ts';
import { type Service, type ServiceState, serviceId } from '../domain/service.ts';
import type { Container, Unit } from '../domain/unit.ts';
import { guardedBecause } from './guarded.ts';
import { isDesktop, nameOf, type Owner, ownerLookup, runnerLookup } from './owners.ts';

/** All services of a host with what they hold, and the memory of the desktop, which is nobody's service. */
export type Attribution = {
	readonly services: readonly Service[];
	readonly desktopBytes: number;
};

type Bucket = {
	readonly owner: Owner;
	gpu: number;
	unknownGpu: boolean;
	host: number;
	doubtful: number;
	count: number;
	processes: Process[];
};

/** Joins processes to cgroups, cgroups to units and containers, and containers to the units that run them. */
export const attribute = (seen: Observation, settings: HostSettings): Attribution => {
	const units = seen.units?.value ?? [];
	const containers = seen.containers?.value ?? [];
	const runnerOf = runnerLookup(units);
	const ownerOf = ownerLookup(seen, runnerOf);
	const buckets = new Map<string, Bucket>();
	const bucket = (owner: Owner): Bucket => {
		const found = buckets.get(owner.id) ?? {
			owner,
			gpu: 0,
			unknownGpu: false,
			host: 0,
			doubtful: 0,
			count: 0,
			processes: [],
		};
		buckets.set(owner.id, found);
		return found;
	};

	const gpuOf = new Map((seen.gpuProcesses?.value ?? []).map((process) => [process.pid, process]));
	const orphanBytes = new Map<string, number>();
	for (const process of seen.processes) {
		const gpu = gpuOf.get(process.pid);
		const known = ownerOf(process.cgroup);
		if (known === null && !gpu) continue;
		const into = bucket(known ?? orphan(seen.host, process, gpu));
		into.processes.push(process);
		if (gpu && gpu.bytes === null) into.unknownGpu = true;
		into.gpu += gpu?.bytes ?? 0;
		if (known !== null) continue;
		into.host += process.anonBytes;
		into.count += 1;
		orphanBytes.set(process.cgroup, (orphanBytes.get(process.cgroup) ?? 0) + process.anonBytes);
	}
	let desktopBytes = 0;
	for (const sum of seen.cgroups?.value ?? []) {
		const owner = ownerOf(sum.path);
		if (owner !== null) {
			const into = bucket(owner);
			into.host += sum.anonBytes;
			into.doubtful += sum.doubtfulBytes;
			into.count += sum.processes;
		} else if (isDesktop(sum.path)) desktopBytes += Math.max(0, sum.anonBytes - (orphanBytes.get(sum.path) ?? 0));
	}

	const make = (
		id: string,
		rest: Pick<Service, 'name' | 'manager' | 'state' | 'description' | 'unit' | 'container' | 'guarded'>,
	): Service => {
		const held = buckets.get(id);
		buckets.delete(id);
		return {
			id,
			host: seen.host,
			...rest,
			gpuBytes: seen.gpuProcesses ? (held?.gpu ?? 0) : null,
			gpuAtLeast: held?.unknownGpu ?? false,
			hostBytes: held?.host ?? 0,
			doubtfulBytes: held?.doubtful ?? 0,
			keep: isKept(settings.keep, rest.name),
			processes: held?.processes ?? [],
			processCount: held?.count ?? 0,
		};
	};
	const running = new Map<Unit, Container>();
	for (const container of containers) {
		const unit = container.running ? runnerOf(container) : null;
		if (unit) running.set(unit, container);
	}
	const services = units.map((unit) => {
		const { name, manager, description } = unit;
		const guarded = guardedBecause(manager, name);
		const container = running.get(unit) ?? null;
		return make(serviceId(seen.host, manager, name), {
			name,
			manager,
			state: unitState(unit),
			description,
			unit,
			container,
			guarded,
		});
	});
	for (const container of containers) {
		if (runnerOf(container) !== null) continue;
		const name = nameOf(container);
		const state = container.running ? 'running' : 'stopped';
		const description = `container of ${container.image}`;
		services.push(
			make(serviceId(seen.host, 'container', name), {
				name,
				manager: 'container',
				state,
				description,
				unit: null,
				container,
				guarded: null,
			}),
		);
	}
	// What is left belongs to nothing that is listed: processes of a session, and what can't be looked at from here.
	for (const { owner } of [...buckets.values()]) {
		const { id, manager, name, unseen } = owner;
		const description = unseen === null ? 'process without a unit or a container' : '';
		services.push(
			make(id, { name, manager, state: 'running', description, unit: null, container: null, guarded: unseen }),
		);
	}
	return { services, desktopBytes };
};

/** nvidia-smi knows the whole name; the kernel's is cut at 15 characters. The pid tells two of a kind apart. */
const orphan = (host: string, process: Process, gpu: GpuProcess | undefined): Owner => {
	const name = `${(gpu?.name ?? '').split('/').at(-1) || process.name}:${process.pid}`;
	return { id: serviceId(host, 'process', name), manager: 'process', name, unseen: null };
};

/** By its name with or without the suffix; a unit of another user's manager by the unit's own name. */
export const isKept = (keep: readonly string[], name: string): boolean => {
	const unit = name.replace(/ of uid \d+$/, '');
	return keep.some((kept) => kept === unit || `${kept}.service` === unit);
};

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
