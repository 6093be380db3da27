import { MiB } from '../../domain/bytes.ts';
import { heldBytes, type Service } from '../../domain/service.ts';
import { isLive, type Operation } from '../../operations/operation.ts';
import type { State } from '../state.ts';

/** Services below this that hold no GPU memory are not worth a line (they are counted in the statement). */
const WORTH_A_ROW = 64 * MiB;

/**
 * The services of the table, over all hosts: memory first, then name, so that the order only changes when memory does.
 * What is kept, in transition, or was stopped from here stays in the table whatever it holds.
 */
export const rows = (state: State): readonly Service[] => {
	const touched = new Set(owed(state.operations).map((operation) => operation.plan.service));
	for (const operation of state.operations) if (isLive(operation)) touched.add(operation.plan.service);
	const all = state.hosts.flatMap((host) => host.services);
	const shown = all.filter(
		(service) =>
			(service.gpuBytes ?? 0) > 0 ||
			(heldBytes(service) >= WORTH_A_ROW && service.guarded === null) ||
			(service.keep && service.unit?.loadState !== 'not-found') ||
			touched.has(service.id),
	);
	const missing = [...touched].filter((id) => !all.some((service) => service.id === id));
	return [...shown, ...missing.map((id) => gone(id, state))].filter((one) => one !== null).sort(comparing(state));
};

/**
 * Largest first in steps of a tenth of a GiB, so that rows do not change places over noise; what was stopped from here
 * keeps the place of what it held, so that nothing moves under the cursor.
 */
const comparing = (state: State) => {
	const before = new Map(
		state.operations.map(({ plan }) => [
			plan.service,
			(plan.kind === 'evict' ? plan.predicted : plan.expected).totalBytes,
		]),
	);
	const step = (service: Service): number =>
		Math.round(Math.max(heldBytes(service), before.get(service.id) ?? 0) / (100 * MiB));
	return (a: Service, b: Service): number =>
		step(b) - step(a) ||
		a.host.localeCompare(b.host) ||
		a.name.localeCompare(b.name) ||
		a.manager.localeCompare(b.manager);
};

/** Evictions that were carried out and not undone since: what is owed back. Newest last. */
export const owed = (operations: readonly Operation[]): readonly Operation[] => {
	const open = new Map<string, Operation>();
	for (const operation of operations) {
		const { plan, outcome } = operation;
		if (plan.kind === 'evict' && (outcome === 'verified' || outcome === 'unverified'))
			open.set(plan.service, operation);
		if (plan.kind === 'restore' && outcome !== 'refused' && outcome !== 'failed') open.delete(plan.service);
	}
	return [...open.values()];
};

/** A service that its manager has unloaded (or a container that is removed) since we stopped it. */
const gone = (id: string, state: State): Service | null => {
	const operation = state.operations.findLast((one) => one.plan.service === id);
	const host = state.hosts.find((one) => one.settings.name === operation?.plan.host);
	if (!operation || !host?.seen) return null;
	const manager = id.split('/')[1];
	return {
		id,
		host: operation.plan.host,
		name: operation.plan.name,
		manager: manager === 'user' || manager === 'container' || manager === 'process' ? manager : 'system',
		state: 'stopped',
		description: '',
		gpuBytes: 0,
		gpuAtLeast: false,
		hostBytes: 0,
		doubtfulBytes: 0,
		keep: false,
		guarded: null,
		unit: null,
		container: null,
		processes: [],
		processCount: 0,
	};
};

export const selectedService = (state: State): Service | null =>
	rows(state).find((service) => service.id === state.ui.selected) ?? null;
