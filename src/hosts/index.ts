import { failure } from '../domain/failure.ts';
import type { HostSettings, Link } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import { type Asker, askNobody } from './asker.ts';
import type { ExecOutcome } from './exec.ts';
import { watchNetwork } from './network.ts';
import { openSession, type Session } from './session.ts';
import { createPool, type Pool } from './ssh/pool.ts';

/** All hosts of a console: one session each, over shared connections. */
export type Hosts = {
	readonly exec: (host: string, command: string, timeoutMs: number) => Promise<ExecOutcome>;
	readonly watch: (host: string, manager: string, unit: string) => void;
	readonly retry: (host: string) => void;
	readonly close: () => void;
};

export type HostEvents = {
	readonly link: (host: string, link: Link) => void;
	readonly observed: (observation: Observation) => void;
};

export type HostsOptions = {
	/** File for `ssh -F`; null: the user's own configuration. */
	readonly sshConfig: string | null;
	readonly periodSeconds: number;
	/** Connections that are open already, from `connectAhead`; it asks on the terminal until `openHosts` takes it over. */
	readonly ahead?: Ahead;
	/** Whom to ask; left out, nobody. */
	readonly ask?: Asker;
};

export type Ahead = { readonly pool: Pool; readonly askFromNowOn: (asker: Asker) => void };

/**
 * Connects to some of the hosts before anything is drawn, one after the other, since a person answers one question at a
 * time; `say` is told how each went. The pool keeps what came up and what was typed.
 */
export const connectAhead = async (
	names: readonly string[],
	hosts: readonly HostSettings[],
	sshConfig: string | null,
	ask: Asker,
	say: (line: string) => void,
): Promise<Ahead> => {
	let asker = ask;
	const pool = poolFor(hosts, sshConfig, () => asker);
	for (const name of names) {
		say(`${name}: connecting`);
		const opened = await pool.open(name);
		say(opened.ok ? `${name}: connected` : `${name}: ${opened.failure.cause}`);
	}
	asker = askNobody;
	return {
		pool,
		askFromNowOn: (next) => {
			asker = next;
		},
	};
};

const poolFor = (hosts: readonly HostSettings[], configFile: string | null, ask: () => Asker): Pool =>
	createPool({ configFile, transports: new Map(hosts.map(({ name, transport }) => [name, transport ?? 'auto'])), ask });

export const openHosts = (hosts: readonly HostSettings[], options: HostsOptions, on: HostEvents): Hosts => {
	const { sshConfig, periodSeconds, ahead, ask = askNobody } = options;
	ahead?.askFromNowOn(ask);
	const pool = ahead?.pool ?? poolFor(hosts, sshConfig, () => ask);
	const sessions = new Map<string, Session>(
		hosts.map(({ name }) => [
			name,
			openSession(name, pool, ask, periodSeconds, { link: (link) => on.link(name, link), observed: on.observed }),
		]),
	);
	// Who is back may be what others wait for.
	pool.onReturn((alias) => {
		for (const [name, session] of sessions) if (name !== alias) session.nudge();
	});
	const network = watchNetwork(() => {
		pool.hurry();
		for (const session of sessions.values()) session.nudge();
	});
	return {
		exec: async (host, command, timeoutMs) =>
			(await sessions.get(host)?.exec(command, timeoutMs)) ?? {
				sent: false,
				failure: failure('not-found', `${host} is not one of the hosts`, 'Name it in config.yaml'),
			},
		watch: (host, manager, unit) => sessions.get(host)?.watch(manager, unit),
		retry: (host) => sessions.get(host)?.retry(),
		close: () => {
			network.close();
			for (const session of sessions.values()) session.close();
			pool.close();
		},
	};
};
