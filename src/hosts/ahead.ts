import type { HostSettings } from '../domain/host.ts';
import { resolveSsh, type SshTarget } from './ssh/config.ts';
import { type Credential, credentialsOf } from './ssh/credentials.ts';
import { knownKeys } from './ssh/knownHosts.ts';

/**
 * The hosts on whose way something will surely be asked: an unknown host key, a passphrase, a password, a touch. Looked up
 * here, without a connection, so that it can be asked before the console takes the screen. Hosts that can't be resolved are
 * left to their sessions, which say why.
 */
export const hostsThatAsk = async (hosts: readonly HostSettings[], configFile: string | null): Promise<string[]> => {
	const each = await Promise.all(
		hosts.map(async ({ name }) => {
			const target = await resolveSsh(name, configFile);
			if (!target.ok) return null;
			const way = [...target.value.jumps, target.value];
			const asked = await Promise.all(way.map(asks));
			return asked.includes(true) ? name : null;
		}),
	);
	return each.filter((name) => name !== null);
};

const asks = async (target: SshTarget): Promise<boolean> => {
	if (target.batch) return false;
	const [credentials, known] = await Promise.all([credentialsOf(target), knownKeys(target)]);
	const isNew = target.strict === 'ask' && !known.some((key) => key.marker !== 'revoked');
	const keys = target.methods.includes('publickey') ? credentials.keys : [];
	return isNew || keys.every((key) => key.encrypted || isHardware(key));
};

const isHardware = ({ public: key }: Credential): boolean => key?.type.startsWith('sk-') === true;
