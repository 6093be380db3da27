import type { Duplex } from 'node:stream';
import { type Failure, failure } from '../../domain/failure.ts';
import type { TransportChoice } from '../../domain/host.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Asker } from '../asker.ts';
import { now } from '../now.ts';
import { resolveSsh, type SshTarget } from './config.ts';
import { type Credentials, credentialsOf } from './credentials.ts';
import { diagnoseDirect, type Reach, readBanner } from './diagnosis.ts';
import { type KnownKey, knownByAuthorityOnly, knownKeys } from './knownHosts.ts';
import { connectOpenssh } from './openssh.ts';
import { connectSsh2 } from './ssh2.ts';
import type { Connection } from './transport.ts';
import { createVault, type Vault } from './vault.ts';

export type Opened = { readonly connection: Connection; readonly target: SshTarget; readonly why: string | null };

/**
 * The connections of this console, one for each host, shared by its session and by the hosts behind it: a host that is
 * reached through another one uses that one's live connection as its jump.
 */
export type Pool = {
	/**
	 * A live connection to an alias. Asked twice at once, it is opened once. `to` is told each host that is being connected
	 * to on the way. `lane` names a second connection beside the first.
	 */
	readonly open: (alias: string, to?: (hop: string) => void, lane?: string) => Promise<Result<Opened>>;
	/** What answers at an alias right now, beside its connection. */
	readonly reach: (alias: string) => Promise<Reach>;
	/** Told by a session whether its host is silent: hosts behind it are then behind a jump that is down. */
	readonly silent: (alias: string, since: number | null) => void;
	/** Called when a host that others are behind can be reached again. */
	readonly onReturn: (listener: (alias: string) => void) => void;
	/** Forgets what failed, so that it is tried, and asked for, at once. */
	readonly hurry: () => void;
	readonly vault: Vault;
	readonly close: () => void;
};

export type PoolOptions = {
	readonly configFile: string | null;
	/** The operator's word on which transport carries a host, by alias. */
	readonly transports: ReadonlyMap<string, TransportChoice>;
	/** Whom to ask now. */
	readonly ask: () => Asker;
};

/** Logins at once through one jump: a pair, a rack and sshd's MaxStartups (10:30:100) all get on with it. */
const LOGINS_AT_ONCE = 3;
/** A jump that failed is not tried again for another host before this (ms). */
const JUMP_PAUSE = 2000;
/** How long (ms) a look beside the connection may take for each of its two steps. */
const LOOK = 1500;

const ONLY_A_PERSON: ReadonlySet<Failure['kind']> = new Set(['auth', 'host-key', 'config']);

type Live = { readonly opening: Promise<Result<Opened>>; connection: Connection | null };

