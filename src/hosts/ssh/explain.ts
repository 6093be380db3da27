import { type Failure, failure } from '../../domain/failure.ts';
import type { SshTarget } from './config.ts';
import type { Credentials } from './credentials.ts';

/** Advice for a machine whose kernel answers and whose programs do not. */
export const WEDGED = 'The mark of a Spark out of memory: it may come back by itself; else power-cycle it';
const START_AGAIN = 'Start sparkdeck again to be asked on the terminal, or make a key known to your ssh agent';
const AGAIN = 'It is tried again by itself';

export const whereOf = (target: SshTarget): string => `${target.alias} (${target.hostname}:${target.port})`;

type Seen = { readonly offered: readonly string[]; readonly unanswered: boolean; readonly refused: boolean };

/**
 * What ssh2 says, as a failure that a person can act on. `heard`: how far the server had come: nothing, its network, or its
 * sshd.
 */
export const explainSsh2 = (
	error: (Error & { level?: string; code?: string }) | null,
	target: SshTarget,
	credentials: Credentials,
	seen: Seen,
	heard: 'nothing' | 'network' | 'sshd',
): Failure => {
	const where = whereOf(target);
	const text = error?.message ?? '';
	if (seen.unanswered && !/keepalive/i.test(text)) return refusedLogin(target, credentials, seen);
	if (error?.level === 'client-authentication' || /authentication/i.test(text))
		return refusedLogin(target, credentials, seen);
	if (/keepalive timeout/i.test(text)) return failure('lost', `${where} does not answer any more`, AGAIN);
	if (error?.level === 'client-timeout' || /timed out/i.test(text)) {
		const seconds = target.connectTimeoutMs / 1000;
		if (heard === 'network') return wedged(target);
		return heard === 'sshd'
			? failure('timeout', `${where} did not finish the login within ${seconds} s`, AGAIN)
			: failure(
					'unreachable',
					`${where} did not answer within ${seconds} s`,
					'The host may be off or the network be cut; it is tried again',
				);
	}
	if (/no matching|unable to negotiate/i.test(text))
		return failure('algorithms', `${where}: ${text}`, 'The system’s ssh may speak with it: transport: openssh');
	return explainSocket(error, target);
};

const refusedLogin = (target: SshTarget, credentials: Credentials, seen: Seen): Failure => {
	const names = credentials.keys.map((key) => key.name.split('/').at(-1));
	const keys =
		names.length === 0
			? 'has no key of yours to take'
			: names.length === 1
				? `does not take your key ${names[0]}`
				: `takes none of your keys ${names.join(', ')}`;
	const methods = seen.offered.length > 0 ? `; it wants ${seen.offered.join(' or ')}` : '';
	const notes = credentials.notes.map((note) => `; ${note}`).join('');
	return failure(
		'auth',
		`${target.user}@${whereOf(target)} ${keys}${methods}${askedOf(seen)}${notes}`,
		seen.unanswered ? START_AGAIN : `Try it by hand: ssh -v ${target.alias} true`,
	);
};

const askedOf = ({ refused, unanswered }: Pick<Seen, 'unanswered' | 'refused'>): string =>
	(refused ? '; the password or answer was refused' : '') + (unanswered ? '; nobody answered what it asks' : '');

/** A forward that the jump `hop` could not open, with what it said. */
export const refusedForward = (hop: SshTarget, host: string, port: number, why: string): Failure => {
	const refuses = /refused/i.test(why);
	const said = why.replace(/^.*(open failed|open failure): /i, '');
	const cause = `${host}:${port} ${refuses ? 'refuses connections from' : 'can’t be reached from'} ${hop.alias}: ${said}`;
	const hint = `Try it by hand: ssh ${hop.alias} nc -z ${host} ${port}`;
	return failure(refuses ? 'refused' : 'unreachable', cause, hint);
};

