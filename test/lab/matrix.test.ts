import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TransportChoice, TransportName } from '../../src/domain/host.ts';
import type { Asker } from '../../src/hosts/asker.ts';
import { createPool } from '../../src/hosts/ssh/pool.ts';
import type { ChannelEnd, Connection } from '../../src/hosts/ssh/transport.ts';
import { lab } from '../support/lab.ts';

/** Every way of logging in and of knowing a host, against real sshd, by both transports where both can. */
type Row = {
	readonly name: string;
	readonly host?: 'spark-a' | 'spark-b';
	/** Lines for the host, before the defaults of the lab. */
	readonly config: () => readonly string[];
	/** Transports that are asked for; `auto` also says which one must have been chosen. */
	readonly by: readonly TransportChoice[];
	readonly chooses?: TransportName;
	readonly answers?: Readonly<Record<string, readonly string[]>>;
	/** Absent: it must come up. */
	readonly fails?: { readonly kind: string; readonly cause: RegExp };
	/** What must have been asked, in order. */
	readonly asked?: readonly string[];
};

const keys = join(dirname(lab.config), 'keys');
let folder: string;
let agent: { readonly socket: string; readonly pid: number };
const results: string[] = [];

const blobOf = (name: string): string => readFileSync(join(keys, `${name}.pub`), 'utf8').trim();
const key = (name: string): string => `IdentityFile ${join(keys, name)}`;
const known = (name: string, lines: string): string => {
	const file = join(folder, name);
	writeFileSync(file, lines);
	return `UserKnownHostsFile ${file}`;
};
const privateCopy = (name: string, mode: number): string => {
	const file = join(folder, `${name}-${mode.toString(8)}`);
	copyFileSync(join(keys, name), file);
	chmodSync(file, mode);
	return file;
};

