import type { Machine } from './machine.ts';

/** What a program reads: everything at once, or as it comes. */
export type Input = {
	/** What came since, or null at its end. */
	readonly next: () => Promise<Buffer | null>;
	readonly all: () => Promise<string>;
};

export const textInput = (text: string): Input => {
	let rest: Buffer | null = text === '' ? null : Buffer.from(text);
	return {
		next: async () => {
			const given = rest;
			rest = null;
			return given;
		},
		all: async () => {
			const given = rest;
			rest = null;
			return given?.toString() ?? '';
		},
	};
};

/** Everything a program of the simulated host may touch. */
export type Call = {
	/** As it was called. */
	readonly name: string;
	readonly args: readonly string[];
	readonly machine: Machine;
	readonly root: boolean;
	readonly env: ReadonlyMap<string, string>;
	readonly input: Input;
	readonly out: (text: string) => void;
	readonly err: (text: string) => void;
	/** Aborted when the channel is gone. */
	readonly signal: AbortSignal;
	/** Session scope that it runs in. */
	readonly session: string;
	/** Runs another program with these changes. */
	readonly run: (
		name: string,
		args: readonly string[],
		changes?: Partial<Pick<Call, 'root' | 'env'>>,
	) => Promise<number>;
};

export type Program = (call: Call) => Promise<number> | number;

export const OPERATOR = { name: 'spark', uid: 1000, home: '/home/spark' } as const;

/** Ends early, and with false, when `signal` says so. */
export const pause = (ms: number, signal: AbortSignal): Promise<boolean> =>
	new Promise((resolve) => {
		const end = (): void => {
			clearTimeout(timer);
			resolve(false);
		};
		const timer = setTimeout(() => {
			signal.removeEventListener('abort', end);
			resolve(true);
		}, ms);
		if (signal.aborted) end();
		else signal.addEventListener('abort', end, { once: true });
	});