/** What the network said of a socket. */
export const explainSocket = (error: (Error & { code?: string }) | null, target: SshTarget): Failure => {
	const where = whereOf(target);
	switch (error?.code) {
		case 'ECONNREFUSED':
			return failure('refused', `${where} refuses connections`, 'Is sshd running there? It is tried again');
		case 'ENOTFOUND':
		case 'EAI_AGAIN':
			return failure(
				'unreachable',
				`The name ${target.hostname} is not known`,
				`Check HostName of ${target.alias} in your ssh configuration`,
			);
		case 'EHOSTUNREACH':
		case 'ENETUNREACH':
			return failure(
				'unreachable',
				`There is no way to ${where}`,
				'Is it powered on, and the network there? It is tried again',
			);
		case 'ETIMEDOUT':
			return failure(
				'unreachable',
				`${where} does not answer the network`,
				'Is it powered on, and the network there? It is tried again',
			);
	}
	if (error === null) return failure('lost', `The connection to ${where} was closed`, AGAIN);
	return failure('unreachable', `${where}: ${error.message}`, AGAIN);
};

/** A login by the system's ssh that ended at a question. */
export const refusedAnswer = (target: SshTarget, seen: Pick<Seen, 'unanswered' | 'refused'>): Failure =>
	failure('auth', `${target.user}@${whereOf(target)} wants an answer${askedOf(seen)}`, START_AGAIN);

/** What the system's ssh printed (LC_ALL=C), as a failure that a person can act on. */
export const explainOpenssh = (
	said: string,
	target: SshTarget,
	seen: Pick<Seen, 'unanswered' | 'refused'> = { unanswered: false, refused: false },
): Failure => {
	const where = whereOf(target);
	const hand = `Try it by hand: ssh -v ${target.alias} true`;
	const line = said.trim().split('\n').at(-1)?.trim() ?? '';
	if (/IDENTIFICATION HAS CHANGED/.test(said)) {
		const shown = /SHA256:\S+/.exec(said)?.[0] ?? 'another key';
		const place = /Offending .* key in (\S+)/.exec(said)?.[1] ?? 'known_hosts';
		return failure(
			'host-key',
			`THE HOST KEY OF ${target.alias} HAS CHANGED: it shows ${shown}, known is another (${place}). Someone may be listening in`,
			`Only if you know why: ssh-keygen -R '${target.knownHostsName}'; then ssh ${target.alias} true`,
		);
	}
	if (/REVOKED HOST KEY|marked as revoked/.test(said)) {
		return failure('host-key', `${target.alias} shows a key that is revoked`, 'Do not connect; ask who runs the host');
	}
	if (/Host key verification failed|No .* host key is known/i.test(said)) {
		return failure(
			'host-key',
			`The host key of ${target.alias} was not accepted: ${said.trim().split('\n')[0]?.trim()}`,
			hand,
		);
	}
	if (/Permission denied|Too many authentication failures/.test(said)) {
		return failure(
			'auth',
			`${target.user}@${where}: ${/.*(Permission denied|Too many authentication failures).*/.exec(said)?.[0].trim()}${askedOf(seen)}`,
			seen.unanswered ? START_AGAIN : hand,
		);
	}
	if (/Connection refused/.test(said))
		return failure('refused', `${where} refuses connections`, 'Is sshd running there? It is tried again');
	if (/during banner exchange/.test(said)) return wedged(target);
	if (/Could not resolve hostname/.test(said)) {
		return failure(
			'unreachable',
			`The name ${target.hostname} is not known`,
			`Check HostName of ${target.alias} in your ssh configuration`,
		);
	}
	if (/No route to host|Network is unreachable|timed out/i.test(said)) {
		return failure(
			'unreachable',
			`There is no way to ${where}: ${line}`,
			'Is it powered on, and the network there? It is tried again',
		);
	}
	return failure('lost', `The connection to ${where} was closed${line ? `: ${line}` : ''}`, AGAIN);
};

export const wedged = (target: SshTarget): Failure =>
	failure('wedged', `${whereOf(target)} answers the network, but its sshd says nothing`, WEDGED);
