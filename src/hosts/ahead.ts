import type { HostSettings } from '../domain/host.ts';
import { resolveSsh, type SshTarget } from './ssh/config.ts';
import { credentialsOf } from './ssh/credentials.ts';
import { knownByAuthorityOnly, knownKeys } from './ssh/knownHosts.ts';

/**
 * The hosts on whose way something will surely be asked: an unknown host key, a passphrase, a password. Looked up here,
 * without a connection, so that it can be asked before the console takes the screen. Hosts that can't be resolved are left
 * to their sessions, which say why; the system's ssh asks nothing (BatchMode).
 */
export const hostsThatAsk = async (hosts: readonly HostSettings[], configFile: string | null): Promise<string[]> => {
	const aliases = hosts.filter((host) => host.transport !== 'openssh').map((host) => host.name);
	const each = await Promise.all(
		aliases.map(async (alias) => {
			const target = await resolveSsh(alias, configFile);
			if (!target.ok) return null;
			const way = [...target.value.jumps, target.value];
			const asked = await Promise.all(way.map(asks));
			return asked.includes(true) ? alias : null;
		}),
	);
	return each.filter((alias) => alias !== null);
};

const asks = async (target: SshTarget): Promise<boolean> => {
	if (target.batch || target.beyondSsh2 !== null) return false;
	const [credentials, known] = await Promise.all([credentialsOf(target), knownKeys(target)]);
	if (credentials.beyondSsh2 !== null || knownByAuthorityOnly(known)) return false;
	const isNew = target.strict === 'ask' && !known.some((key) => key.marker === null);
	const keys = target.methods.includes('publickey') ? credentials.keys : [];
	return isNew || keys.every((key) => key.encrypted);
};
