import type { Duplex } from 'node:stream';
import { failure } from '../domain/failure.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import { type Connection, connect } from './connection.ts';
import { resolveSsh, type SshTarget } from './sshConfig.ts';

/**
 * The connections of this console, one for each host, shared by its session and by the hosts behind it: a host that is
 * reached through another one uses that one's live connection, as a jump by forwardOut.
 */
export type Pool = {
	/** A live connection to an alias. Asked twice at once, it is opened once. */
	readonly open: (alias: string) => Promise<Result<{ connection: Connection; target: SshTarget }>>;
	readonly close: () => void;
};

export const createPool = (configFile: string | null): Pool => {
	const live = new Map<string, Promise<Result<Connection>>>();
	const all = new Set<Connection>();

	const key = (target: SshTarget): string =>
		[target.user, target.hostname, target.port, target.knownHostsName].join('|');

	const openTarget = (target: SshTarget): Promise<Result<Connection>> => {
		const id = key(target);
		const known = live.get(id);
		if (known) return known;
		const opening = connect(target, configFile, wayTo(target)).then((opened) => {
			if (!opened.ok) {
				live.delete(id);
				return opened;
			}
			all.add(opened.value);
			void opened.value.lost.then(() => {
				all.delete(opened.value);
				if (live.get(id) === opening) live.delete(id);
			});
			return opened;
		});
		live.set(id, opening);
		return opening;
	};

	/** How to get a stream to a target that is behind hops or a ProxyCommand; null when it is reached directly. */
	const wayTo = (target: SshTarget): (() => Promise<Result<Duplex>>) | null => {
		const hop = target.jumps.at(-1);
		if (hop) {
			const before = { ...hop, jumps: target.jumps.slice(0, -1) };
			return async () => {
				const jump = await openTarget(before);
				if (!jump.ok) {
					const { kind, cause, hint } = jump.failure;
					return fail(failure(kind, `jump host: ${cause}`, hint));
				}
				return forward(jump.value, hop, target);
			};
		}
		const { proxyCommand } = target;
		return proxyCommand === null ? null : () => throughCommand(proxyCommand, target);
	};

	return {
		open: async (alias) => {
			const target = await resolveSsh(alias, configFile);
			if (!target.ok) return target;
			const connection = await openTarget(target.value);
			return connection.ok ? ok({ connection: connection.value, target: target.value }) : connection;
		},
		close: () => {
			for (const connection of all) connection.close();
		},
	};
};

const forward = (jump: Connection, hop: SshTarget, target: SshTarget): Promise<Result<Duplex>> =>
	new Promise((resolve) => {
		const to = `${target.hostname}:${target.port}`;
		const refused = (why: string): void =>
			resolve(
				fail(
					failure(
						'unreachable',
						`${target.alias} (${to}) can't be reached from ${hop.alias}: ${why}`,
						`Try it by hand: ssh ${hop.alias} nc -z ${target.hostname} ${target.port}`,
					),
				),
			);
		const timer = setTimeout(() => refused('no answer'), target.connectTimeoutMs);
		try {
			jump.client.forwardOut('127.0.0.1', 0, target.hostname, target.port, (error, stream) => {
				clearTimeout(timer);
				if (error) refused(error.message);
				else resolve(ok(stream));
			});
		} catch (error) {
			// ssh2 throws "Not connected" where the connection went away between two turns.
			clearTimeout(timer);
			refused(error instanceof Error ? error.message : 'not connected');
		}
	});

/** ProxyCommand, as ssh runs it: through the user's shell, its tokens already filled in by `ssh -G` but for these. */
const throughCommand = async (command: string, target: SshTarget): Promise<Result<Duplex>> => {
	const { execa } = await import('execa');
	const line = command
		.replaceAll('%h', target.hostname)
		.replaceAll('%p', String(target.port))
		.replaceAll('%r', target.user)
		.replaceAll('%n', target.alias)
		.replaceAll('%%', '%');
	const child = execa(`exec ${line}`, { shell: true, buffer: false, reject: false, stderr: 'ignore', cleanup: true });
	const stream = child.duplex();
	stream.on('error', () => {});
	return ok(stream);
};
