import type { CommandLine } from './commandLine.ts';
import type { UnitManager } from './unit.ts';

/** What an action is aimed at, with the identity that makes it that run of it and no other. */
export type Target =
	| { readonly kind: 'unit'; readonly manager: UnitManager; readonly unit: string; readonly invocationId: string }
	| { readonly kind: 'container'; readonly tool: string; readonly containerId: string }
	| { readonly kind: 'process'; readonly pid: number; readonly startTicks: number; readonly bootId: string };

/** A process by its identity, so that a reused pid is not taken for it. */
export type ProcessRef = { readonly pid: number; readonly startTicks: number; readonly name: string };

export type Prediction = {
	readonly gpuBytes: number;
	readonly hostBytes: number;
	/** What should come back to the host's pool: both on a unified pool, host memory alone beside a discrete GPU. */
	readonly totalBytes: number;
	/** A part of it has no figure, so that more may come back. */
	readonly atLeast: boolean;
	/** How much of it may be counted more than once, so that less may come back. */
	readonly doubtfulBytes: number;
};

type Common = {
	/** Service id. */
	readonly service: string;
	readonly host: string;
	readonly name: string;
	readonly target: Target;
	readonly command: CommandLine;
	/** Boot of the host that the plan was made for: figures of another boot can't be compared. */
	readonly bootId: string;
	/** Units that stop (or are started) with it. */
	readonly also: readonly { readonly service: string; readonly name: string }[];
	/** How long facts may take to show the end of it (ms), by its own stop timeout. */
	readonly patienceMs: number;
	/** How long memory may take to come back, or a model to take it, after that (ms). */
	readonly memoryPatienceMs: number;
};

/** Stopping one service to free its memory. Nothing has been done yet. */
export type EvictionPlan = Common & {
	readonly kind: 'evict';
	readonly predicted: Prediction;
	/** MemAvailable when it was planned; the return is measured from the last figure before sending. */
	readonly availableBefore: number;
	readonly processes: readonly ProcessRef[];
	/** Sentences: what would start it again, what stops with it. */
	readonly consequences: readonly string[];
};

/** Starting again what was stopped. */
export type RestorePlan = Common & {
	readonly kind: 'restore';
	/** The eviction that it undoes. */
	readonly undoes: string;
	/** What it held before it was stopped. */
	readonly expected: Prediction;
	readonly availableBefore: number;
	readonly consequences: readonly string[];
};

export type Plan = EvictionPlan | RestorePlan;
