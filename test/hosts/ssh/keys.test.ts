import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resolveSsh } from '../../../src/hosts/ssh/config.ts';
import { credentialsOf } from '../../../src/hosts/ssh/credentials.ts';
import { keyType, parsePublicLine, readPrivateKey } from '../../../src/hosts/ssh/privateKey.ts';

let folder: string;
let agent: { readonly socket: string; readonly pid: number };
const make = (name: string, ...args: string[]): void => {
	execFileSync('ssh-keygen', ['-q', '-f', join(folder, name), ...args]);
};
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), 'sparkdeck-keys-'));
	make('plain', '-t', 'ed25519', '-N', '');
	make('second', '-t', 'ed25519', '-N', '');
	make('locked', '-t', 'ed25519', '-N', 'secret');
	make('pem', '-t', 'rsa', '-b', '2048', '-N', '', '-m', 'PEM');
	make('pemLocked', '-t', 'ecdsa', '-N', 'secret', '-m', 'PEM');
	make('loaded', '-t', 'ecdsa', '-N', '');
	make('other', '-t', 'ed25519', '-N', '');
	const started = execFileSync('ssh-agent', ['-s'], { encoding: 'utf8' });
	const socket = /SSH_AUTH_SOCK=([^;]+)/.exec(started)?.[1] ?? '';
	agent = { socket, pid: Number(/SSH_AGENT_PID=(\d+)/.exec(started)?.[1]) };
	const env = { ...process.env, SSH_AUTH_SOCK: socket };
	execFileSync('ssh-add', ['-q', join(folder, 'other'), join(folder, 'loaded')], { env });
});
afterAll(() => {
	process.kill(agent.pid);
	rmSync(folder, { recursive: true, force: true });
});

const credentials = async (...lines: string[]) => {
	const file = join(folder, 'config');
	writeFileSync(file, ['Host head', ...lines.map((line) => `  ${line}`), ''].join('\n'));
	const target = await resolveSsh('head', file);
	if (!target.ok) throw new Error(target.failure.cause);
	const found = await credentialsOf(target.value);
	return { ...found, order: found.keys.map((key) => `${key.holder} ${key.public?.type ?? '?'}`) };
};
const identity = (name: string): string => `IdentityFile ${join(folder, name)}`;

describe('private key files', () => {
	test.each([
		['plain', false, true],
		['locked', true, true],
		['pem', false, false],
		['pemLocked', true, false],
	])('%s: encrypted %s, its public half in the clear %s', (name, encrypted, hasPublic) => {
		const key = readPrivateKey(read(name));
		expect(key?.encrypted).toBe(encrypted);
		expect(key?.public !== null).toBe(hasPublic);
		if (hasPublic) expect(key?.public?.blob).toEqual(parsePublicLine(read(`${name}.pub`))?.blob);
	});
	test('garbage is no key, and nothing throws', () => {
		const text = read('locked');
		const cut = fc
			.nat(text.length)
			.chain((at) => fc.string().map((noise) => text.slice(0, at) + noise + text.slice(at + 1)));
		fc.assert(
			fc.property(fc.oneof(fc.string(), cut), (any) => {
				readPrivateKey(any);
				parsePublicLine(any);
				keyType(Buffer.from(any));
			}),
		);
		expect(readPrivateKey('no key')).toBe(null);
		expect(parsePublicLine('ssh-ed25519 AAAA comment')).toBe(null);
	});
});

describe('the order of keys', () => {
	test('is OpenSSH’s: those of the agent that are configured, other ones of the agent, then files', async () => {
		const { keys } = await credentials(`IdentityAgent ${agent.socket}`, identity('plain'), identity('loaded'));
		const blobs = ['loaded', 'other', 'plain'].map((name) => parsePublicLine(read(`${name}.pub`))?.blob);
		expect(keys.map((key) => key.public?.blob)).toEqual(blobs);
		expect(keys.map((key) => key.holder)).toEqual(['agent', 'agent', 'file']);
	});
	test('IdentitiesOnly: the agent lends only what is configured', async () => {
		const all = [`IdentityAgent ${agent.socket}`, 'IdentitiesOnly yes', identity('plain'), identity('loaded.pub')];
		expect((await credentials(...all)).order).toEqual(['agent ecdsa-sha2-nistp256', 'file ssh-ed25519']);
	});
	test('without an agent: the files, in their order', async () => {
		const found = await credentials('IdentityAgent none', identity('locked'), identity('pem'), identity('nowhere'));
		expect(found.keys.map((key) => [key.public?.type, key.encrypted])).toEqual([
			['ssh-ed25519', true],
			['ssh-rsa', false],
		]);
		expect(found.notes).toEqual([]);
	});
	test('a file that others can read is not used, and said', async () => {
		chmodSync(join(folder, 'second'), 0o640);
		const found = await credentials('IdentityAgent none', identity('second'));
		expect(found.keys).toEqual([]);
		expect(found.notes[0]).toContain('chmod 600');
	});
	test('an agent that is gone is said', async () => {
		const found = await credentials('IdentityAgent /nowhere/agent', identity('plain'));
		expect(found.order).toEqual(['file ssh-ed25519']);
		expect(found.notes[0]).toContain('/nowhere/agent');
	});
	test('a certificate beside a key is beyond ssh2', async () => {
		execFileSync('ssh-keygen', ['-q', '-s', join(folder, 'other'), '-I', 'me', '-n', 'me', join(folder, 'plain.pub')]);
		expect((await credentials('IdentityAgent none', identity('plain'))).beyondSsh2).toContain('plain-cert.pub');
		rmSync(join(folder, 'plain-cert.pub'));
		expect((await credentials('IdentityAgent none', identity('plain'))).beyondSsh2).toBe(null);
	});
});

describe('what ssh2 can’t follow', () => {
	test.each([
		['ProxyCommand nc %h %p', 'ProxyCommand'],
		['CertificateFile ~/c', 'CertificateFile'],
		['KnownHostsCommand /bin/x %H', 'KnownHostsCommand'],
		['VerifyHostKeyDNS yes', 'VerifyHostKeyDNS'],
		['HostbasedAuthentication yes', 'HostbasedAuthentication'],
		['KexAlgorithms sntrup761x25519-sha512@openssh.com', 'sntrup761x25519-sha512@openssh.com in kexalgorithms'],
		['Ciphers chacha20-poly1305@openssh.com', 'chacha20-poly1305@openssh.com in ciphers'],
		['Ciphers aes128-ctr', null],
		['Compression yes', null],
	])('%s: %s', async (line, beyond) => {
		const file = join(folder, 'config');
		writeFileSync(file, `Host head\n  ${line}\n`);
		const target = await resolveSsh('head', file);
		expect(target.ok && target.value.beyondSsh2).toBe(beyond);
	});
	test('methods and their switches', async () => {
		const file = join(folder, 'config');
		writeFileSync(
			file,
			'Host head\n  PreferredAuthentications password,publickey,hostbased\n  PasswordAuthentication no\n',
		);
		const target = await resolveSsh('head', file);
		expect(target.ok && target.value.methods).toEqual(['publickey']);
	});
});
