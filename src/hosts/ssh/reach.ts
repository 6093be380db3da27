import { existsSync } from 'node:fs';
import { type Fields, first, given, isOn } from './sshG.ts';

export type AlgorithmKind = 'cipher' | 'kex' | 'hmac' | 'serverHostKey';

/**
 * What ssh2 1.17 speaks (its lib/protocol/constants.js), without what is broken by today's standard. chacha20-poly1305 is
 * left out although it speaks it: without a native add-on it is slow and not re-entrant there.
 */
const SPOKEN: Readonly<Record<AlgorithmKind, readonly string[]>> = {
	cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes192-ctr', 'aes256-ctr'],
	kex: [
		'curve25519-sha256',
		'curve25519-sha256@libssh.org',
		'ecdh-sha2-nistp256',
		'ecdh-sha2-nistp384',
		'ecdh-sha2-nistp521',
		'diffie-hellman-group-exchange-sha256',
		'diffie-hellman-group14-sha256',
		'diffie-hellman-group15-sha512',
		'diffie-hellman-group16-sha512',
		'diffie-hellman-group17-sha512',
		'diffie-hellman-group18-sha512',
	],
	hmac: [
		'hmac-sha2-256-etm@openssh.com',
		'hmac-sha2-512-etm@openssh.com',
		'hmac-sha2-256',
		'hmac-sha2-512',
		'hmac-sha1-etm@openssh.com',
		'hmac-sha1',
	],
	serverHostKey: [
		'ssh-ed25519',
		'ecdsa-sha2-nistp256',
		'ecdsa-sha2-nistp384',
		'ecdsa-sha2-nistp521',
		'rsa-sha2-512',
		'rsa-sha2-256',
	],
};

const KEYWORDS: Readonly<Record<AlgorithmKind, string>> = {
	cipher: 'ciphers',
	kex: 'kexalgorithms',
	hmac: 'macs',
	serverHostKey: 'hostkeyalgorithms',
};

const KINDS = Object.keys(KEYWORDS) as AlgorithmKind[];

/** The algorithms that the user asks for and ssh2 speaks, in the user's order; null where the user asks for none. */
export const algorithmsOf = (fields: Fields, defaults: Fields): Record<AlgorithmKind, readonly string[] | null> => {
	const of = (kind: AlgorithmKind): readonly string[] | null => {
		const value = first(fields, KEYWORDS[kind]);
		if (value === '' || value === first(defaults, KEYWORDS[kind])) return null;
		return value.split(',').filter((name) => SPOKEN[kind].includes(name));
	};
	return { cipher: of('cipher'), kex: of('kex'), hmac: of('hmac'), serverHostKey: of('serverHostKey') };
};

/** What is offered to the server of each kind: the user's choice, else all that is spoken. */
export const offered = (
	algorithms: Readonly<Record<AlgorithmKind, readonly string[] | null>>,
): Record<AlgorithmKind, readonly string[]> => ({
	cipher: algorithms.cipher ?? SPOKEN.cipher,
	kex: algorithms.kex ?? SPOKEN.kex,
	hmac: algorithms.hmac ?? SPOKEN.hmac,
	serverHostKey: algorithms.serverHostKey ?? SPOKEN.serverHostKey,
});

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i;

/** A Kerberos ticket cache in a file (the default of krb5.conf(5)), or another kind that the environment names. */
const hasTicket = (): boolean => {
	const name = process.env['KRB5CCNAME'] ?? `FILE:/tmp/krb5cc_${process.getuid?.() ?? 0}`;
	return !/^(FILE:)?\//.test(name) || existsSync(name.replace(/^FILE:/, ''));
};

/**
 * The first setting that only OpenSSH itself can follow, or null. GSSAPI counts only with a ticket: Debian switches it on
 * for everybody.
 */
export const beyondSsh2 = (
	fields: Fields,
	hostname: string,
	algorithms: Readonly<Record<AlgorithmKind, readonly string[] | null>>,
): string | null => {
	for (const [key, word] of [
		['proxycommand', 'ProxyCommand'],
		['certificatefile', 'CertificateFile'],
		['pkcs11provider', 'PKCS11Provider'],
		['knownhostscommand', 'KnownHostsCommand'],
		['revokedhostkeys', 'RevokedHostKeys'],
		['bindinterface', 'BindInterface'],
	] as const) {
		if (given(first(fields, key)) !== null) return word;
	}
	if (isOn(fields, 'gssapiauthentication') && hasTicket()) return 'GSSAPIAuthentication';
	if (isOn(fields, 'verifyhostkeydns')) return 'VerifyHostKeyDNS';
	if (isOn(fields, 'hostbasedauthentication')) return 'HostbasedAuthentication';
	if (isOn(fields, 'nohostauthenticationforlocalhost') && LOOPBACK.test(hostname)) {
		return 'NoHostAuthenticationForLocalhost';
	}
	const none = KINDS.find((kind) => algorithms[kind]?.length === 0);
	return none === undefined ? null : `${first(fields, KEYWORDS[none]).split(',')[0]} in ${KEYWORDS[none]}`;
};
