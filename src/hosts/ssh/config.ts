import { homedir } from 'node:os';
import { type Failure, failure } from '../../domain/failure.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { runLocal } from '../runLocal.ts';
import { type AlgorithmKind, algorithmsOf, beyondSsh2 } from './reach.ts';
import { type Fields, first, given, parseSshG } from './sshG.ts';

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
	readonly knownHostsName: string;
	/** A key that is accepted is written into the first of these. */
	readonly userKnownHostsFiles: readonly string[];
	readonly globalKnownHostsFiles: readonly string[];
	readonly hashKnownHosts: boolean;
	readonly strict: StrictHostKeys;
	readonly connectTimeoutMs: number;
	/** ServerAliveInterval in ms and ServerAliveCountMax; null: the user says nothing of it. */
	readonly alive: { readonly intervalMs: number; readonly count: number } | null;
	/** In the user's order; null: the user says nothing of them. */
	readonly algorithms: Readonly<Record<AlgorithmKind, readonly string[] | null>>;
	/** Methods of authentication that are to be tried, in this order. */
	readonly methods: readonly AuthMethod[];
	readonly passwordPrompts: number;
	/** BatchMode: nothing is asked. */
	readonly batch: boolean;
	readonly compression: boolean;
	readonly family: 4 | 6 | null;
	readonly bindAddress: string | null;
	/** The first thing in its configuration that only OpenSSH itself can do, in ssh_config's words; null: there is none. */
	readonly beyondSsh2: string | null;
};

export type StrictHostKeys = 'yes' | 'ask' | 'accept-new' | 'no';
export type AuthMethod = 'publickey' | 'keyboard-interactive' | 'password';

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
	const [answer, defaults] = await Promise.all([runLocal('ssh', [...args, '--', alias]), defaultFields()]);
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
	return ok(toTarget(alias, fields, defaults, jumps));
};

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

const toTarget = (alias: string, fields: Fields, defaults: Fields, jumps: readonly SshTarget[]): SshTarget => {
	const hostname = first(fields, 'hostname') || alias;
	const port = Number(first(fields, 'port')) || 22;
	const keyAlias = given(first(fields, 'hostkeyalias'));
	const timeout = Number(first(fields, 'connecttimeout'));
	const interval = Number(first(fields, 'serveraliveinterval'));
	// Hashed entries are of the lower-case name.
	const name = (keyAlias ?? hostname).toLowerCase();
	const family = first(fields, 'addressfamily');
	const algorithms = algorithmsOf(fields, defaults);
	return {
		alias,
		hostname,
		user: first(fields, 'user'),
		port,
		identityFiles: (fields.get('identityfile') ?? []).filter((file) => file !== 'none').map(home),
		identitiesOnly: first(fields, 'identitiesonly') === 'yes',
		agent: agentOf(first(fields, 'identityagent')),
		jumps,
		knownHostsName: port === 22 || keyAlias !== null ? name : `[${name}]:${port}`,
		userKnownHostsFiles: filesOf(fields, 'userknownhostsfile'),
		globalKnownHostsFiles: filesOf(fields, 'globalknownhostsfile'),
		hashKnownHosts: first(fields, 'hashknownhosts') === 'yes',
		strict: strictOf(first(fields, 'stricthostkeychecking')),
		connectTimeoutMs: timeout > 0 ? timeout * 1000 : CONNECT_TIMEOUT,
		alive:
			interval > 0 ? { intervalMs: interval * 1000, count: Number(first(fields, 'serveralivecountmax')) || 3 } : null,
		algorithms,
		methods: methodsOf(fields),
		passwordPrompts: Number(first(fields, 'numberofpasswordprompts')) || 3,
		batch: first(fields, 'batchmode') === 'yes',
		compression: first(fields, 'compression') === 'yes',
		family: family === 'inet' ? 4 : family === 'inet6' ? 6 : null,
		bindAddress: given(first(fields, 'bindaddress')),
		beyondSsh2: beyondSsh2(fields, hostname, algorithms),
	};
};

const filesOf = (fields: Fields, key: string): string[] =>
	(fields.get(key) ?? [])
		.flatMap((value) => value.split(' '))
		.filter((path) => path !== '' && path !== 'none')
		.map(home);

/** `ssh -G` prints yes as `true`, no and off as `false` in some versions. */
const strictOf = (value: string): StrictHostKeys => {
	if (value === 'yes' || value === 'true') return 'yes';
	if (value === 'no' || value === 'off' || value === 'false') return 'no';
	return value === 'accept-new' ? 'accept-new' : 'ask';
};

/** Those of PreferredAuthentications that are not switched off; without it, in OpenSSH's own order (ssh_config(5)). */
const methodsOf = (fields: Fields): AuthMethod[] => {
	const all: readonly AuthMethod[] = ['publickey', 'keyboard-interactive', 'password'];
	const off: Readonly<Record<AuthMethod, readonly string[]>> = {
		publickey: ['pubkeyauthentication'],
		'keyboard-interactive': ['kbdinteractiveauthentication', 'challengeresponseauthentication'],
		password: ['passwordauthentication'],
	};
	const preferred = given(first(fields, 'preferredauthentications'))?.split(',') ?? all;
	const wanted = preferred.filter((one): one is AuthMethod => all.includes(one as AuthMethod));
	return wanted.filter((method) => !off[method].some((key) => ['no', 'false'].includes(first(fields, key))));
};

/**
 * OpenSSH's own configuration of nothing: what is the same in the user's was not said by the user. Asked once; it does not
 * change while the program runs.
 */
let compiledIn: Promise<Fields> | null = null;
const defaultFields = (): Promise<Fields> => {
	compiledIn ??= runLocal('ssh', ['-G', '-T', '-F', 'none', '--', 'localhost']).then((answer) =>
		parseSshG(answer.ok ? answer.value.stdout : ''),
	);
	return compiledIn;
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