const BOTH = ['ssh2', 'openssh'] as const;
const rows: readonly Row[] = [
	{ name: 'ed25519 key', config: () => [], by: ['auto', ...BOTH], chooses: 'ssh2' },
	{ name: 'rsa key', config: () => [key('id_rsa')], by: BOTH },
	{ name: 'behind a jump', host: 'spark-b', config: () => [], by: ['auto', ...BOTH], chooses: 'ssh2' },
	{
		name: 'several keys, the right one last',
		config: () => [key('id_cert'), key('host_ca'), key('id_ed25519')],
		by: ['ssh2'],
	},
	{ name: 'agent', config: () => [`IdentityAgent ${agent.socket}`, 'IdentitiesOnly no', key('none-such')], by: BOTH },
	{
		name: 'agent, IdentitiesOnly with the public half only',
		config: () => [`IdentityAgent ${agent.socket}`, 'IdentitiesOnly yes', `IdentityFile ${keys}/id_rsa.pub`],
		by: BOTH,
	},
	{
		name: 'agent, IdentitiesOnly and no key of it named',
		config: () => [`IdentityAgent ${agent.socket}`, 'IdentitiesOnly yes', key('host_ca')],
		by: BOTH,
		fails: { kind: 'auth', cause: /spark@spark-a/ },
	},
	{
		name: 'agent that is not there',
		config: () => ['IdentityAgent /nowhere/agent', 'IdentitiesOnly no', key('host_ca')],
		by: ['ssh2'],
		fails: { kind: 'auth', cause: /no agent answers at \/nowhere\/agent/ },
	},
	{
		name: 'encrypted key',
		config: () => [key('id_ed25519_enc')],
		by: BOTH,
		answers: { passphrase: ['lab-passphrase'] },
		asked: ['passphrase'],
	},
	{
		name: 'encrypted key, wrong passphrase first',
		config: () => [key('id_ed25519_enc')],
		by: BOTH,
		answers: { passphrase: ['wrong', 'lab-passphrase'] },
		asked: ['passphrase', 'passphrase'],
	},
	{
		name: 'encrypted key, nobody answers',
		config: () => [key('id_ed25519_enc')],
		by: BOTH,
		fails: { kind: 'auth', cause: /nobody answered what it asks/ },
	},
	{
		name: 'a key that others can read is not used',
		config: () => [`IdentityFile ${privateCopy('id_ed25519', 0o644)}`],
		by: ['ssh2'],
		fails: { kind: 'auth', cause: /can be read by others/ },
	},
	{
		name: 'keyboard-interactive',
		config: () => ['User maint', 'PreferredAuthentications keyboard-interactive'],
		by: BOTH,
		answers: { password: ['lab-maint'] },
		asked: ['password'],
	},
	{
		name: 'keyboard-interactive, refused three times',
		config: () => ['User maint', 'PreferredAuthentications keyboard-interactive', 'NumberOfPasswordPrompts 2'],
		by: BOTH,
		answers: { password: ['a', 'b', 'c'] },
		asked: ['password', 'password'],
		fails: { kind: 'auth', cause: /refused/ },
	},
	{
		name: 'BatchMode asks nothing',
		config: () => ['User maint', 'PreferredAuthentications keyboard-interactive', 'BatchMode yes'],
		by: BOTH,
		answers: { password: ['lab-maint'] },
		asked: [],
		fails: { kind: 'auth', cause: /maint@spark-a/ },
	},
	{
		name: 'second factor: key, then keyboard-interactive',
		config: () => ['User warden'],
		by: BOTH,
		answers: { password: ['lab-warden'] },
		asked: ['password'],
	},
	{
		name: 'password',
		config: () => ['User viewer'],
		by: BOTH,
		answers: { password: ['lab-viewer'] },
		asked: ['password'],
	},
	{
		name: 'user certificate',
		config: () => [key('id_cert')],
		by: ['auto', 'openssh'],
		chooses: 'openssh',
	},
	{
		name: 'user certificate, ssh2 by force',
		config: () => [key('id_cert')],
		by: ['ssh2'],
		fails: { kind: 'auth', cause: /does not take your key id_cert/ },
	},
	{
		name: 'ProxyCommand',
		host: 'spark-b',
		config: () => [`ProxyCommand ssh -F ${lab.sshConfig} -W %h:%p spark-a`],
		by: ['auto'],
		chooses: 'openssh',
	},
	{
		name: 'a jump that only OpenSSH can do, ssh2 behind it',
		host: 'spark-b',
		config: () => ['Match originalhost spark-a', key('id_cert'), 'Match all', key('id_ed25519')],
		by: ['auto'],
		chooses: 'ssh2',
	},
	{
		name: 'host key known by a hashed name',
		config: () => {
			const line = known('hashed', `10.77.1.2 ${blobOf('host_spark-a')}\n`);
			execFileSync('ssh-keygen', ['-q', '-H', '-f', join(folder, 'hashed')], { stdio: 'ignore' });
			return [line];
		},
		by: BOTH,
	},
	{
		name: 'host key in the second file',
		config: () => {
			known('second', `10.77.1.2 ${blobOf('host_spark-a')}\n`);
			return [`UserKnownHostsFile ${folder}/none ${folder}/second`];
		},
		by: BOTH,
	},
	{
		name: 'HostKeyAlias',
		config: () => ['HostKeyAlias head-node', known('alias', `head-node ${blobOf('host_spark-a')}\n`)],
		by: BOTH,
	},
	{
		name: '@cert-authority only',
		config: () => [known('authority', `@cert-authority * ${blobOf('host_ca')}\n`)],
		by: ['auto', 'openssh'],
		chooses: 'openssh',
	},
	{
		name: '@revoked',
		config: () => [known('revoked', `10.77.1.2 ${blobOf('host_spark-a')}\n@revoked * ${blobOf('host_spark-a')}\n`)],
		by: BOTH,
		fails: { kind: 'host-key', cause: /revoked/i },
	},
	{
		name: 'changed',
		config: () => [known('changed', `10.77.1.2 ${blobOf('host_spark-b')}\n`)],
		by: BOTH,
		fails: { kind: 'host-key', cause: /HAS CHANGED.*SHA256/ },
	},
	{
		name: 'unknown, StrictHostKeyChecking yes',
		config: () => [known('empty', '')],
		by: BOTH,
		fails: { kind: 'host-key', cause: /is not known|was not accepted/ },
	},
	{
		name: 'unknown, asked and accepted, then known',
		config: () => ['StrictHostKeyChecking ask', known('asked', '')],
		by: ['ssh2', 'ssh2'],
		answers: { 'host-key': ['yes'] },
	},
	{
		name: 'unknown, asked and refused',
		config: () => ['StrictHostKeyChecking ask', known('no', '')],
		by: BOTH,
		answers: { 'host-key': ['no'] },
		asked: ['host-key'],
		fails: { kind: 'host-key', cause: /is not known/ },
	},
	{
		name: 'unknown, accept-new',
		config: () => ['StrictHostKeyChecking accept-new', known('new', '')],
		by: BOTH,
	},
	{
		name: 'Ciphers and KexAlgorithms of the user',
		config: () => ['Ciphers aes256-ctr', 'KexAlgorithms ecdh-sha2-nistp384', 'MACs hmac-sha2-512'],
		by: ['auto', ...BOTH],
		chooses: 'ssh2',
	},
	{
		name: 'an algorithm that ssh2 lacks',
		config: () => ['KexAlgorithms sntrup761x25519-sha512@openssh.com'],
		by: ['auto'],
		chooses: 'openssh',
	},
	{
		name: 'Match exec',
		config: () => ['Match exec "true"', key('id_rsa'), 'Match all'],
		by: ['auto'],
		chooses: 'ssh2',
	},
	{
		name: 'wrong port: refused',
		config: () => ['Port 2222', 'HostKeyAlias 10.77.1.2'],
		by: BOTH,
		fails: { kind: 'refused', cause: /refuses/ },
	},
	{
		name: 'name that nobody knows',
		config: () => ['HostName no-such-host.invalid'],
		by: BOTH,
		fails: { kind: 'unreachable', cause: /is not known/ },
	},
];

