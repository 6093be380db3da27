import { readFile } from 'node:fs/promises';
import type { ParsedKey } from 'ssh2';

/** Secrets of this run, in memory only: nothing here is ever written, logged or handed to another process's arguments. */
export type Vault = {
	/** Private keys that were opened, by file. */
	readonly keys: Map<string, ParsedKey>;
	/** Login passwords that were accepted, by `user@host:port`. */
	readonly passwords: Map<string, string>;
	/** Answers that the system's ssh was given and that were right, by host and prompt. */
	readonly answers: Map<string, string>;
	/** sudo passwords that were accepted, by host of the configuration. */
	readonly sudo: Map<string, string>;
};

export const createVault = (): Vault => ({
	keys: new Map(),
	passwords: new Map(),
	answers: new Map(),
	sudo: new Map(),
});

export type Ssh2 = typeof import('ssh2');

/** Opens a private key file; `locked` when it wants a (right) passphrase, `unreadable` when it is no key. */
export const openKey = async (
	ssh2: Ssh2,
	file: string,
	passphrase: string | null,
): Promise<{ key: ParsedKey } | { key: null; why: 'locked' | 'unreadable' }> => {
	let text: Buffer;
	try {
		text = await readFile(file);
	} catch {
		return { key: null, why: 'unreadable' };
	}
	const parsed = ssh2.utils.parseKey(text, passphrase ?? undefined) as ParsedKey | ParsedKey[] | Error;
	if (parsed instanceof Error) {
		return { key: null, why: /passphrase|encrypted|integrity|decrypt/i.test(parsed.message) ? 'locked' : 'unreadable' };
	}
	const key = Array.isArray(parsed) ? parsed[0] : parsed;
	return key ? { key } : { key: null, why: 'unreadable' };
};
