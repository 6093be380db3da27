import type { Observation } from '../domain/observation.ts';
import type { Plan } from '../domain/plan.ts';
import type { Service } from '../domain/service.ts';
import type { Sight } from './operation.ts';

/**
 * What an observation says of the target of a plan. `services` are those of its host now. Null while the observation can't say: taken before `since`, or before all parts were read.
 */
export const sightOf = (plan: Plan, seen: Observation, services: readonly Service[], since: number): Sight | null => {
	const find = (id: string): Service | null => services.find((one) => one.id === id) ?? null;
	const service = find(plan.service);
	if (!seen.complete || seen.at < since || !seen.units) return null;
	const { target } = plan;
	const sameBoot = target.kind !== 'process' || target.bootId === seen.identity.bootId;
	const old = plan.kind === 'evict' && sameBoot ? plan.processes : [];
	const survivors = old.filter((ref) =>
		seen.processes.some((one) => one.pid === ref.pid && one.startTicks === ref.startTicks),
	);
	return {
		at: seen.at,
		bootId: seen.identity.bootId,
		...stateOf(plan, service),
		survivors: survivors.map((one) => `${one.name || 'process'} (pid ${one.pid})`),
		availableBytes: seen.memory.value.available,
		fresh: seen.units.observedAt >= since,
		gpuBytes: [plan.service, ...plan.also.map((one) => one.service)].reduce<number | null>((sum, id) => {
			const held = find(id)?.gpuBytes;
			return sum === null || held === null ? null : sum + (held ?? 0);
		}, 0),
	};
};

const UNIT_STATES: Readonly<Record<string, Sight['state']>> = {
	active: 'active',
	reloading: 'active',
	activating: 'activating',
	deactivating: 'deactivating',
	failed: 'failed',
};

const stateOf = (plan: Plan, service: Service | null): Pick<Sight, 'state' | 'hasJob' | 'run'> => {
	const { target } = plan;
	const { unit = null, container = null } = service ?? {};
	if (target.kind === 'unit') {
		if (!unit || unit.loadState === 'not-found') return { state: 'absent', hasJob: false, run: '' };
		const state = UNIT_STATES[unit.activeState] ?? 'inactive';
		const runs = state !== 'inactive' && state !== 'failed';
		return { state, hasJob: unit.hasJob, run: runs ? unit.invocationId : '' };
	}
	if (target.kind === 'container') {
		// A container of the same name with another id is another run.
		return container?.running
			? { state: 'active', hasJob: false, run: container.id }
			: { state: 'inactive', hasJob: false, run: '' };
	}
	return service
		? { state: 'active', hasJob: false, run: `${target.bootId}:${target.pid}:${target.startTicks}` }
		: { state: 'absent', hasJob: false, run: '' };
};
