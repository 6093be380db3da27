import { readFile, stat } from 'node:fs/promises';
import { runLocal } from '../runLocal.ts';
import type { SshTarget } from './config.ts';
import { type PublicKey, parsePublicLine, readPrivateKey } from './privateKey.ts';

/** A key that may be offered, in the order of OpenSSH. `public` is null where only the decrypted file tells it. */
export type Credential = {
	/** The file, or the comment in the agent. */
	readonly name: string;
	readonly public: PublicKey | null;
	readonly holder: 'agent' | 'file';
	readonly file: string | null;
	readonly encrypted: boolean;
};

export type Credentials = {
	readonly keys: readonly Credential[];
	/** Files and agents that can't be used, with why. */
	readonly notes: readonly string[];
	/** A key or certificate that only OpenSSH itself can use, in words; null: there is none. */
	readonly beyondSsh2: string | null;
};

/** A forwarded agent may hang with its connection. */
const AGENT_PATIENCE = 3000;

/** What ssh2 can sign with. */
const USABLE = /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521))$/;

/**
 * The keys of a target: those of the agent that its configuration names, the other ones of the agent (unless
 * IdentitiesOnly), then those that are only in files (the order of pubkey_prepare in OpenSSH's sshconnect2.c).
 */
export const credentialsOf = async (target: SshTarget): Promise<Credentials> => {
	const [agent, files] = await Promise.all([
		agentKeys(target.agent),
		Promise.all(target.identityFiles.map(readIdentity)),
	]);
	const notes = [...agent.notes];
	const configured: Credential[] = [];
	let beyond: string | null = null;
	for (const file of files) {
		if (file === null) continue;
		if (file.note !== null) notes.push(file.note);
		beyond ??= file.beyondSsh2;
		if (file.credential) configured.push(file.credential);
	}
	const sameAs = (one: PublicKey | null, other: PublicKey | null): boolean =>
		one !== null && other !== null && one.blob.equals(other.blob);
	const named = agent.keys.filter((key) => configured.some((file) => sameAs(file.public, key.public)));
	const others = target.identitiesOnly ? [] : agent.keys.filter((key) => !named.includes(key));
	const onlyFiles = configured.filter(
		(file) => file.holder === 'file' && !agent.keys.some((key) => sameAs(key.public, file.public)),
	);
	const keys = [...named, ...others, ...onlyFiles];
	const strange = keys.find((key) => key.public !== null && !USABLE.test(key.public.type));
	if (strange?.public) beyond ??= `${strange.public.type} key ${strange.name}`;
	return { keys, notes, beyondSsh2: beyond };
};

const agentKeys = async (agent: string | null): Promise<{ keys: Credential[]; notes: string[] }> => {
	if (agent === null) return { keys: [], notes: [] };
	const listed = await runLocal('ssh-add', ['-L'], { timeoutMs: AGENT_PATIENCE, env: { SSH_AUTH_SOCK: agent } });
	if (!listed.ok) return { keys: [], notes: [`the agent at ${agent} does not answer`] };
	// 1: it holds no key; 2: nobody is there.
	if (listed.value.code === 2) return { keys: [], notes: [`no agent answers at ${agent}`] };
	const keys = listed.value.stdout.split('\n').flatMap((line): Credential[] => {
		const key = parsePublicLine(line);
		if (!key) return [];
		const name = key.comment || 'a key of the agent';
		return [{ name, public: { type: key.type, blob: key.blob }, holder: 'agent', file: null, encrypted: false }];
	});
	return { keys, notes: [] };
};

type Identity = {
	readonly credential: Credential | null;
	readonly note: string | null;
	readonly beyondSsh2: string | null;
};

/** One IdentityFile; null where there is none (`ssh -G` also names defaults that do not exist). */
const readIdentity = async (file: string): Promise<Identity | null> => {
	const [text, half, certificate] = await Promise.all([
		textOf(file),
		textOf(`${file}.pub`),
		textOf(`${file}-cert.pub`),
	]);
	const beyondSsh2 = certificate === null ? null : `the certificate ${file}-cert.pub`;
	const line = half === null ? null : parsePublicLine(half);
	if (text === null) {
		// Only the public half lies here: the private one is in the agent, or on a hardware key.
		if (!line) return null;
		return {
			credential: { name: file, public: line, holder: 'agent', file: null, encrypted: false },
			note: null,
			beyondSsh2,
		};
	}
	const alone = parsePublicLine(text);
	if (alone) {
		return {
			credential: { name: file, public: alone, holder: 'agent', file: null, encrypted: false },
			note: null,
			beyondSsh2,
		};
	}
	const key = readPrivateKey(text);
	if (!key) return { credential: null, note: `${file} is no private key that can be read`, beyondSsh2: null };
	const open = await tooOpen(file);
	// OpenSSH does not use such a key either.
	if (open !== null) return { credential: null, note: open, beyondSsh2: null };
	return {
		credential: { name: file, public: key.public ?? line, holder: 'file', file, encrypted: key.encrypted },
		note: null,
		beyondSsh2,
	};
};

const textOf = async (file: string): Promise<string | null> => {
	try {
		return await readFile(file, 'utf8');
	} catch {
		return null;
	}
};

const tooOpen = async (file: string): Promise<string | null> => {
	try {
		const { mode, uid } = await stat(file);
		if (uid !== process.getuid?.() || (mode & 0o077) === 0) return null;
		return `${file} can be read by others and is not used (chmod 600 ${file})`;
	} catch {
		return null;
	}
};
