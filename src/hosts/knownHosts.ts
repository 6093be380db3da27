import { createHash } from 'node:crypto';
import { type Failure, failure } from '../domain/failure.ts';
import { runLocal } from './runLocal.ts';
import type { SshTarget } from './sshConfig.ts';

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
	const perFile = await Promise.all(
		target.knownHostsFiles.map(async (file) => {
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

/** As ssh prints it: `SHA256:` and base64 without padding. */
export const fingerprint = (blob: Buffer): string =>
	`SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;

/** The type name at the head of a key's blob (RFC 4253, section 6.6). */
export const keyType = (blob: Buffer): string => {
	if (blob.length < 4) return '?';
	const length = blob.readUInt32BE(0);
	return length > 0 && length < 64 && blob.length >= 4 + length ? blob.toString('latin1', 4, 4 + length) : '?';
};

/** Host key algorithms with those of the known keys first, so that the server shows the key that is known. */
export const preferKnown = (all: readonly string[], known: readonly KnownKey[]): string[] => {
	const types = new Set(known.filter((key) => key.marker === null).map((key) => key.type));
	const isKnown = (algorithm: string): boolean => types.has(algorithm.startsWith('rsa-sha2-') ? 'ssh-rsa' : algorithm);
	return [...all.filter(isKnown), ...all.filter((algorithm) => !isKnown(algorithm))];
};

/** Whether the server's key is one that is known; null when it is, else why not and what to do. Never accepts silently. */
export const judgeHostKey = (
	blob: Buffer,
	known: readonly KnownKey[],
	target: SshTarget,
	configFile: string | null,
): Failure | null => {
	const base64 = blob.toString('base64');
	const shown = `${keyType(blob)} ${fingerprint(blob)}`;
	const same = (key: KnownKey): boolean => key.blob === base64;
	const at = (key: KnownKey): string => `${key.file}${key.line === null ? '' : `:${key.line}`}`;
	const revoked = known.find((key) => key.marker === 'revoked' && same(key));
	if (revoked) {
		return failure(
			'host-key',
			`${target.alias} shows a key that is revoked: ${shown} (${at(revoked)})`,
			'Do not connect; ask who runs the host',
		);
	}
	const plain = known.filter((key) => key.marker === null);
	if (plain.some(same)) return null;
	const ssh = `ssh ${configFile ? `-F ${configFile} ` : ''}-o StrictHostKeyChecking=ask ${target.alias} true`;
	const changed = plain.find((key) => key.type === keyType(blob));
	if (changed) {
		const expected = fingerprint(Buffer.from(changed.blob, 'base64'));
		return failure(
			'host-key',
			`THE HOST KEY OF ${target.alias} HAS CHANGED: it shows ${shown}, known is ${expected} (${at(changed)}). Someone may be listening in`,
			`Only if you know why: ssh-keygen -R '${target.knownHostsName}' -f ${changed.file}; then ${ssh}`,
		);
	}
	if (known.some((key) => key.marker === 'cert-authority')) {
		return failure(
			'host-key',
			`${target.alias} is known by a certificate authority only, which is not supported yet; it shows ${shown}`,
			`Make its key known: ${ssh}`,
		);
	}
	return failure(
		'host-key',
		`The host key of ${target.alias} is not known: ${shown}`,
		`Compare the fingerprint, then: ${ssh}`,
	);
};
