import { createHash, createHmac, randomBytes } from 'node:crypto';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Failure, failure } from '../../domain/failure.ts';
import { runLocal } from '../runLocal.ts';
import type { SshTarget } from './config.ts';
import { keyType } from './privateKey.ts';

export type KnownKey = {
	readonly type: string;
	/** The key's blob in base64. */
	readonly blob: string;
	readonly marker: 'revoked' | 'cert-authority' | null;
	readonly file: string;
	readonly line: number | null;
};

/** All entries of the user's known_hosts files for a target, as `ssh-keygen -F` finds them (hashed ones too). */
export const knownKeys = async (target: SshTarget): Promise<KnownKey[]> => {
	const files = [...target.userKnownHostsFiles, ...target.globalKnownHostsFiles];
	const perFile = await Promise.all(
		files.map(async (file) => {
			const found = await runLocal('ssh-keygen', ['-F', target.knownHostsName, '-f', file]);
			// 1: no entry; 255: no such file. Both mean that nothing is known from there.
			return found.ok && found.value.code === 0 ? parseKnownHosts(found.value.stdout, file) : [];
		}),
	);
	return perFile.flat();
};

/** Output of `ssh-keygen -F`: `# Host NAME found: line N` before each entry. */
export const parseKnownHosts = (text: string, file: string): KnownKey[] => {
	const keys: KnownKey[] = [];
	let line: number | null = null;
	for (const row of text.split('\n')) {
		const found = /^# Host .* found: line (\d+)/.exec(row);
		if (found) line = Number(found[1]);
		if (row.startsWith('#') || row.trim() === '') continue;
		const words = row.trim().split(/\s+/);
		const marker = words[0] === '@revoked' ? 'revoked' : words[0] === '@cert-authority' ? 'cert-authority' : null;
		const [, type, blob] = marker ? words.slice(1) : words;
		if (type && blob) keys.push({ type, blob, marker, file, line });
	}
	return keys;
};

/** Known by the authority that signs its key and not by the key: a host certificate must be checked. */
export const knownByAuthorityOnly = (known: readonly KnownKey[]): boolean =>
	known.some((key) => key.marker === 'cert-authority') && !known.some((key) => key.marker === null);

/** As ssh prints it: `SHA256:` and base64 without padding. */
export const fingerprint = (blob: Buffer): string =>
	`SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;

/** Host key algorithms with those of the known keys first, so that the server shows the key that is known. */
export const preferKnown = (all: readonly string[], known: readonly KnownKey[]): string[] => {
	const types = new Set(known.filter((key) => key.marker === null).map((key) => key.type));
	const isKnown = (algorithm: string): boolean => types.has(algorithm.startsWith('rsa-sha2-') ? 'ssh-rsa' : algorithm);
	return [...all.filter(isKnown), ...all.filter((algorithm) => !isKnown(algorithm))];
};

/** What is to be done with the key that a server shows. */
export type KeyVerdict =
	| { readonly kind: 'known' }
	| { readonly kind: 'refused'; readonly failure: Failure }
	/** Nothing is known against it: asked about, or taken by `accept-new` and `no`. */
	| {
			readonly kind: 'new';
			readonly ask: boolean;
			/** What to read before answering. */
			readonly text: readonly string[];
			/** What it comes to when nobody accepts it. */
			readonly failure: Failure;
	  };

/**
 * Judges the key of a server as OpenSSH does, with one difference: a key that has changed is refused also under
 * `StrictHostKeyChecking no`.
 */
export const judgeHostKey = (
	blob: Buffer,
	known: readonly KnownKey[],
	target: SshTarget,
	configFile: string | null,
): KeyVerdict => {
	const base64 = blob.toString('base64');
	const type = keyType(blob);
	const shown = `${type} ${fingerprint(blob)}`;
	const same = (key: KnownKey): boolean => key.blob === base64;
	const refused = (cause: string, hint: string): KeyVerdict => ({
		kind: 'refused',
		failure: failure('host-key', cause, hint),
	});
	const revoked = known.find((key) => key.marker === 'revoked' && same(key));
	if (revoked) {
		return refused(
			`${target.alias} shows a key that is revoked: ${shown} (${placeOf(revoked)})`,
			'Do not connect; ask who runs the host',
		);
	}
	const plain = known.filter((key) => key.marker === null);
	if (plain.some(same)) return { kind: 'known' };
	const ssh = acceptByHand(target, configFile);
	const changed = plain.find((key) => key.type === type);
	if (changed) {
		const expected = fingerprint(Buffer.from(changed.blob, 'base64'));
		return refused(
			`THE HOST KEY OF ${target.alias} HAS CHANGED: it shows ${shown}, known is ${expected} (${placeOf(changed)}). Someone may be listening in`,
			`Only if you know why: ssh-keygen -R '${target.knownHostsName}' -f ${changed.file}; then ${ssh}`,
		);
	}
	const unknown = unknownKey(target, configFile, shown);
	if (target.strict === 'yes') return { kind: 'refused', failure: unknown };
	const others = plain.map((key) => `Known for it, but not shown: ${key.type} (${placeOf(key)})`);
	return {
		kind: 'new',
		ask: target.strict === 'ask',
		failure: unknown,
		text: [
			`The authenticity of ${target.alias} (${target.hostname}, port ${target.port}) can't be established.`,
			`Its key is ${shown}`,
			...others,
		],
	};
};

const acceptByHand = (target: SshTarget, configFile: string | null): string =>
	`ssh ${configFile ? `-F ${configFile} ` : ''}-o StrictHostKeyChecking=ask ${target.alias} true`;

/** `shown`: the key's type and fingerprint. */
export const unknownKey = (target: SshTarget, configFile: string | null, shown: string): Failure =>
	failure(
		'host-key',
		`The host key of ${target.alias} is not known: ${shown}`,
		`Compare the fingerprint, then: ${acceptByHand(target, configFile)}`,
	);

const placeOf = (key: KnownKey): string => `${key.file}${key.line === null ? '' : `:${key.line}`}`;

/** A line of known_hosts for a key; hashed as HashKnownHosts wants it (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). */
export const knownHostsLine = (name: string, blob: Buffer, salt: Buffer | null): string => {
	const shown = salt ? `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}` : name;
	return `${shown} ${keyType(blob)} ${blob.toString('base64')}\n`;
};

/** Writes an accepted key into the user's first known_hosts file. Resolves with why it could not, or null. */
export const remember = async (target: SshTarget, blob: Buffer): Promise<string | null> => {
	const file = target.userKnownHostsFiles[0];
	if (file === undefined) return 'no UserKnownHostsFile is configured';
	const line = knownHostsLine(target.knownHostsName, blob, target.hashKnownHosts ? randomBytes(20) : null);
	try {
		await mkdir(dirname(file), { recursive: true, mode: 0o700 });
		const before = await readFile(file, 'utf8').catch(() => '');
		await appendFile(file, before === '' || before.endsWith('\n') ? line : `\n${line}`, { mode: 0o600 });
		return null;
	} catch (error) {
		return `${file}: ${error instanceof Error ? error.message : String(error)}`;
	}
};