export const createPool = ({ configFile, transports, ask }: PoolOptions): Pool => {
	const vault = createVault();
	const live = new Map<string, Live>();
	const all = new Set<Connection>();
	const failedHops = new Map<string, { readonly until: number; readonly failure: Failure }>();
	const silentHosts = new Map<string, number>();
	const listeners: ((alias: string) => void)[] = [];
	const logins = new Map<string, { running: number; waiting: (() => void)[] }>();
	/** Learned in this run: targets that ssh2 can't speak with. */
	const needOpenssh = new Map<string, string>();
	/** What only a person can mend, by target: asking or trying again by itself would annoy, or lock an account. */
	const needPerson = new Map<string, Failure>();
	let closed = false;

	const key = (target: SshTarget, lane = ''): string =>
		[
			target.user,
			target.hostname,
			target.port,
			target.knownHostsName,
			target.jumps.map((hop) => hop.alias).join('>'),
			lane,
		].join('|');

	const openTarget = (
		target: SshTarget,
		host: string,
		to: (hop: string) => void,
		lane?: string,
	): Promise<Result<Opened>> => {
		const id = key(target, lane);
		const known = live.get(id);
		if (known) return known.opening;
		const before = needPerson.get(key(target));
		if (before) return Promise.resolve(fail(before));
		const entry: Live = {
			connection: null,
			opening: connect(target, host, to).then((opened) => {
				if (!opened.ok && ONLY_A_PERSON.has(opened.failure.kind)) needPerson.set(key(target), opened.failure);
				if (!opened.ok || closed) {
					if (live.get(id) === entry) live.delete(id);
					if (opened.ok) opened.value.connection.close();
					return opened;
				}
				const { connection } = opened.value;
				entry.connection = connection;
				all.add(connection);
				void connection.lost.then(() => {
					all.delete(connection);
					if (live.get(id) === entry) live.delete(id);
				});
				failedHops.delete(key({ ...target }));
				for (const listener of listeners) listener(target.alias);
				return opened;
			}),
		};
		live.set(id, entry);
		return entry.opening;
	};

	/** A jump that has just failed is not tried again for each host behind it. */
	const openHop = async (hop: SshTarget, host: string, to: (hop: string) => void): Promise<Result<Opened>> => {
		const id = key(hop);
		const silence = silentHosts.get(hop.alias);
		if (silence !== undefined)
			return fail(jumpDown(hop, `it has not answered for ${Math.round((now() - silence) / 1000)} s`));
		const before = failedHops.get(id);
		if (before && before.until > now()) return fail(before.failure);
		const opened = await openTarget(hop, host, to);
		if (opened.ok) return opened;
		const { kind, cause } = opened.failure;
		// What a person must mend keeps its own kind, so that it is shown as what it is.
		const why = ONLY_A_PERSON.has(kind) ? { ...opened.failure, cause: `jump host: ${cause}` } : jumpDown(hop, cause);
		failedHops.set(id, { until: now() + JUMP_PAUSE, failure: why });
		return fail(why);
	};

	const connect = async (target: SshTarget, host: string, to: (hop: string) => void): Promise<Result<Opened>> => {
		const [credentials, known] = await Promise.all([credentialsOf(target), knownKeys(target)]);
		const why = opensshFor(target, credentials, known);
		const opened =
			why === null ? await bySsh2(target, host, to, credentials, known) : await byOpenssh(target, host, to, why);
		if (opened.ok || opened.failure.kind !== 'algorithms' || why !== null || transports.get(target.alias) === 'ssh2')
			return opened;
		needOpenssh.set(key(target), opened.failure.cause);
		return byOpenssh(target, host, to, opened.failure.cause);
	};

	/** Why the system's own ssh has to carry it; null: ssh2 does. */
	const opensshFor = (target: SshTarget, credentials: Credentials, known: readonly KnownKey[]): string | null => {
		switch (transports.get(target.alias)) {
			case 'openssh':
				return 'transport: openssh in the configuration';
			case 'ssh2':
				return null;
			default:
				return (
					needOpenssh.get(key(target)) ??
					target.beyondSsh2 ??
					credentials.beyondSsh2 ??
					(knownByAuthorityOnly(known) ? 'its host key is known by a certificate authority' : null)
				);
		}
	};

	const bySsh2 = async (
		target: SshTarget,
		host: string,
		to: (hop: string) => void,
		credentials: Credentials,
		known: readonly KnownKey[],
	): Promise<Result<Opened>> => {
		const hop = target.jumps.at(-1);
		const login = (sock: Duplex | null): Promise<Result<Opened>> => {
			to(target.alias);
			return connectSsh2(target, { configFile, known, credentials, vault, ask: ask(), host, sock }).then((done) =>
				done.ok ? ok({ connection: done.value, target, why: null }) : done,
			);
		};
		if (!hop) return login(null);
		const jump = await openHop({ ...hop, jumps: target.jumps.slice(0, -1) }, host, to);
		if (!jump.ok) return jump;
		return inTurn(key(hop), async () => {
			const way = await jump.value.connection.forward(target.hostname, target.port, target.connectTimeoutMs);
			if (way.ok) return login(way.value);
			return fail({ ...way.failure, cause: `${target.alias}: ${way.failure.cause}` });
		});
	};

	const byOpenssh = async (
		target: SshTarget,
		host: string,
		to: (hop: string) => void,
		why: string,
	): Promise<Result<Opened>> => {
		to(target.alias);
		const opened = await connectOpenssh(target, { configFile, vault, ask: ask(), host });
		return opened.ok ? ok({ connection: opened.value, target, why }) : opened;
	};

	const inTurn = async <T>(id: string, work: () => Promise<T>): Promise<T> => {
		const turn = logins.get(id) ?? { running: 0, waiting: [] };
		logins.set(id, turn);
		if (turn.running >= LOGINS_AT_ONCE) await new Promise<void>((resolve) => turn.waiting.push(resolve));
		turn.running += 1;
		try {
			return await work();
		} finally {
			turn.running -= 1;
			turn.waiting.shift()?.();
		}
	};

	return {
		vault,
		open: async (alias, to = () => {}, lane) => {
			const target = await resolveSsh(alias, configFile);
			return target.ok ? openTarget(target.value, alias, to, lane) : target;
		},
		reach: async (alias) => {
			const target = await resolveSsh(alias, configFile);
			if (!target.ok) return 'unknown';
			const { jumps, hostname, port, beyondSsh2 } = target.value;
			if (beyondSsh2 === 'ProxyCommand') return 'unknown';
			const hop = jumps.at(-1);
			if (!hop) return diagnoseDirect(hostname, port, LOOK);
			if (silentHosts.has(hop.alias)) return 'jump';
			const jump = live.get(key({ ...hop, jumps: jumps.slice(0, -1) }))?.connection;
			if (!jump) return 'unknown';
			const way = await jump.forward(hostname, port, LOOK);
			if (way.ok) return readBanner(way.value, LOOK);
			// No answer through a jump that is silent itself says nothing of the host behind it.
			if (silentHosts.has(hop.alias)) return 'jump';
			return way.failure.kind === 'refused' ? 'refused' : 'silent';
		},
		silent: (alias, since) => {
			if (since === null) silentHosts.delete(alias);
			else silentHosts.set(alias, since);
		},
		onReturn: (listener) => {
			listeners.push(listener);
		},
		hurry: () => {
			failedHops.clear();
			needPerson.clear();
		},
		close: () => {
			closed = true;
			for (const connection of all) connection.close();
		},
	};
};

const jumpDown = (hop: SshTarget, cause: string): Failure =>
	failure(
		'jump-down',
		`The jump host ${hop.alias} is down: ${cause}`,
		'What is behind it can’t be judged until it is back; it is tried again',
	);
