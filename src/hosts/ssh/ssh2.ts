import type { Duplex } from 'node:stream';
import type { Client, ClientChannel, ConnectConfig } from 'ssh2';
import { type Failure, failure } from '../../domain/failure.ts';
import type { Question } from '../../domain/question.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Asker } from '../asker.ts';
import { ANSWER_WITHIN, authenticate } from './authentication.ts';
import type { SshTarget } from './config.ts';
import type { Credentials } from './credentials.ts';
import { explainSsh2, refusedForward } from './explain.ts';
import { readPaced } from './flow.ts';
import { judgeHostKey, type KnownKey, preferKnown, remember } from './knownHosts.ts';
import { offered } from './reach.ts';
import { withinSessions } from './sessions.ts';
import type { Channel, ChannelEnd, ChannelEvents, Connection } from './transport.ts';
import type { Ssh2, Vault } from './vault.ts';

/** ssh2 is CommonJS and costs 40–80 ms to load; it comes with the first connection. */
export const loadSsh2 = async (): Promise<Ssh2> => {
	const loaded = (await import('ssh2')) as Ssh2 & { default?: Ssh2 };
	return loaded.default ?? loaded;
};

/**
 * How long a connection without any answer is kept: a host that is short of memory may say nothing for half a minute and
 * then go on, and its live session is then worth more than a new login. That it is silent is told long before.
 */
const KEEPALIVE = { intervalMs: 2000, count: 14 };

export type ConnectOptions = {
	readonly configFile: string | null;
	readonly known: readonly KnownKey[];
	readonly credentials: Credentials;
	readonly vault: Vault;
	readonly ask: Asker;
	/** The host of the configuration on whose way this connection is. */
	readonly host: string;
	/** A stream to it where it is behind another host; it belongs to this connection from then on. */
	readonly sock: Duplex | null;
};

/** One connection by ssh2. The host's key is checked against known_hosts before anything secret is sent. */
export const connectSsh2 = async (target: SshTarget, options: ConnectOptions): Promise<Result<Connection>> => {
	const ssh2 = await loadSsh2();
	const { known, sock } = options;
	const client = new ssh2.Client();
	const over = new AbortController();
	let hostKeyFailure: Failure | null = null;
	let last: Error | null = null;
	let heard: 'nothing' | 'network' | 'sshd' = sock ? 'network' : 'nothing';
	let gone: () => void = () => {};

	// Nobody is hurried while a question is open; the server has its own patience.
	let asked = 0;
	let timer: NodeJS.Timeout | undefined;
	const hurry = (): void => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			last = Object.assign(new Error('Timed out'), { level: 'client-timeout' });
			gone();
		}, target.connectTimeoutMs);
	};
	const ask = async (question: Omit<Question, 'id' | 'host'>): Promise<readonly string[] | null> => {
		asked += 1;
		clearTimeout(timer);
		const late = AbortSignal.any([over.signal, AbortSignal.timeout(ANSWER_WITHIN)]);
		try {
			return await options.ask({ ...question, host: options.host }, late);
		} finally {
			asked -= 1;
			if (asked === 0 && !over.signal.aborted) hurry();
		}
	};
	const authentication = authenticate(ssh2, target, options.credentials, options.vault, ask);

	const verify = async (key: Buffer): Promise<boolean> => {
		const verdict = judgeHostKey(key, known, target, options.configFile);
		if (verdict.kind === 'refused') hostKeyFailure = verdict.failure;
		if (verdict.kind !== 'new') return verdict.kind === 'known';
		if (verdict.ask) {
			const title = `Is this ${target.alias}?`;
			const prompts = [{ text: 'Connect, and remember the key (yes/no)', echo: true }];
			const answer = target.batch ? null : await ask({ about: 'host-key', title, text: verdict.text, prompts });
			if (answer?.[0]?.trim().toLowerCase() !== 'yes') {
				hostKeyFailure = verdict.failure;
				return false;
			}
		}
		await remember(target, key);
		return true;
	};

	const alive = target.alive ?? KEEPALIVE;
	const lists = offered(target.algorithms);
	const config: ConnectConfig = {
		host: target.hostname,
		port: target.port,
		username: target.user,
		readyTimeout: 0,
		keepaliveInterval: alive.intervalMs,
		keepaliveCountMax: alive.count,
		...(sock && { sock }),
		...(target.family === 4 && { forceIPv4: true }),
		...(target.family === 6 && { forceIPv6: true }),
		...(target.bindAddress !== null && !sock && { localAddress: target.bindAddress }),
		algorithms: {
			cipher: lists.cipher as never,
			kex: lists.kex as never,
			hmac: lists.hmac as never,
			serverHostKey: (target.algorithms.serverHostKey ?? preferKnown(lists.serverHostKey, known)) as never,
			compress: target.compression ? ['zlib@openssh.com', 'none'] : ['none'],
		},
		authHandler: authentication.handler as never,
		hostVerifier: (key: Buffer, done: (good: boolean) => void) => {
			heard = 'sshd';
			verify(key).then(done, () => done(false));
		},
	};
	// For good: ssh2 may emit a second error after the first, which without a listener would end the process.
	client.on('error', (error: Error & { level?: string }) => {
		// A key that could not be used; the next one is tried.
		if (error.level !== 'agent') last = error;
	});
	return new Promise((resolve) => {
		let ready = false;
		let lost: (why: Failure) => void = () => {};
		const lostPromise = new Promise<Failure>((settle) => {
			lost = settle;
		});
		const close = (): void => {
			clearTimeout(timer);
			over.abort();
			client.destroy();
			sock?.destroy();
			lost(failure('lost', `The connection to ${target.alias} was given up`, 'It is tried again by itself'));
		};
		gone = (): void => {
			const why = hostKeyFailure ?? explainSsh2(last, target, options.credentials, authentication.seen, heard);
			if (ready) lost(why);
			else resolve(fail(why));
			close();
		};
		client.once('connect', () => {
			if (heard === 'nothing') heard = 'network';
			client.setNoDelay(true);
		});
		client.once('ready', () => {
			ready = true;
			clearTimeout(timer);
			authentication.accepted();
			const budget = withinSessions((command, on) => openOn(client, command, on));
			resolve(
				ok({
					transport: 'ssh2',
					open: budget.open,
					sessionLimit: budget.limit,
					forward: (host, port, timeoutMs) => forwardOver(client, target, host, port, timeoutMs),
					lost: lostPromise,
					close,
				}),
			);
		});
		client.once('close', () => gone());
		// A connection through a jump is half-open: its end comes as `end` alone, and ssh2 then stops its keepalive.
		client.once('end', () => gone());
		// After a failed handshake ssh2 only ends the socket; a frozen peer would keep it half open for ever.
		client.on('error', (error: Error & { level?: string }) => {
			if (error.level !== 'agent') gone();
		});
		hurry();
		client.connect(config);
	});
};

