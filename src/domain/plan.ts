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
	/** gpuBytes + hostBytes. */
	readonly totalBytes: number;
	/** A part of it has no figure, so that more may come back. */
	readonly atLeast: boolean;
};

type Common = {
	/** Service id. */
	readonly service: string;
	readonly host: string;
	readonly name: string;
	readonly target: Target;
	readonly command: CommandLine;
	/** How long facts may take to show the end of it (ms), by its own stop timeout. */
	readonly patienceMs: number;
	/** How long memory may take to come back, or a model to take it, after that (ms). */
	readonly memoryPatienceMs: number;
};

/** Stopping one service to free its memory. Nothing has been done yet. */
export type EvictionPlan = Common & {
	readonly kind: 'evict';
	readonly predicted: Prediction;
	/** MemAvailable from which the return is measured. */
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
