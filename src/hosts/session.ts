import { randomBytes } from 'node:crypto';
import { type Failure, failure } from '../domain/failure.ts';
import type { Link, Reach } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import type { Asker } from './asker.ts';
import { type ExecOptions, type ExecOutcome, execOn } from './exec.ts';
import { now } from './now.ts';
import { type ProbeStream, startProbe } from './probe/stream.ts';
import type { Opened, Pool } from './ssh/pool.ts';
import { execWithSudo } from './sudo.ts';

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
	/** Tries soon: what was in the way may be gone. Does nothing where only a person can help. */
	readonly nudge: () => void;
	readonly close: () => void;
};

const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;
/** A tool that is missing is not installed within seconds. */
const MISSING_WAIT = 30_000;
/** Hosts behind a jump that is back do not all log in in the same instant (ms). */
const SPREAD = 400;
/** Failures that repeating does not mend, and where repeating may lock an account: only a person tries again. */
const NOT_BY_ITSELF: ReadonlySet<Failure['kind']> = new Set(['host-key', 'auth', 'config', 'algorithms']);
/** A silent session whose sshd answers beside it is given this long (ms): the probe may only be short of time. */
const LATE = 4000;
/** A session is silent for this long (ms) at the least before it is given up: what is only a blip heals by itself. */
const NOT_BEFORE = 1500;
/** How often (ms) it is looked again beside a session that stays silent. */
const LOOK_AGAIN = 4000;

export const openSession = (
	host: string,
	pool: Pool,
	ask: Asker,
	periodSeconds: number,
	on: SessionEvents,
): Session => {
	let opened: Opened | null = null;
	let probe: ProbeStream | null = null;
	let closed = false;
	let attempt = 0;
	let wait = FIRST_WAIT;
	let wake: (() => void) | null = null;
	let byItself = true;
	const watched = new Set<string>();
	const over = new AbortController();

	const link = (value: Link): void => {
		if (!closed) on.link(value);
	};

	/** One life of the connection: returns why it ended. */
	const live = async (): Promise<Failure> => {
		const since = now();
		const way = await pool.open(host, (to) => link({ state: 'connecting', since, attempt, to }));
		if (!way.ok) return way.failure;
		if (closed) return failure('lost', `${host} is not needed any more`, '');
		opened = way.value;
		try {
			return await Promise.race([opened.connection.lost, observe(opened)]);
		} finally {
			(probe as ProbeStream | null)?.close();
			probe = null;
			opened = null;
			pool.silent(host, null);
		}
	};

	const observe = async ({ connection, target, why }: Opened): Promise<Failure> => {
		const via = target.jumps.at(-1)?.alias ?? null;
		const carrier = { transport: connection.transport, why };
		let giveUp: (why: Failure) => void = () => {};
		const givenUp = new Promise<Failure>((resolve) => {
			giveUp = resolve;
		});
		let silence = 0;

		/** What answers beside the silent session decides what becomes of it; its own socket may say nothing for minutes. */
		const look = async (since: number, lastFrameAt: number): Promise<void> => {
			silence += 1;
			const mine = silence;
			const isOver = (): boolean => mine !== silence || closed || probe === null || !probe.isStale();
			while (!isOver()) {
				const reach = await pool.reach(host);
				if (isOver()) return;
				link({ state: 'stale', since, lastFrameAt, via, reach });
				const lost = lostBy(reach, host, via);
				if (lost) {
					await new Promise((resolve) => setTimeout(resolve, Math.max(0, since + NOT_BEFORE - now())));
					if (isOver()) return;
					giveUp(lost);
					return connection.close();
				}
				await new Promise((resolve) => setTimeout(resolve, reach === 'answers' ? LATE : LOOK_AGAIN));
				if (isOver()) return;
				if (reach === 'answers') {
					giveUp(failure('lost', `The session to ${host} is silent, while its sshd answers`, 'It is opened again'));
					return connection.close();
				}
			}
		};
		const stream = startProbe(host, connection.open, randomBytes(8).toString('hex'), periodSeconds, {
			up: (since, roundTripMs, dropped) => {
				attempt = 0;
				wait = FIRST_WAIT;
				pool.silent(host, null);
				link({ state: 'up', since, roundTripMs, via, carrier, dropped });
			},
			stale: (since, lastFrameAt) => {
				pool.silent(host, lastFrameAt);
				link({ state: 'stale', since, lastFrameAt, via, reach: null });
				void look(since, lastFrameAt);
			},
			observed: (observation) => {
				if (!closed) on.observed(observation);
			},
			dead: connection.close,
		});
		probe = stream;
		for (const unit of watched) stream.send(`watch ${unit}`);
		if (closed) stream.close();
		return Promise.race([stream.ended, givenUp]);
	};

	const run = async (): Promise<void> => {
		while (!closed) {
			attempt += 1;
			link({ state: 'connecting', since: now(), attempt, to: host });
			const why = await live();
			if (closed) return;
			byItself = !NOT_BY_ITSELF.has(why.kind);
			const delay = why.kind === 'missing-tool' ? MISSING_WAIT : Math.round(wait * (0.75 + Math.random() / 2));
			const at = now();
			link({ state: 'down', since: at, failure: why, nextTryAt: byItself ? at + delay : null });
			wait = Math.min(wait * 2, LONGEST_WAIT);
			await new Promise<void>((resolve) => {
				const timer = byItself ? setTimeout(resolve, delay) : undefined;
				wake = () => {
					clearTimeout(timer);
					resolve();
				};
			});
			wake = null;
		}
	};
	void run();

	const execute = async (command: string, options: ExecOptions): Promise<ExecOutcome> => {
		const notConnected = failure('lost', `${host} is not connected`, 'Nothing was sent; wait until it is up');
		if (!opened) return { sent: false, failure: notConnected };
		const outcome = await execOn(opened.connection.open, host, command, options);
		if (outcome.sent || opened?.connection.sessionLimit() !== 1) return outcome;
		// Its sshd allows one session (MaxSessions 1), which the probe has: a second connection carries commands.
		const second = await pool.open(host, () => {}, 'commands');
		return second.ok
			? execOn(second.value.connection.open, host, command, options)
			: { sent: false, failure: second.failure };
	};

	return {
		exec: (command, timeoutMs) =>
			execWithSudo(execute, command, { host, timeoutMs, passwords: pool.vault.sudo, ask, gone: over.signal }),
		watch: (manager, unit) => {
			watched.add(`${manager} ${unit}`);
			probe?.send(`watch ${manager} ${unit}`);
		},
		retry: () => {
			wait = FIRST_WAIT;
			pool.hurry();
			// A stale session may be waiting for a connection that is dead already.
			if (probe?.isStale()) opened?.connection.close();
			wake?.();
		},
		nudge: () => {
			if (!byItself || !wake) return;
			wait = FIRST_WAIT;
			setTimeout(() => wake?.(), Math.random() * SPREAD);
		},
		close: () => {
			closed = true;
			over.abort();
			wake?.();
			probe?.close();
		},
	};
};

/** Why a silent session is lost, by what answers beside it; null: it is kept, for it may go on. */
const lostBy = (reach: Reach, host: string, via: string | null): Failure | null => {
	const from = via === null ? '' : ` from ${via}`;
	switch (reach) {
		case 'silent':
			return failure(
				'unreachable',
				`${host} does not answer the network${from} any more`,
				'It may be off, or the network cut; it is tried again',
			);
		case 'refused':
			return failure('refused', `${host} refuses connections${from}`, 'It may be rebooting; it is tried again');
		case 'answers':
		case 'wedged':
		case 'jump':
		case 'unknown':
			return null;
	}
};
