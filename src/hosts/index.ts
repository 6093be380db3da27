import { failure } from '../domain/failure.ts';
import type { Link } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import type { ExecOutcome } from './exec.ts';
import { createPool } from './pool.ts';
import { openSession, type Session } from './session.ts';

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

export const openHosts = (
	names: readonly string[],
	options: { readonly sshConfig: string | null; readonly periodSeconds: number },
	on: HostEvents,
): Hosts => {
	const pool = createPool(options.sshConfig);
	const sessions = new Map<string, Session>(
		names.map((name) => [
			name,
			openSession(name, pool, options.periodSeconds, { link: (link) => on.link(name, link), observed: on.observed }),
		]),
	);
	return {
		exec: async (host, command, timeoutMs) =>
			(await sessions.get(host)?.exec(command, timeoutMs)) ?? {
				sent: false,
				failure: failure('not-found', `${host} is not one of the hosts`, 'Name it in config.yaml'),
			},
		watch: (host, manager, unit) => sessions.get(host)?.watch(manager, unit),
		retry: (host) => sessions.get(host)?.retry(),
		close: () => {
			for (const session of sessions.values()) session.close();
			pool.close();
		},
	};
};
