import { type Failure, failure } from '../domain/failure.ts';
import type { Observation } from '../domain/observation.ts';
import type { Plan } from '../domain/plan.ts';
import type { Service } from '../domain/service.ts';
import { type Effect, isLive, type Operation, type OperationEvent } from '../operations/operation.ts';
import { sightOf } from '../operations/sight.ts';
import { begin, step } from '../operations/step.ts';
import type { Journal } from './journal.ts';

/** What the runner needs of the hosts; src/hosts fits it without either importing the other. */
export type HostPort = {
	readonly exec: (host: string, line: string, timeoutMs: number) => Promise<Answer>;
	readonly watch: (host: string, manager: string, unit: string) => void;
};

export type Answer =
	| { readonly sent: false; readonly failure: Failure }
	| { readonly sent: true; readonly code: number | null; readonly stderr: string };

export type Runner = {
	/** Starts an operation; resolves when its command was answered (not when it ended). */
	readonly run: (plan: Plan) => Promise<void>;
	/** Looks at what a host shows now, for every operation in flight on it. */
	readonly observe: (seen: Observation, services: readonly Service[]) => void;
	/** Whether anything is in flight on a host. */
	readonly isBusy: (host: string) => boolean;
	/** Takes over operations that another run of the console left in flight. */
	readonly adopt: (operations: readonly Operation[]) => Promise<void>;
};

export type RunnerPorts = {
	readonly hosts: HostPort;
	readonly journal: Journal;
	readonly changed: (operation: Operation) => void;
	readonly userOf: (host: string) => string;
	readonly now: () => number;
	readonly newId: () => string;
};

export const createRunner = (ports: RunnerPorts): Runner => {
	const live = new Map<string, Operation>();
	const queues = new Map<string, Promise<unknown>>();

	const save = (operation: Operation): void => {
		if (isLive(operation)) live.set(operation.id, operation);
		else live.delete(operation.id);
		ports.changed(operation);
	};

	const apply = (id: string, event: OperationEvent): readonly Effect[] => {
		const operation = live.get(id);
		if (!operation) return [];
		const [next, effects] = step(operation, event);
		if (next !== operation) save(next);
		return effects;
	};

	/** In order, and not one further than the first that fails: what is not written down is not done. */
	const perform = async (id: string, effects: readonly Effect[]): Promise<void> => {
		for (const effect of effects) {
			if (effect.type === 'send') {
				await send(id, effect);
				continue;
			}
			const written = await ports.journal.append(id, effect.event);
			if (!written.ok) {
				// Before sending, this ends it; afterwards the operation goes on, and its facts are still shown.
				const before = live.get(id)?.phase;
				if (before === 'intended' || before === 'sending')
					apply(id, { type: 'notSent', at: ports.now(), failure: written.failure });
				return;
			}
			if (effect.event.type === 'sending') apply(id, effect.event);
		}
	};

	const send = async (id: string, effect: Extract<Effect, { type: 'send' }>): Promise<void> => {
		const answer = await ports.hosts.exec(effect.host, effect.line, effect.timeoutMs);
		const at = ports.now();
		const event: OperationEvent = answer.sent
			? { type: 'answered', at, code: answer.code, stderr: answer.stderr, user: ports.userOf(effect.host) }
			: { type: 'notSent', at, failure: answer.failure };
		await perform(id, apply(id, event));
	};

	const follow = ({ target }: Plan, host: string): void => {
		if (target.kind === 'unit') ports.hosts.watch(host, target.manager, target.unit);
	};

	return {
		run: (plan) => {
			const id = ports.newId();
			const [operation, effects] = begin({ type: 'intended', at: ports.now(), id, plan });
			save(operation);
			follow(plan, plan.host);
			// One command at a time on a host: the second plan was made for the state before the first.
			const turn = (queues.get(plan.host) ?? Promise.resolve()).then(() => perform(id, effects));
			queues.set(
				plan.host,
				turn.catch(() => {}),
			);
			return turn.catch((error: unknown) => {
				const cause = error instanceof Error ? error.message : String(error);
				apply(id, { type: 'notSent', at: ports.now(), failure: failure('internal', cause, 'Please report this') });
			});
		},
		observe: (seen, services) => {
			for (const operation of live.values()) {
				if (operation.plan.host !== seen.host) continue;
				const service = services.find((one) => one.id === operation.plan.service) ?? null;
				const sight = sightOf(operation.plan, seen, service, operation.times.sent ?? operation.times.intended);
				if (!sight) continue;
				const effects = apply(operation.id, { type: 'seen', at: seen.at, sight });
				if (effects.length > 0) void perform(operation.id, effects);
			}
		},
		isBusy: (host) => [...live.values()].some((operation) => operation.plan.host === host),
		adopt: async (operations) => {
			for (const operation of operations) {
				live.set(operation.id, operation);
				follow(operation.plan, operation.plan.host);
				const event: OperationEvent = { type: 'reopened', at: ports.now() };
				apply(operation.id, event);
				await ports.journal.append(operation.id, event);
			}
		},
	};
};
