import { randomBytes } from 'node:crypto';
import type { ClientChannel } from 'ssh2';
import { type Failure, failure } from '../domain/failure.ts';
import type { Link } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import type { Connection } from './connection.ts';
import { type ExecOutcome, execOn, openChannel } from './exec.ts';
import { now } from './now.ts';
import type { Pool } from './pool.ts';
import { probeCommand } from './probeLaunch.ts';
import { attachProbe, type ProbeStream } from './probeStream.ts';

export type SessionEvents = {
	readonly link: (link: Link) => void;
	readonly observed: (observation: Observation) => void;
};

/** The live session to one host: connects, streams observations, and after a loss tries again by itself for good. */
export type Session = {
	readonly exec: (command: string, timeoutMs: number) => Promise<ExecOutcome>;
	/** Follows a unit also when systemd has unloaded it, and has it read now. */
	readonly watch: (manager: string, unit: string) => void;
	/** Tries now instead of at the next planned time. */
	readonly retry: () => void;
	readonly close: () => void;
};

const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;
/** A tool that is missing is not installed within seconds. */
const MISSING_WAIT = 30_000;
/** Failures that repeating does not mend, and where repeating may lock an account: only a person tries again. */
const NOT_BY_ITSELF: ReadonlySet<Failure['kind']> = new Set(['host-key', 'auth', 'config']);

export const openSession = (host: string, pool: Pool, periodSeconds: number, on: SessionEvents): Session => {
	let connection: Connection | null = null;
	let probe: ProbeStream | null = null;
	let closed = false;
	let attempt = 0;
	let wait = FIRST_WAIT;
	let wake: (() => void) | null = null;
	const watched = new Set<string>();

	const link = (value: Link): void => {
		if (!closed) on.link(value);
	};

	/** One life of the connection: returns why it ended. */
	const live = async (): Promise<Failure> => {
		const opened = await pool.open(host);
		if (!opened.ok) return opened.failure;
		connection = opened.value.connection;
		const via = opened.value.target.jumps.at(-1)?.alias ?? null;
		try {
			return await Promise.race([connection.lost, observe(connection, via)]);
		} finally {
			probe?.close();
			probe = null;
			connection = null;
		}
	};

	const observe = async (over: Connection, via: string | null): Promise<Failure> => {
		const nonce = randomBytes(8).toString('hex');
		const attach = (channel: ClientChannel): void => {
			probe = attachProbe(host, channel, nonce, periodSeconds, {
				up: (since, roundTripMs) => {
					attempt = 0;
					wait = FIRST_WAIT;
					link({ state: 'up', since, roundTripMs, via });
				},
				stale: (since, lastFrameAt) => link({ state: 'stale', since, lastFrameAt, via }),
				observed: (observation) => {
					if (!closed) on.observed(observation);
				},
				dead: over.close,
			});
			for (const unit of watched) probe.send(`watch ${unit}`);
			if (closed) probe.close();
		};
		try {
			await openChannel(over.client, probeCommand(periodSeconds, nonce), attach);
		} catch (error) {
			const cause = error instanceof Error ? error.message : String(error);
			return failure('lost', `${host}: no channel for the probe (${cause})`, 'It is tried again by itself');
		}
		// Set by `attach`, which has been called by now.
		return (
			(probe as ProbeStream | null)?.ended ??
			failure('internal', `${host}: the probe has no channel`, 'Please report this')
		);
	};

	const run = async (): Promise<void> => {
		while (!closed) {
			attempt += 1;
			link({ state: 'connecting', since: now(), attempt });
			const why = await live();
			if (closed) return;
			const again = !NOT_BY_ITSELF.has(why.kind);
			const delay = why.kind === 'missing-tool' ? MISSING_WAIT : Math.round(wait * (0.75 + Math.random() / 2));
			const at = now();
			link({ state: 'down', since: at, failure: why, nextTryAt: again ? at + delay : null });
			wait = Math.min(wait * 2, LONGEST_WAIT);
			await new Promise<void>((resolve) => {
				const timer = again ? setTimeout(resolve, delay) : undefined;
				wake = () => {
					clearTimeout(timer);
					resolve();
				};
			});
			wake = null;
		}
	};
	void run();

	return {
		exec: async (command, timeoutMs) => {
			if (connection) return execOn(connection.client, host, command, timeoutMs);
			const why = failure('lost', `${host} is not connected`, 'Nothing was sent; wait until it is up');
			return { sent: false, failure: why };
		},
		watch: (manager, unit) => {
			watched.add(`${manager} ${unit}`);
			probe?.send(`watch ${manager} ${unit}`);
		},
		retry: () => {
			wait = FIRST_WAIT;
			// A stale session may be waiting for a connection that is dead already.
			if (probe?.isStale()) connection?.close();
			wake?.();
		},
		close: () => {
			closed = true;
			wake?.();
			probe?.close();
		},
	};
};
