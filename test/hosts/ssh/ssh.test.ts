import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveSsh, type SshTarget, splitHop } from '../../../src/hosts/ssh/config.ts';
import { fingerprint, judgeHostKey, knownKeys, preferKnown, remember } from '../../../src/hosts/ssh/knownHosts.ts';
import { keyType } from '../../../src/hosts/ssh/privateKey.ts';

let folder: string;
const blobOf = (name: string): Buffer =>
	Buffer.from(readFileSync(join(folder, `${name}.pub`), 'utf8').split(' ')[1]!, 'base64');

beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'sparkdeck-ssh-'));
	for (const name of ['known', 'other', 'revoked']) {
		execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
	}
	execFileSync('ssh-keygen', ['-q', '-t', 'ecdsa', '-N', '', '-f', join(folder, 'ecdsa')]);
	writeFileSync(
		join(folder, 'config'),
		[
			'Host head',
			'  HostName 10.77.1.2',
			'  User ops',
			'Host second',
			'  HostName Second.LAN',
			'  Port 2222',
			'  ProxyJump head',
			'Host third',
			'  ProxyJump ops@head:2200,second',
			'Host loop',
			'  ProxyJump loop2',
			'Host loop2',
			'  ProxyJump loop',
			'Host *',
			'  IdentityFile ~/.ssh/some_key',
			`  UserKnownHostsFile ${folder}/known_hosts`,
			'  GlobalKnownHostsFile /dev/null',
		].join('\n'),
	);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const resolved = async (alias: string): Promise<SshTarget> => {
	const target = await resolveSsh(alias, join(folder, 'config'));
	if (!target.ok) throw new Error(target.failure.cause);
	return target.value;
};

describe('the user’s own configuration', () => {
	test('is what ssh -G says', async () => {
		expect(await resolved('head')).toMatchObject({
			hostname: '10.77.1.2',
			user: 'ops',
			port: 22,
			jumps: [],
			knownHostsName: '10.77.1.2',
			beyondSsh2: null,
			methods: ['publickey', 'keyboard-interactive', 'password'],
			algorithms: { cipher: null, kex: null, hmac: null, serverHostKey: null },
			alive: null,
			strict: 'ask',
		});
	});
	test('with a jump, and the name that known_hosts knows it by', async () => {
		const target = await resolved('second');
		expect(target).toMatchObject({
			port: 2222,
			knownHostsName: '[second.lan]:2222',
			jumps: [{ alias: 'head', hostname: '10.77.1.2' }],
		});
		expect(target.identityFiles[0]).not.toContain('~');
	});
	test('with a chain of jumps, their users and ports', async () => {
		const { jumps } = await resolved('third');
		expect(jumps.map((hop) => [hop.hostname, hop.port, hop.user])).toMatchObject([
			['10.77.1.2', 2200, 'ops'],
			[expect.stringMatching(/second\.lan/i), 2222, expect.any(String)],
		]);
	});
	test('that leads in a circle is told, not followed', async () => {
		const target = await resolveSsh('loop', join(folder, 'config'));
		expect(!target.ok && target.failure.hint).toContain('ProxyJump');
	});
	test.each(['-oProxyCommand=evil', ''])('%j is no host', async (name) => {
		expect((await resolveSsh(name, null)).ok).toBe(false);
	});
	test('a file that is not there is a failure that names it', async () => {
		const target = await resolveSsh('x', join(folder, 'nowhere'));
		expect(!target.ok && target.failure.cause).toContain('nowhere');
	});
	test.each([
		['a', { user: '', host: 'a', port: '' }],
		['u@a:22', { user: 'u', host: 'a', port: '22' }],
		['ssh://u@a:22', { user: 'u', host: 'a', port: '22' }],
		['u@[fe80::1]:22', { user: 'u', host: 'fe80::1', port: '22' }],
	])('hop %j', (hop, parts) => expect(splitHop(hop)).toEqual(parts));
});

