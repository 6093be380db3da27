import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import type { AnyAuthMethod, Client, ConnectConfig, ParsedKey } from 'ssh2';
import { type Failure, failure } from '../domain/failure.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import { judgeHostKey, knownKeys, preferKnown } from './knownHosts.ts';
import type { SshTarget } from './sshConfig.ts';

/** ssh2 is CommonJS and costs 40–80 ms to load; it comes with the first connection. */
const loadSsh2 = async (): Promise<typeof import('ssh2')> => {
	const loaded = (await import('ssh2')) as typeof import('ssh2') & { default?: typeof import('ssh2') };
	return loaded.default ?? loaded;
};

/** Loss is told after about (count + 1) × interval: 8 s. The display says "stale" long before, by the age of frames. */
const KEEPALIVE = { keepaliveInterval: 2000, keepaliveCountMax: 3 };

const HOST_KEYS = [
	'ssh-ed25519',
	'ecdsa-sha2-nistp256',
	'ecdsa-sha2-nistp384',
	'ecdsa-sha2-nistp521',
	'rsa-sha2-512',
	'rsa-sha2-256',
];

export type Connection = {
	readonly client: Client;
	/** Settles when the connection is gone, with why. */
	readonly lost: Promise<Failure>;
	readonly close: () => void;
};

/**
 * One SSH connection. `through` opens the way where the target is behind another host; its stream belongs to this
 * connection from then on. The host's key is checked against known_hosts before anything secret is sent.
 */
export const connect = async (
	target: SshTarget,
	configFile: string | null,
	through: (() => Promise<Result<Duplex>>) | null,
): Promise<Result<Connection>> => {
	const [ssh2, known, keys] = await Promise.all([loadSsh2(), knownKeys(target), readIdentities(target)]);
	let sock: Duplex | null = null;
	if (through) {
		const way = await through();
		if (!way.ok) return way;
		sock = way.value;
	}
	let hostKeyFailure: Failure | null = null;
	const { methods, encrypted } = authMethods(ssh2, target, keys);
	const config: ConnectConfig = {
		host: target.hostname,
		port: target.port,
		username: target.user,
		readyTimeout: target.connectTimeoutMs,
		...KEEPALIVE,
		...(sock && { sock }),
		algorithms: { serverHostKey: preferKnown(HOST_KEYS, known) as never },
		authHandler: methods,
		hostVerifier: (key: Buffer) => {
			hostKeyFailure = judgeHostKey(key, known, target, configFile);
			return hostKeyFailure === null;
		},
	};
	const client = new ssh2.Client();
	let last: Error | null = null;
	// For good: ssh2 may emit a second error after the first, which without a listener would end the process.
	client.on('error', (error) => {
		last = error;
	});
	return new Promise((resolve) => {
		let ready = false;
		let lost: (why: Failure) => void = () => {};
		const lostPromise = new Promise<Failure>((settle) => {
			lost = settle;
		});
		const close = (): void => {
			client.destroy();
			sock?.destroy();
			lost(failure('lost', `The connection to ${target.alias} was given up`, 'It is tried again by itself'));
		};
		const gone = (): void => {
			const why = hostKeyFailure ?? explain(last, target, encrypted);
			if (ready) lost(why);
			else resolve(fail(why));
			close();
		};
		client.once('connect', () => client.setNoDelay(true));
		client.once('ready', () => {
			ready = true;
			resolve(ok({ client, lost: lostPromise, close }));
		});
		client.once('close', gone);
		// A connection through a jump is half-open: its end comes as `end` alone, and ssh2 then stops its keepalive.
		client.once('end', gone);
		// After a failed handshake ssh2 only ends the socket; a frozen peer would keep it half open for ever.
		client.once('error', () => {
			gone();
		});
		client.connect(config);
	});
};

type Identity = { readonly file: string; readonly key: Buffer };

/** The identity files that exist; `ssh -G` also names defaults that do not. */
const readIdentities = async (target: SshTarget): Promise<Identity[]> => {
	const read = target.identityFiles.map(async (file): Promise<Identity | null> => {
		try {
			return { file, key: await readFile(file) };
		} catch {
			return null;
		}
	});
	return (await Promise.all(read)).filter((one) => one !== null);
};

/** As OpenSSH: the agent's keys first, then the identity files; with IdentitiesOnly the agent only lends those. */
const authMethods = (ssh2: typeof import('ssh2'), target: SshTarget, identities: readonly Identity[]) => {
	const methods: AnyAuthMethod[] = [];
	const parsed: ParsedKey[] = [];
	const encrypted: string[] = [];
	for (const { file, key } of identities) {
		const result = ssh2.utils.parseKey(key) as ParsedKey | ParsedKey[] | Error;
		if (result instanceof Error) {
			if (/passphrase|encrypted/i.test(result.message)) encrypted.push(file);
			continue;
		}
		parsed.push(...(Array.isArray(result) ? result : [result]));
	}
	const { user: username, agent } = target;
	if (agent !== null && !target.identitiesOnly) methods.push({ type: 'agent', username, agent });
	for (const key of parsed) methods.push({ type: 'publickey', username, key: key as never });
	if (agent !== null && target.identitiesOnly && encrypted.length > 0) methods.push({ type: 'agent', username, agent });
	// With nothing to offer, ask for nothing: the server says which methods it takes, and we say that none is left.
	if (methods.length === 0) methods.push({ type: 'none', username });
	return { methods, encrypted };
};

/** What ssh2 says, as a failure that a person can act on. */
const explain = (
	error: (Error & { level?: string; code?: string }) | null,
	target: SshTarget,
	encrypted: readonly string[],
): Failure => {
	const where = `${target.alias} (${target.hostname}:${target.port})`;
	const text = error?.message ?? '';
	const hand = `Try it by hand: ssh -v ${target.alias} true`;
	if (error?.level === 'client-authentication' || /authentication/i.test(text)) {
		const keys = encrypted.length > 0 ? `; ${encrypted.join(', ')} is encrypted: ssh-add it` : '';
		return failure('auth', `${target.user}@${where} accepts none of your keys${keys}`, hand);
	}
	if (/keepalive timeout/i.test(text))
		return failure('lost', `${where} does not answer any more`, 'It is tried again by itself');
	if (error?.level === 'client-timeout' || /timed out/i.test(text)) {
		return failure(
			'timeout',
			`${where} did not answer within ${target.connectTimeoutMs / 1000} s`,
			'The host may hang or the network be cut; it is tried again',
		);
	}
	if (error?.code === 'ECONNREFUSED')
		return failure('unreachable', `${where} refuses connections`, 'Is sshd running there? It is tried again');
	if (error?.code === 'ENOTFOUND' || error?.code === 'EAI_AGAIN') {
		return failure(
			'unreachable',
			`The name ${target.hostname} is not known`,
			`Check HostName of ${target.alias} in your ssh configuration`,
		);
	}
	if (error === null) return failure('lost', `The connection to ${where} was closed`, 'It is tried again by itself');
	return failure('unreachable', `${where}: ${text}`, 'It is tried again by itself');
};
