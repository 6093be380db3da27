import type { ParsedKey, SignCallback, SigningRequestOptions } from 'ssh2';
import type { Credential } from './credentials.ts';
import { openKey, type Ssh2, type Vault } from './vault.ts';

/** Asks for the passphrase of a file; null: nobody wants to say it. */
export type AskPassphrase = (file: string, again: boolean) => Promise<string | null>;

/** Tries at a passphrase, as ssh allows them (NumberOfPasswordPrompts is about passwords only). */
const TRIES = 3;

/**
 * All keys of a target as one agent for ssh2, in their order. The public half is offered first, and only for a key that
 * the server takes is a passphrase asked, as OpenSSH does it: what is not needed is not asked.
 */
export const keyringOf = (
	ssh2: Ssh2,
	keys: readonly Credential[],
	agent: string | null,
	vault: Vault,
	ask: AskPassphrase,
	onSign: () => void,
): import('ssh2').BaseAgent => {
	const outside = agent === null ? null : ssh2.createAgent(agent);

	const opened = async (file: string): Promise<ParsedKey | null> => {
		const known = vault.keys.get(file);
		if (known) return known;
		let result = await openKey(ssh2, file, null);
		for (let tries = 0; result.key === null && result.why === 'locked' && tries < TRIES; tries += 1) {
			const passphrase = await ask(file, tries > 0);
			if (passphrase === null) return null;
			result = await openKey(ssh2, file, passphrase);
		}
		if (result.key) vault.keys.set(file, result.key);
		return result.key;
	};

	const publicOf = async ({ public: half, file }: Credential): Promise<ParsedKey | null> => {
		if (half === null) return file === null ? null : opened(file);
		const key = ssh2.utils.parseKey(`${half.type} ${half.blob.toString('base64')}`);
		return key instanceof Error ? null : key;
	};

	class Keyring extends ssh2.BaseAgent {
		override getIdentities(done: (error: Error | undefined, keys?: ParsedKey[]) => void): void {
			Promise.all(keys.map(publicOf)).then(
				(list) =>
					done(
						undefined,
						list.filter((key) => key !== null),
					),
				(error: Error) => done(error),
			);
		}

		/** Called for a key that the server has said it takes. */
		override sign(
			key: ParsedKey,
			data: Buffer,
			options: SigningRequestOptions | SignCallback,
			done?: SignCallback,
		): void {
			const answer = typeof options === 'function' ? options : done;
			const hash = typeof options === 'function' ? undefined : options.hash;
			onSign();
			const blob = key.getPublicSSH();
			const credential = keys.find((one) => one.public === null || one.public.blob.equals(blob));
			if (credential?.holder === 'agent' && outside) {
				outside.sign(key, data, { ...(hash && { hash }) }, (error, signature) =>
					answer?.(error ?? undefined, signature),
				);
				return;
			}
			const { file = null } = credential ?? {};
			void (file === null ? Promise.resolve(null) : opened(file)).then((own) => {
				const signature = own?.sign(data, hash) ?? new Error('the key could not be opened');
				if (signature instanceof Error) answer?.(signature);
				else answer?.(undefined, signature);
			});
		}
	}
	return new Keyring() as unknown as import('ssh2').BaseAgent;
};
