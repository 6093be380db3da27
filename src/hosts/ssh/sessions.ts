import type { Channel, ChannelEnd, ChannelEvents, OpenChannel } from './transport.ts';

/** Sessions at once on one connection as sshd allows it unless told otherwise (MaxSessions of sshd_config(5)). */
const MAX_SESSIONS = 10;
/** Commands that may wait for a session; more than that is a fault of ours. */
const MOST_WAITING = 32;

export type Budget = { readonly open: OpenChannel; readonly limit: () => number | null };

type Waiting = { readonly start: () => void; readonly refuse: (why: string) => void };

/**
 * Keeps within the sessions that the host allows: what finds none free waits for one. A refusal while others are open is how
 * a smaller MaxSessions shows; from then on that is the limit. With a limit of one nothing waits, for the probe never ends.
 */
export const withinSessions = (openRaw: OpenChannel): Budget => {
	let most = MAX_SESSIONS;
	let learned: number | null = null;
	let running = 0;
	const waiting: Waiting[] = [];

	const next = (): void => {
		while (running < most && waiting.length > 0) waiting.shift()?.start();
	};

	const open = (command: string, on: ChannelEvents): Channel => {
		let channel: Channel | null = null;
		let closed = false;
		/** What was written before the host took the command; kept until then, for it may have to be sent again. */
		let early: (string | Buffer)[] | null = [];
		let ended = false;
		const end = (how: ChannelEnd): void => {
			if (closed) return;
			closed = true;
			on.closed(how);
		};
		const start = (): void => {
			running += 1;
			channel = openRaw(command, {
				stdout: (text) => {
					early = null;
					on.stdout(text);
				},
				stderr: (text) => {
					early = null;
					on.stderr(text);
				},
				closed: (how) => {
					running -= 1;
					if (how.kind === 'refused' && how.full && running > 0) {
						most = running;
						learned = running;
						if (running > 1) wait();
						else end(how);
					} else end(how);
					next();
				},
			});
			for (const data of early ?? []) channel.write(data);
			if (ended) channel.end();
		};
		const entry: Waiting = {
			start: () => {
				if (!closed) start();
			},
			refuse: (why) => end({ kind: 'refused', why, full: true }),
		};
		const wait = (): void => {
			channel = null;
			if (waiting.length >= MOST_WAITING) entry.refuse(`${MOST_WAITING} commands are waiting for a session already`);
			else waiting.push(entry);
		};
		if (running < most) start();
		else if (most === 1) entry.refuse('the one session that it allows is in use');
		else wait();
		return {
			write: (data) => {
				early?.push(data);
				channel?.write(data);
			},
			end: () => {
				ended = true;
				channel?.end();
			},
			close: () => {
				if (channel) return channel.close();
				const at = waiting.indexOf(entry);
				if (at >= 0) waiting.splice(at, 1);
				entry.refuse('no session became free in time');
			},
		};
	};
	return { open, limit: () => learned };
};
