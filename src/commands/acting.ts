import { failure } from '../domain/failure.ts';
import type { EvictionPlan, Plan } from '../domain/plan.ts';
import { fail, type Result } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import { isLive } from '../operations/operation.ts';
import { planEviction, samePlan } from '../planning/eviction.ts';
import { planRestore } from '../planning/restore.ts';
import { owed, selectedService } from '../store/select/rows.ts';
import type { HostState, State } from '../store/state.ts';
import { type Command, emit, type Intent } from './command.ts';

const hostOf = (state: State, name: string): HostState | null =>
	state.hosts.find((host) => host.settings.name === name) ?? null;

/** Acting needs fresh facts: on old ones a plan would be a guess. */
const hostNotReady = (state: State, name: string): string | null => {
	const host = hostOf(state, name);
	if (!host?.seen?.complete) return `${name} has not been read completely yet`;
	if (host.link.state !== 'up') return `${name} does not answer: what is shown of it is old`;
	return null;
};

const busy = (state: State, service: string): string | null =>
	state.operations.some((operation) => operation.plan.service === service && isLive(operation))
		? 'Something is being done with it already'
		: null;

export const evict: Command = {
	id: 'evict',
	title: 'evict',
	doc: 'Stop the selected service to free its memory: shows the plan and asks first',
	context: 'main',
	danger: true,
	footer: 10,
	disabledReason: (state) => {
		const service = selectedService(state);
		if (!service) return 'No service is selected';
		const blocked = state.readOnly ?? hostNotReady(state, service.host) ?? busy(state, service.id);
		if (blocked) return blocked;
		const plan = evictionOf(state, service);
		return plan && !plan.ok ? plan.failure.cause : null;
	},
	run: (state) => {
		const service = selectedService(state);
		const plan = service && evictionOf(state, service);
		return plan ? propose(plan, false) : [];
	},
};

const evictionOf = (state: State, service: Service): Result<EvictionPlan> | null => {
	const host = hostOf(state, service.host);
	return host?.seen ? planEviction(service, host.services, host.seen) : null;
};

const propose = (plan: Result<Plan>, changed: boolean): readonly Intent[] =>
	plan.ok
		? emit({ type: 'dialog', plan: plan.value, changed })
		: emit({ type: 'notice', text: plan.failure.cause, failure: plan.failure });

/** What undo would put back: the selected service if it is owed, else the one that was stopped last. */
const undoable = (state: State): { id: string; plan: EvictionPlan } | null => {
	const all = owed(state.operations);
	const operation = all.find((one) => one.plan.service === state.ui.selected) ?? all.at(-1);
	return operation?.plan.kind === 'evict' ? { id: operation.id, plan: operation.plan } : null;
};

const undoPlan = (state: State, eviction: { id: string; plan: EvictionPlan }): Result<Plan> => {
	const host = hostOf(state, eviction.plan.host);
	if (!host?.seen) {
		return fail(failure('not-found', `${eviction.plan.host} is not one of the hosts`, 'Name it in config.yaml'));
	}
	const now = host.services.find((service) => service.id === eviction.plan.service) ?? null;
	return planRestore(eviction.id, eviction.plan, now, host.seen);
};

export const undo: Command = {
	id: 'undo',
	title: 'undo',
	doc: 'Start again what was stopped from here: the selected service, or the last one',
	context: 'main',
	danger: true,
	footer: 11,
	disabledReason: (state) => {
		const eviction = undoable(state);
		if (!eviction) return 'Nothing was stopped from here that is not back';
		const { host, service } = eviction.plan;
		const blocked = state.readOnly ?? hostNotReady(state, host) ?? busy(state, service);
		if (blocked) return blocked;
		const plan = undoPlan(state, eviction);
		return plan.ok ? null : plan.failure.cause;
	},
	run: (state) => {
		const eviction = undoable(state);
		return eviction ? propose(undoPlan(state, eviction), false) : [];
	},
};

export const accept: Command = {
	id: 'confirm.accept',
	title: 'choose',
	doc: 'Press the button under the cursor; Cancel is where it starts',
	context: 'dialog',
	danger: true,
	disabledReason: (state) => (state.ui.dialog ? null : 'There is nothing to confirm'),
	run: (state) => {
		const { dialog } = state.ui;
		if (!dialog) return [];
		const close: Intent = { type: 'event', event: { type: 'dialogClosed' } };
		if (dialog.focus === 0) return [close];
		const again = planAgain(state, dialog.plan);
		if (!again.ok) return [close, ...propose(again, false)];
		// What is run is the plan as it is now, and only if it is the plan that was read.
		if (!unchanged(dialog.plan, again.value)) return propose(again, true);
		return [close, { type: 'execute', plan: again.value }];
	},
};

/** The same intent planned from what is known now. */
const planAgain = (state: State, plan: Plan): Result<Plan> => {
	const notReady = hostNotReady(state, plan.host) ?? busy(state, plan.service);
	if (notReady) return fail(failure('lost', notReady, 'Nothing was done; look again when it answers'));
	const host = hostOf(state, plan.host);
	const service = host?.services.find((one) => one.id === plan.service) ?? null;
	const gone = failure('not-found', `${plan.name} is not there any more`, 'Nothing was done');
	if (!host?.seen) return fail(gone);
	if (plan.kind === 'evict') return service ? planEviction(service, host.services, host.seen) : fail(gone);
	const eviction = state.operations.find((operation) => operation.id === plan.undoes);
	if (eviction?.plan.kind !== 'evict') return fail(gone);
	return planRestore(plan.undoes, eviction.plan, service, host.seen);
};

const unchanged = (before: Plan, now: Plan): boolean =>
	before.kind === 'evict' && now.kind === 'evict'
		? samePlan(before, now)
		: JSON.stringify([before.command, before.consequences]) === JSON.stringify([now.command, now.consequences]);
