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
	/** Looks at what a host shows now, for every operation in flight on it; `services` is asked for only then. */
	readonly observe: (seen: Observation, services: () => readonly Service[]) => void;
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
	/** Settles when the operation that was asked for last on a host has ended. */
	const queues = new Map<string, Promise<void>>();
	const waiting = new Map<string, () => void>();
	const available = new Map<string, number>();

	const save = (operation: Operation): void => {
		if (isLive(operation)) live.set(operation.id, operation);
		else {
			live.delete(operation.id);
			waiting.get(operation.id)?.();
			waiting.delete(operation.id);
		}
		ports.changed(operation);
	};

	const apply = (id: string, event: OperationEvent): readonly Effect[] => {
		const operation = live.get(id);
		if (!operation) return [];
		const [next, effects] = step(operation, event);
		if (next !== operation) save(next);
		return effects;
	};

	const write = async (id: string, event: OperationEvent): Promise<boolean> => {
		const written = await ports.journal.append(id, event);
		if (written.ok) return true;
		// Before sending, this ends it; afterwards the operation goes on, and its facts are still shown.
		const phase = live.get(id)?.phase;
		if (phase === 'intended' || phase === 'sending') {
			apply(id, { type: 'notSent', at: ports.now(), failure: written.failure });
		}
		return false;
	};

	/** In order, and not one further than the first that fails: what is not written down is not done. */
	const perform = async (
		id: string,
		effects: readonly Effect[],
		turn: Promise<void> = Promise.resolve(),
	): Promise<void> => {
		for (const effect of effects) {
			if (effect.type === 'journal') {
				if (!(await write(id, effect.event))) return;
			} else if (effect.type === 'turn') {
				await turn;
				if (!live.has(id)) return;
				const sending: OperationEvent = {
					type: 'sending',
					at: ports.now(),
					availableBefore: available.get(effect.host) ?? null,
				};
				if (!(await write(id, sending))) return;
				apply(id, sending);
			} else await send(id, effect);
		}
	};

	const send = async (id: string, effect: Extract<Effect, { type: 'send' }>): Promise<void> => {
		const answer = await ports.hosts.exec(effect.host, effect.line, effect.timeoutMs);
		const at = ports.now();
		const event: OperationEvent = answer.sent
			? { type: 'answered', at, code: answer.code, stderr: answer.stderr, user: ports.userOf(effect.host) }
			: { type: 'notSent', at, failure: answer.failure };
		const { plan } = live.get(id) ?? {};
		// Have the unit read again now, so that what is concluded from its state rests on a reading after the command.
		if (plan) follow(plan);
		await perform(id, apply(id, event));
	};

	const follow = ({ target, host }: Plan): void => {
		if (target.kind === 'unit') ports.hosts.watch(host, target.manager, target.unit);
	};

	return {
		run: (plan) => {
			const id = ports.newId();
			const [operation, effects] = begin({ type: 'intended', at: ports.now(), id, plan });
			const turn = queues.get(plan.host) ?? Promise.resolve();
			const ended = new Promise<void>((resolve) => waiting.set(id, resolve));
			queues.set(
				plan.host,
				turn.then(() => ended),
			);
			save(operation);
			follow(plan);
			return perform(id, effects, turn).catch((error: unknown) => {
				const cause = error instanceof Error ? error.message : String(error);
				apply(id, { type: 'notSent', at: ports.now(), failure: failure('internal', cause, 'Please report this') });
			});
		},
		observe: (seen, services) => {
			available.set(seen.host, seen.memory.value.available);
			for (const operation of live.values()) {
				if (operation.plan.host !== seen.host) continue;
				const { times, reopened } = operation;
				const since = reopened ? times.phase : (times.sent ?? times.intended);
				const sight = sightOf(operation.plan, seen, services(), since);
				if (!sight) continue;
				const effects = apply(operation.id, { type: 'seen', at: seen.at, sight });
				if (effects.length > 0) void perform(operation.id, effects);
			}
		},
		adopt: async (operations) => {
			for (const operation of operations) {
				live.set(operation.id, operation);
				follow(operation.plan);
				const event: OperationEvent = { type: 'reopened', at: ports.now() };
				apply(operation.id, event);
				await ports.journal.append(operation.id, event);
			}
		},
	};
};