describe('host keys', () => {
	const verdict = async (name: string, entries: string, strict: SshTarget['strict'] = 'yes') => {
		writeFileSync(join(folder, 'known_hosts'), entries);
		const target = { ...(await resolved('head')), strict };
		return judgeHostKey(blobOf(name), await knownKeys(target), target, null);
	};
	const judge = async (name: string, entries: string, strict: SshTarget['strict'] = 'yes') => {
		const judged = await verdict(name, entries, strict);
		return judged.kind === 'refused' ? judged.failure : null;
	};
	const entry = (name: string): string => readFileSync(join(folder, `${name}.pub`), 'utf8');

	test('known, also where the name is hashed', async () => {
		expect(await verdict('known', `10.77.1.2 ${entry('known')}`)).toEqual({ kind: 'known' });
		writeFileSync(join(folder, 'known_hosts'), `10.77.1.2 ${entry('known')}`);
		execFileSync('ssh-keygen', ['-q', '-H', '-f', join(folder, 'known_hosts')], { stdio: 'ignore' });
		expect(await verdict('known', readFileSync(join(folder, 'known_hosts'), 'utf8'))).toEqual({ kind: 'known' });
	});
	test('unknown: refused, with its fingerprint as ssh prints it and the command that makes it known', async () => {
		const failure = await judge('known', '');
		const printed = execFileSync('ssh-keygen', ['-l', '-f', join(folder, 'known.pub')], { encoding: 'utf8' }).split(
			' ',
		)[1]!;
		expect(failure).toMatchObject({ kind: 'host-key', cause: expect.stringContaining(printed) });
		expect(failure?.hint).toContain('ssh -o StrictHostKeyChecking=ask head true');
	});
	test.each([
		['ask', true],
		['accept-new', false],
		['no', false],
	] as const)('unknown under StrictHostKeyChecking %s: new, asked about %s', async (strict, ask) => {
		expect(await verdict('known', '', strict)).toMatchObject({ kind: 'new', ask });
	});
	test('changed: refused under every StrictHostKeyChecking', async () => {
		for (const strict of ['yes', 'ask', 'accept-new', 'no'] as const) {
			const failure = await judge('other', `10.77.1.2 ${entry('known')}`, strict);
			expect(failure?.cause).toMatch(/HAS CHANGED/);
		}
	});
	test.each([false, true])(
		'an accepted key is written so that ssh-keygen finds it (hashed: %s)',
		async (hashKnownHosts) => {
			// Without a line end before it, as people leave it.
			writeFileSync(join(folder, 'known_hosts'), `somewhere ${entry('other').trim()}`);
			const target = { ...(await resolved('second')), hashKnownHosts };
			expect(await remember(target, blobOf('known'))).toBe(null);
			expect(judgeHostKey(blobOf('known'), await knownKeys(target), target, null)).toEqual({ kind: 'known' });
			expect(readFileSync(join(folder, 'known_hosts'), 'utf8').includes('second.lan')).toBe(!hashKnownHosts);
			execFileSync('ssh-keygen', ['-F', 'somewhere', '-f', join(folder, 'known_hosts')]);
		},
	);
	test('changed: refused loudly, with both fingerprints and the line', async () => {
		const failure = await judge('other', `# a comment\n10.77.1.2 ${entry('known')}`);
		expect(failure?.cause).toMatch(/HAS CHANGED/);
		expect(failure?.cause).toContain(fingerprint(blobOf('known')));
		expect(failure?.cause).toContain(fingerprint(blobOf('other')));
		expect(failure?.cause).toContain('known_hosts:2');
		expect(failure?.hint).toContain(`ssh-keygen -R '10.77.1.2'`);
	});
	test('revoked wins over known', async () => {
		const failure = await judge('revoked', `10.77.1.2 ${entry('revoked')}@revoked * ${entry('revoked')}`);
		expect(failure?.cause).toContain('revoked');
	});
	test('a key of another type is unknown, not changed', async () => {
		expect((await judge('ecdsa', `10.77.1.2 ${entry('known')}`))?.cause).toContain('is not known');
	});
	test('the known type is asked for first', async () => {
		writeFileSync(join(folder, 'known_hosts'), `10.77.1.2 ${entry('ecdsa')}`);
		const known = await knownKeys(await resolved('head'));
		expect(preferKnown(['ssh-ed25519', 'ecdsa-sha2-nistp256', 'rsa-sha2-512'], known)[0]).toBe('ecdsa-sha2-nistp256');
		expect(keyType(blobOf('ecdsa'))).toBe('ecdsa-sha2-nistp256');
		expect(keyType(Buffer.from('garbage'))).toBe('?');
	});
});
