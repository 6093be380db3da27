import type { Failure } from './failure.ts';

/** What the operator says of a host. `name` is the ssh alias; everything else has a default. */
export type HostSettings = {
	readonly name: string;
	/** A word for the screen, such as `head`. */
	readonly role: string | null;
	/** Service names that must not be stopped. */
	readonly keep: readonly string[];
};

/** The state of the session to one host. Silence becomes `stale`, never a figure of zero. */
export type Link =
	| { readonly state: 'connecting'; readonly since: number; readonly attempt: number }
	| { readonly state: 'up'; readonly since: number; readonly roundTripMs: number | null; readonly via: string | null }
	| { readonly state: 'stale'; readonly since: number; readonly lastFrameAt: number; readonly via: string | null }
	| { readonly state: 'down'; readonly since: number; readonly failure: Failure; readonly nextTryAt: number | null };

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
