import { STALE_AFTER } from '../../domain/fact.ts';
import { type Failure, failure } from '../../domain/failure.ts';
import type { Observation } from '../../domain/observation.ts';
import { now } from '../now.ts';
import type { ChannelEnd, OpenChannel } from '../ssh/transport.ts';
import { HEARTBEAT_EVERY, probeCommand, probeProgram } from './launch.ts';
import { lineReader } from './lines.ts';
import { probeReader } from './reader.ts';

/** The probe answers with its magic line within this (ms), or it will not. */
const START_PATIENCE = 10_000;
export type ProbeEvents = {
	readonly up: (since: number, roundTripMs: number | null, dropped: number) => void;
	readonly stale: (since: number, lastFrameAt: number) => void;
	readonly observed: (observation: Observation) => void;
	/** Nothing comes any more and not even closing the channel is answered: the connection is to be given up. */
	readonly dead: () => void;
};

export type ProbeStream = {
	readonly ended: Promise<Failure>;
	readonly send: (line: string) => void;
	readonly isStale: () => boolean;
	readonly close: () => void;
};

/** Runs the probe on a channel of its own, keeps it alive, and turns what comes back into observations. */
export const startProbe = (
	host: string,
	open: OpenChannel,
	nonce: string,
	periodSeconds: number,
	on: ProbeEvents,
): ProbeStream => {
	// Three missed samples, or a little more than two where they are far apart.
	const staleAfter = Math.max(STALE_AFTER, periodSeconds * 2500);
	const lines = lineReader(nonce);
	const reader = probeReader(host);
	let stderr = '';
	let upSince: number | null = null;
	let roundTripMs: number | null = null;
	let pingSent = 0;
	let pings = 0;
	let lastFrameAt = 0;
	let stale = false;
	let staleTimer: NodeJS.Timeout | undefined;
	let giveUp: NodeJS.Timeout | undefined;

	const up = (at: number): void => {
		upSince ??= at;
		on.up(upSince, roundTripMs, lines.dropped());
	};
	const ping = (): void => {
		pingSent = performance.now();
		pings += 1;
		channel.write(`ping ${pings}\n`);
	};
	const frameSeen = (at: number): void => {
		if (lastFrameAt === 0) ping();
		const wasStale = stale || lastFrameAt === 0;
		lastFrameAt = at;
		stale = false;
		if (wasStale) up(at);
		clearTimeout(staleTimer);
		staleTimer = setTimeout(() => {
			stale = true;
			on.stale(at + staleAfter, at);
		}, staleAfter);
	};
	const heartbeat = setInterval(ping, HEARTBEAT_EVERY);
	const starting = setTimeout(() => {
		if (lines.started()) return;
		channel.close();
		giveUp = setTimeout(on.dead, START_PATIENCE / 3);
	}, START_PATIENCE);

	const still = (): void => {
		for (const timer of [staleTimer, giveUp, starting]) clearTimeout(timer);
		clearInterval(heartbeat);
	};
	let finish: (why: Failure) => void = () => {};
	const ended = new Promise<Failure>((resolve) => {
		finish = resolve;
	});
	const channel = open(probeCommand(periodSeconds, nonce), {
		stdout: (text) => {
			const at = now();
			for (const message of lines.push(text)) {
				if (message.k === 'pong') {
					if (message['n'] !== String(pings)) continue;
					roundTripMs = performance.now() - pingSent;
					if (upSince !== null && !stale) up(at);
					continue;
				}
				const observation = reader.push(message, at);
				if (observation === null) continue;
				frameSeen(at);
				on.observed(observation);
			}
		},
		stderr: (text) => {
			stderr = (stderr + text).slice(-2000);
		},
		closed: (end) => {
			still();
			finish(whyEnded(host, end, stderr, lines.started()));
		},
	});
	channel.write(probeProgram);
	return {
		ended,
		send: (line) => {
			channel.write(`${line}\n`);
		},
		isStale: () => stale,
		close: () => {
			still();
			channel.end();
			channel.close();
		},
	};
};

const whyEnded = (host: string, end: ChannelEnd, stderr: string, started: boolean): Failure => {
	const code = end.kind === 'exited' ? end.code : null;
	if (end.kind === 'refused') {
		return failure('lost', `${host}: no channel for the probe (${end.why})`, 'It is tried again by itself');
	}
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