const SECOND_FACTOR = `Match User warden
AuthenticationMethods publickey,keyboard-interactive
Match User viewer
PasswordAuthentication yes
AuthenticationMethods password
`;

beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'sparkdeck-matrix-'));
	const started = execFileSync('ssh-agent', ['-s'], { encoding: 'utf8' });
	const socket = /SSH_AUTH_SOCK=([^;]+)/.exec(started)?.[1] ?? '';
	agent = { socket, pid: Number(/SSH_AGENT_PID=(\d+)/.exec(started)?.[1]) };
	execFileSync('ssh-add', ['-q', join(keys, 'id_rsa')], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
	const write = `cat > /etc/ssh/sshd_config.d/zz-matrix.conf <<'END'\n${SECOND_FACTOR}END\nsystemctl reload ssh`;
	lab.fault('spark-a', 'exec', 'sh', '-c', write);
});
afterAll(() => {
	process.kill(agent.pid);
	rmSync(folder, { recursive: true, force: true });
	lab.fault('spark-a', 'exec', 'sh', '-c', 'rm /etc/ssh/sshd_config.d/zz-matrix.conf; systemctl reload ssh');
	process.stdout.write(`${results.join('\n')}\n`);
});

const run = (connection: Connection, command: string): Promise<{ end: ChannelEnd; stdout: string; stderr: string }> =>
	new Promise((resolve) => {
		let stdout = '';
		let stderr = '';
		const channel = connection.open(command, {
			stdout: (text) => {
				stdout += text;
			},
			stderr: (text) => {
				stderr += text;
			},
			closed: (end) => resolve({ end, stdout, stderr }),
		});
		channel.write('from us\n');
		channel.end();
	});

describe('ways to log in and to know a host', () => {
	const cases = rows.flatMap((row) => row.by.map((by, turn) => ({ row, by, turn, title: `${row.name} · ${by}` })));
	test.each(cases)('$title', async ({ row, by, turn }) => {
		const host = row.host ?? 'spark-a';
		const file = join(folder, 'ssh_config');
		// The second of two equal turns finds what the first one left.
		const again = turn > 0 && row.by[turn - 1] === by;
		const [first = '', ...rest] = again ? readFileSync(file, 'utf8').split('\n') : [];
		if (again) writeFileSync(file, [first, ...rest].join('\n'));
		else {
			const lines = row.config();
			const own = lines.some((line) => line.startsWith('IdentityFile')) ? [] : [key('id_ed25519')];
			const jump = host === 'spark-a' ? [] : ['Host spark-a', key('id_ed25519')];
			writeFileSync(file, [`Host ${host}`, ...lines, ...own, ...jump, ''].join('\n'));
			appendFileSync(file, readFileSync(lab.sshConfig, 'utf8').replace(/ {2}IdentityFile.*\n/g, ''));
		}
		const asked: string[] = [];
		const left = Object.fromEntries(Object.entries(row.answers ?? {}).map(([about, list]) => [about, [...list]]));
		const ask: Asker = async ({ about }) => {
			asked.push(about);
			const answer = left[about]?.shift();
			return answer === undefined ? null : [answer];
		};
		const pool = createPool({ configFile: file, transports: new Map([[host, by]]), ask: () => ask });
		const began = performance.now();
		const opened = await pool.open(host);
		const ms = Math.round(performance.now() - began);
		try {
			const outcome = opened.ok ? `up by ${opened.value.connection.transport}` : opened.failure.kind;
			results.push(`| ${row.name} | ${by} | ${outcome} | ${ms} ms |`);
			if (row.fails) {
				expect(opened).toMatchObject({ ok: false, failure: { kind: row.fails.kind } });
				expect(!opened.ok && opened.failure.cause).toMatch(row.fails.cause);
			} else {
				if (!opened.ok) throw new Error(opened.failure.cause);
				const { connection } = opened.value;
				if (by === 'auto') expect(connection.transport).toBe(row.chooses);
				else expect(connection.transport).toBe(by);
				const done = await run(connection, 'cat; echo complaint >&2; exit 7');
				expect(done).toEqual({ end: { kind: 'exited', code: 7 }, stdout: 'from us\n', stderr: 'complaint\n' });
			}
			if (row.asked) expect(asked).toEqual(row.asked);
			if (again) expect(asked).toEqual([]);
		} finally {
			pool.close();
		}
	});
});