/**
 * A channel with a command. Listeners are attached before anything can have arrived: the exit status may come in the same
 * packet as the acceptance, and an event without a listener is lost.
 */
const openOn = (client: Client, command: string, on: ChannelEvents): Channel => {
	let channel: ClientChannel | null = null;
	let written: (string | Buffer)[] = [];
	let ended = false;
	let given = false;
	let told = false;
	let code: number | null = null;
	const closed = (end: ChannelEnd): void => {
		if (told) return;
		told = true;
		on.closed(end);
	};
	const finish = (): void => closed(code === null ? { kind: 'unknown' } : { kind: 'exited', code });
	const refused = (error: unknown): void => {
		const why = error instanceof Error ? error.message : String(error);
		// Only a refused channel is sure not to have carried the command; a connection that died on the way may have.
		if (!/open failure|unable to exec|not connected/i.test(why)) closed({ kind: 'unknown' });
		else closed({ kind: 'refused', why, full: /open failure/i.test(why) });
	};
	try {
		client.exec(command, (error, opened) => {
			if (error) return refused(error);
			channel = opened;
			opened.on('exit', (value: number | null | undefined) => {
				// After we gave it up, its end is our doing.
				if (!given) code = value ?? null;
			});
			opened.on('error', () => {});
			opened.on('close', finish);
			readPaced(opened, on.stdout);
			readPaced(opened.stderr, on.stderr);
			if (given) return opened.close();
			for (const data of written) opened.write(data);
			written = [];
			if (ended) opened.end();
		});
	} catch (error) {
		// ssh2 throws "Not connected" where the connection went away between two turns.
		queueMicrotask(() => refused(error));
	}
	return {
		write: (data) => {
			if (channel) channel.write(data);
			else written.push(data);
		},
		end: () => {
			ended = true;
			channel?.end();
		},
		close: () => {
			given = true;
			channel?.close();
		},
	};
};

const forwardOver = (
	client: Client,
	hop: SshTarget,
	host: string,
	port: number,
	timeoutMs: number,
): Promise<Result<Duplex>> =>
	new Promise((resolve) => {
		let late = false;
		const refused = (why: string): void => {
			clearTimeout(timer);
			resolve(fail(refusedForward(hop, host, port, why)));
		};
		const timer = setTimeout(() => {
			late = true;
			refused('no answer');
		}, timeoutMs);
		try {
			client.forwardOut('127.0.0.1', 0, host, port, (error, stream) => {
				if (late) return stream?.destroy();
				clearTimeout(timer);
				if (error) return refused(error.message);
				stream.on('error', () => {});
				resolve(ok(stream));
			});
		} catch (error) {
			refused(error instanceof Error ? error.message : 'not connected');
		}
	});
