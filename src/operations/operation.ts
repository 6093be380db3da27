import type { Failure } from '../domain/failure.ts';
import type { Plan } from '../domain/plan.ts';

/** `verified` only after facts, independent of any exit code, showed it. */
export type Outcome = 'verified' | 'unverified' | 'refused' | 'failed';

/**
 * `intended`  written down; waits for its turn on the host, nothing sent
 * `sending`   a byte may have left
 * `changing`  the host has accepted it (or may have): waiting for the service to end or to run
 * `measuring` it has ended or runs: waiting for its memory
 * `ended`     see `outcome`
 */
export type Phase = 'intended' | 'sending' | 'changing' | 'measuring' | 'ended';

/** What a host's facts say of the target of an operation: all that deciding needs, small enough for the journal. */
export type Sight = {
	readonly at: number;
	readonly bootId: string;
	/** `absent`: the manager does not know it (any more). */
	readonly state: 'active' | 'activating' | 'deactivating' | 'inactive' | 'failed' | 'absent';
	readonly hasJob: boolean;
	/** The state was read after the command was sent: only then does "still runs" mean anything. */
	readonly fresh: boolean;
	/** Identity of the present run; empty when there is none. */
	readonly run: string;
	/** Processes of the run that was to be stopped that still exist, and GPU processes of the target now. */
	readonly survivors: readonly string[];
	readonly availableBytes: number;
	/** GPU memory that the target (and what stops with it) holds now; null where it can't be told. */
	readonly gpuBytes: number | null;
};

export type Operation = {
	readonly id: string;
	readonly plan: Plan;
	readonly phase: Phase;
	readonly outcome: Outcome | null;
	readonly failure: Failure | null;
	/** False while nobody can say whether the host got the command: the connection was lost after sending. */
	readonly accepted: boolean;
	/** True for an operation that an earlier run of the console left in flight. */
	readonly reopened: boolean;
	readonly times: {
		readonly intended: number;
		readonly sent: number | null;
		/** Since when the facts have been looked at in this phase. */
		readonly phase: number;
		/** When the service was seen ended (evict) or running (restore). */
		readonly changed: number | null;
		readonly ended: number | null;
	};
	readonly last: Sight | null;
	/** MemAvailable from which the return is measured. */
	readonly availableBefore: number;
	/** MemAvailable now minus before, in bytes: positive when memory came back. */
	readonly gainedBytes: number | null;
};

export type OperationEvent =
	| { readonly type: 'intended'; readonly at: number; readonly id: string; readonly plan: Plan }
	/** Its turn on the host has come. `availableBefore`: MemAvailable of the last frame, from which memory is measured. */
	| { readonly type: 'sending'; readonly at: number; readonly availableBefore: number | null }
	/** The remote command ended. `code` null: the connection was lost, so nobody knows. */
	| {
			readonly type: 'answered';
			readonly at: number;
			readonly code: number | null;
			readonly stderr: string;
			readonly user: string;
	  }
	/** It could not be sent at all: nothing left the console. */
	| { readonly type: 'notSent'; readonly at: number; readonly failure: Failure }
	| { readonly type: 'seen'; readonly at: number; readonly sight: Sight }
	| { readonly type: 'reopened'; readonly at: number };

export type Effect =
	| { readonly type: 'journal'; readonly event: OperationEvent }
	/** Waits until no other operation is in flight on the host: two at once can't be measured apart. */
	| { readonly type: 'turn'; readonly host: string }
	| { readonly type: 'send'; readonly host: string; readonly line: string; readonly timeoutMs: number };

export const isLive = (operation: Operation): boolean => operation.phase !== 'ended';
