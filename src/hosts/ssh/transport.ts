import type { Duplex } from 'node:stream';
import type { Failure } from '../../domain/failure.ts';
import type { TransportName } from '../../domain/host.ts';
import type { Result } from '../../domain/result.ts';

/** How a channel ended. */
export type ChannelEnd =
	/** The command's own exit status. */
	| { readonly kind: 'exited'; readonly code: number }
	/** The command may have run; nobody knows how it ended (the connection was lost, or we closed the channel). */
	| { readonly kind: 'unknown' }
	/** The host did not give us a channel: the command was not sent. `full`: it has as many sessions as it allows. */
	| { readonly kind: 'refused'; readonly why: string; readonly full: boolean };

/** What a channel tells. `closed` comes last and exactly once, also when the connection dies or the channel never opened. */
export type ChannelEvents = {
	readonly stdout: (text: string) => void;
	readonly stderr: (text: string) => void;
	readonly closed: (end: ChannelEnd) => void;
};

/** One running command. What is written before it is open goes out when it is. */
export type Channel = {
	readonly write: (data: string | Buffer) => void;
	/** No more input: the command reads the end of its stdin. */
	readonly end: () => void;
	/** Gives the command up; `closed` follows, with `unknown` unless its status was known already. */
	readonly close: () => void;
};

export type OpenChannel = (command: string, on: ChannelEvents) => Channel;

/**
 * One live connection to a host, whatever carries it: ssh2 in this process, or the system's own ssh. Both pass the same
 * conformance tests (test/lab/conformance.test.ts).
 */
export type Connection = {
	readonly transport: TransportName;
	readonly open: OpenChannel;
	/** Sessions that the host allows at once, once it refused one; null: not known to be limited. */
	readonly sessionLimit: () => number | null;
	/** A stream to an address as the host sees it (a jump). Fails within `timeoutMs`. */
	readonly forward: (host: string, port: number, timeoutMs: number) => Promise<Result<Duplex>>;
	/** Settles when the connection is gone, with why. */
	readonly lost: Promise<Failure>;
	readonly close: () => void;
};
