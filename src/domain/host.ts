import type { Failure } from './failure.ts';

/** What the operator says of a host. `name` is the ssh alias; everything else has a default. */
export type HostSettings = {
	readonly name: string;
	/** A word for the screen, such as `head`. */
	readonly role: string | null;
	/** Service names that must not be stopped. */
	readonly keep: readonly string[];
	/** What carries its session; absent: `auto`. */
	readonly transport?: TransportChoice;
};

/** What carries a session: ssh2 in this process, or the system's own ssh. */
export type TransportName = 'ssh2' | 'openssh';

/** `auto`: ssh2, unless the ssh configuration needs what only OpenSSH can do. */
export type TransportChoice = TransportName | 'auto';

/**
 * What answers at a host beside its silent session. `wedged`: the network answers, sshd does not; `silent`: nothing does;
 * `jump`: it is behind a host that is silent itself; `unknown`: there is no way to look.
 */
export type Reach = 'answers' | 'wedged' | 'refused' | 'silent' | 'jump' | 'unknown';

/** The state of the session to one host. Silence becomes `stale`, never a figure of zero. */
export type Link =
	/** `to`: the host of the way that is being connected to now. */
	| { readonly state: 'connecting'; readonly since: number; readonly attempt: number; readonly to: string }
	| {
			readonly state: 'up';
			readonly since: number;
			readonly roundTripMs: number | null;
			readonly via: string | null;
			readonly carrier: Carrier;
			/** Characters of its output that were thrown away because they were no message or too many. */
			readonly dropped: number;
	  }
	/** `reach` is null until it was looked at. */
	| {
			readonly state: 'stale';
			readonly since: number;
			readonly lastFrameAt: number;
			readonly via: string | null;
			readonly reach: Reach | null;
	  }
	| { readonly state: 'down'; readonly since: number; readonly failure: Failure; readonly nextTryAt: number | null };

/** `why`: what made it be carried by the system's ssh; null where nothing did. */
export type Carrier = { readonly transport: TransportName; readonly why: string | null };

/** A round trip from which on (ms) a host counts as slow: a person feels it, and a command may take its time. */
export const SLOW_ROUND_TRIP = 400;

/** Who the host says it is; from the probe's first message. */
export type Identity = {
	readonly hostname: string;
	readonly kernel: string;
	readonly machine: string;
	/** /proc/sys/kernel/random/boot_id: pids and start times mean nothing beyond it. */
	readonly bootId: string;
	readonly user: string;
	readonly uid: number;
};
