import { randomBytes } from 'node:crypto';
import type { ClientChannel } from 'ssh2';
import { STALE_AFTER } from '../domain/fact.ts';
import { type Failure, failure } from '../domain/failure.ts';
import type { Link } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import type { Connection } from './connection.ts';
import { type ExecOutcome, execOn, openChannel } from './exec.ts';
import type { Pool } from './pool.ts';
import { HEARTBEAT_EVERY, probeCommand, probeProgram } from './probeLaunch.ts';
import { lineReader } from './probeLines.ts';
import { probeReader } from './probeReader.ts';

export type SessionEvents = {
	readonly link: (link: Link) => void;
	readonly observed: (observation: Observation) => void;
};

/** The live session to one host: connects, streams observations, and after a loss tries again by itself for good. */
export type Session = {
	readonly exec: (command: string, timeoutMs: number) => Promise<ExecOutcome>;
	/** Follows a unit also when systemd has unloaded it. */
	readonly watch: (manager: string, unit: string) => void;
	/** Tries now instead of at the next planned time. */
	readonly retry: () => void;
	readonly close: () => void;
};

/** The probe answers with its magic line within this (ms), or it will not. */
const START_PATIENCE = 10_000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;
/** Failures that repeating does not mend, and where repeating may lock an account: only a person tries again. */
const NOT_BY_ITSELF: ReadonlySet<Failure['kind']> = new Set(['host-key', 'auth', 'config']);

export const openSession = (host: string, pool: Pool, periodSeconds: number, on: SessionEvents): Session => {
	let connection: Connection | null = null;
	let channel: ClientChannel | null = null;
	let closed = false;
	let attempt = 0;
	let wait = FIRST_WAIT;
	let wake: (() => void) | null = null;
	let via: string | null = null;
	const watched = new Set<string>();

	const link = (value: Link): void => {
		if (!closed) on.link(value);
	};

	/** One life of the connection: returns why it ended. */
	const live = async (): Promise<Failure> => {
		const opened = await pool.open(host);
		if (!opened.ok) return opened.failure;
		connection = opened.value.connection;
		via = opened.value.target.jumps.at(-1)?.alias ?? null;
		try {
			return await Promise.race([connection.lost, probe(connection)]);
		} finally {
			channel?.close();
			channel = null;
			connection = null;
		}
	};

	const probe = async (over: Connection): Promise<Failure> => {
		const nonce = randomBytes(8).toString('hex');
		let opened: ClientChannel;
		try {
			opened = await openChannel(over.client, probeCommand(periodSeconds, nonce));
		} catch (error) {
			return failure(
				'lost',
				`${host}: no channel for the probe (${error instanceof Error ? error.message : error})`,
				'It is tried again by itself',
			);
		}
		if (closed) opened.close();
		channel = opened;
		return new Promise((resolve) => {
			const lines = lineReader(nonce);
			const reader = probeReader(host);
			let stderr = '';
			let code: number | null = null;
			let upSince: number | null = null;
			let roundTripMs: number | null = null;
			let pingSent = 0;
			let pings = 0;
			let lastFrameAt = 0;
			let staleTimer: NodeJS.Timeout | undefined;

			const up = (now: number): void => {
				upSince ??= now;
				attempt = 0;
				wait = FIRST_WAIT;
				link({ state: 'up', since: upSince, roundTripMs, via });
			};
			const ping = (): void => {
				pingSent = performance.now();
				pings += 1;
				opened.write(`ping ${pings}\n`);
			};
			const frameSeen = (now: number): void => {
				if (lastFrameAt === 0) ping();
				const wasStale = lastFrameAt === 0 || now - lastFrameAt >= STALE_AFTER;
				lastFrameAt = now;
				if (wasStale) up(now);
				clearTimeout(staleTimer);
				staleTimer = setTimeout(() => {
					link({ state: 'stale', since: lastFrameAt + STALE_AFTER, lastFrameAt, via });
				}, STALE_AFTER);
			};
			const heartbeat = setInterval(ping, HEARTBEAT_EVERY);
			const starting = setTimeout(() => {
				if (!lines.started()) opened.close();
			}, START_PATIENCE);

			opened.setEncoding('utf8');
			opened.stderr.setEncoding('utf8');
			opened.stderr.on('data', (text: string) => {
				stderr = (stderr + text).slice(-2000);
			});
			opened.on('data', (text: string) => {
				const now = Date.now();
				for (const message of lines.push(text)) {
					if (message.k === 'pong' && message['n'] === String(pings)) {
						roundTripMs = performance.now() - pingSent;
						if (upSince !== null && now - lastFrameAt < STALE_AFTER) up(now);
						continue;
					}
					const observation = reader.push(message, now);
					if (observation === null) continue;
					frameSeen(now);
					if (!closed) on.observed(observation);
				}
			});
			opened.on('exit', (value: number | null | undefined) => {
				code = value ?? null;
			});
			opened.on('error', () => {});
			opened.on('close', () => {
				clearInterval(heartbeat);
				clearTimeout(starting);
				clearTimeout(staleTimer);
				resolve(probeEnded(host, code, stderr, lines.started()));
			});
			opened.write(probeProgram);
			for (const unit of watched) opened.write(`watch ${unit}\n`);
		});
	};

	const run = async (): Promise<void> => {
		while (!closed) {
			attempt += 1;
			link({ state: 'connecting', since: Date.now(), attempt });
			const why = await live();
			if (closed) return;
			const again = !NOT_BY_ITSELF.has(why.kind);
			const delay = why.kind === 'missing-tool' ? 30_000 : Math.round(wait * (0.75 + Math.random() / 2));
			const now = Date.now();
			link({ state: 'down', since: now, failure: why, nextTryAt: again ? now + delay : null });
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
		exec: (command, timeoutMs) =>
			connection
				? execOn(connection.client, host, command, timeoutMs)
				: Promise.resolve({
						sent: false,
						failure: failure('lost', `${host} is not connected`, 'Nothing was sent; wait until it is up'),
					}),
		watch: (manager, unit) => {
			watched.add(`${manager} ${unit}`);
			channel?.write(`watch ${manager} ${unit}\n`);
		},
		retry: () => {
			wait = FIRST_WAIT;
			wake?.();
		},
		close: () => {
			closed = true;
			wake?.();
			channel?.end();
			channel?.close();
		},
	};
};

const probeEnded = (host: string, code: number | null, stderr: string, started: boolean): Failure => {
	const said = stderr.trim().split('\n').at(-1) ?? '';
	if (!started && (code === 127 || /python3.*(not found|No such file)/i.test(stderr))) {
		return failure(
			'missing-tool',
			`${host} has no python3, which the probe needs`,
			`Install it there: sudo apt-get install python3-minimal`,
		);
	}
	if (!started && code === null && said === '') {
		return failure(
			'timeout',
			`The probe on ${host} did not start within ${START_PATIENCE / 1000} s`,
			`Try it by hand: ssh ${host} python3 -V`,
		);
	}
	const what = started ? `The probe on ${host} ended` : `The probe on ${host} did not start`;
	return failure('lost', `${what}${said ? `: ${said}` : ''}`, 'It is tried again by itself');
};
