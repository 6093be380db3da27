import { homedir } from 'node:os';
import { type Failure, failure } from '../domain/failure.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import { runLocal } from './runLocal.ts';

/** How to reach one host, as the user's own ssh configuration says (`ssh -G`). */
export type SshTarget = {
	/** The name that was asked for. */
	readonly alias: string;
	readonly hostname: string;
	readonly user: string;
	readonly port: number;
	readonly identityFiles: readonly string[];
	readonly identitiesOnly: boolean;
	/** Socket of the agent to ask, or null for none. */
	readonly agent: string | null;
	/** Hops before it, nearest first. */
	readonly jumps: readonly SshTarget[];
	readonly proxyCommand: string | null;
	readonly knownHostsName: string;
	readonly knownHostsFiles: readonly string[];
	readonly connectTimeoutMs: number;
	readonly ciphers: readonly string[];
};

/** OpenSSH has no limit of its own for connecting; a frozen host accepts and then says nothing, so there must be one. */
const CONNECT_TIMEOUT = 8000;
const MOST_HOPS = 8;

/** Resolves an alias and, one by one, the hops before it. `file` is passed on as `-F`. */
export const resolveSsh = async (
	alias: string,
	file: string | null,
	override: { user?: string; port?: string } = {},
	depth = 0,
): Promise<Result<SshTarget>> => {
	if (alias === '' || alias.startsWith('-')) {
		return fail(failure('config', `${JSON.stringify(alias)} is no host name`, 'Name hosts as you would to ssh'));
	}
	if (depth > MOST_HOPS) {
		return fail(
			failure(
				'config',
				`${alias} is behind more than ${MOST_HOPS} jumps`,
				'Look for a ProxyJump that leads back to itself',
			),
		);
	}
	const args = ['-G', '-T'];
	if (file !== null) args.push('-F', file);
	if (override.user) args.push('-l', override.user);
	if (override.port) args.push('-p', override.port);
	const answer = await runLocal('ssh', [...args, '--', alias]);
	if (!answer.ok) return fail(noSsh(answer.failure));
	if (answer.value.code !== 0) {
		// The first line says where, the last one only that it gives up.
		const said = answer.value.stderr.trim().split('\n')[0] ?? '';
		return fail(
			failure('config', `ssh can't resolve ${alias}: ${said}`, `Try it: ssh ${file ? `-F ${file} ` : ''}-G ${alias}`),
		);
	}
	const fields = parseSshG(answer.value.stdout);
	const jumps: SshTarget[] = [];
	for (const hop of jumpList(fields)) {
		const { user, host, port } = splitHop(hop);
		const resolved = await resolveSsh(host, file, { ...(user && { user }), ...(port && { port }) }, depth + 1);
		if (!resolved.ok) return resolved;
		// `ssh -J` reaches the first hop of a list by that hop's own configuration, the later ones through their forerunner.
		jumps.push(...(jumps.length === 0 ? resolved.value.jumps : []), { ...resolved.value, jumps: [] });
	}
	return ok(toTarget(alias, fields, jumps));
};

type Fields = ReadonlyMap<string, readonly string[]>;

/** `key value` lines of `ssh -G`; keys are lower-case, some come several times. */
export const parseSshG = (text: string): Fields => {
	const fields = new Map<string, string[]>();
	for (const line of text.split('\n')) {
		const at = line.indexOf(' ');
		if (at <= 0) continue;
		const key = line.slice(0, at);
		fields.set(key, [...(fields.get(key) ?? []), line.slice(at + 1).trim()]);
	}
	return fields;
};

const first = (fields: Fields, key: string): string => fields.get(key)?.[0] ?? '';

const jumpList = (fields: Fields): string[] => {
	const value = first(fields, 'proxyjump');
	return value === '' || value === 'none' ? [] : value.split(',').map((hop) => hop.trim());
};

/** `[user@]host[:port]`, `ssh://…`, and `[v6]:port`. */
export const splitHop = (hop: string): { user: string; host: string; port: string } => {
	const found = /^(?:ssh:\/\/)?(?:([^@]*)@)?(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?\/?$/.exec(hop);
	return { user: found?.[1] ?? '', host: found?.[2] ?? found?.[3] ?? hop, port: found?.[4] ?? '' };
};

const home = (path: string): string => (path === '~' || path.startsWith('~/') ? homedir() + path.slice(1) : path);

const toTarget = (alias: string, fields: Fields, jumps: readonly SshTarget[]): SshTarget => {
	const hostname = first(fields, 'hostname') || alias;
	const port = Number(first(fields, 'port')) || 22;
	const keyAlias = first(fields, 'hostkeyalias');
	const timeout = Number(first(fields, 'connecttimeout'));
	const files = [...(fields.get('userknownhostsfile') ?? []), ...(fields.get('globalknownhostsfile') ?? [])];
	const command = first(fields, 'proxycommand');
	// Hashed entries are of the lower-case name.
	const name = (keyAlias !== '' && keyAlias !== 'none' ? keyAlias : hostname).toLowerCase();
	return {
		alias,
		hostname,
		user: first(fields, 'user'),
		port,
		identityFiles: (fields.get('identityfile') ?? []).map(home),
		identitiesOnly: first(fields, 'identitiesonly') === 'yes',
		agent: agentOf(first(fields, 'identityagent')),
		jumps,
		proxyCommand: command === '' || command === 'none' ? null : command,
		knownHostsName: port === 22 || (keyAlias !== '' && keyAlias !== 'none') ? name : `[${name}]:${port}`,
		knownHostsFiles: files
			.flatMap((value) => value.split(' '))
			.filter((path) => path !== '' && path !== 'none')
			.map(home),
		connectTimeoutMs: timeout > 0 ? timeout * 1000 : CONNECT_TIMEOUT,
		ciphers: first(fields, 'ciphers')
			.split(',')
			.filter((one) => one !== ''),
	};
};

const agentOf = (value: string): string | null => {
	if (value === 'none') return null;
	if (value === '' || value === 'SSH_AUTH_SOCK') return process.env['SSH_AUTH_SOCK'] || null;
	if (value.startsWith('$')) return process.env[value.slice(1).replace(/[{}]/g, '')] || null;
	return home(value);
};

const noSsh = (cause: Failure): Failure =>
	cause.kind === 'missing-tool'
		? failure(
				'missing-tool',
				'OpenSSH (ssh, ssh-keygen) is not installed here',
				'Install it: it reads your ssh configuration for us',
			)
		: cause;
