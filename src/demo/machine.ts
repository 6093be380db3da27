import { advance, nextPlan } from './world.ts';
import type { SimHost } from './worldTypes.ts';

/** A simulated host tied to a clock: whoever looks sees it as it is at that instant, and what is planned happens in time. */
export type Machine = {
	readonly name: string;
	/** The host, brought up to now. */
	readonly see: () => SimHost;
	/** Changes it, and plans the next turn. */
	readonly act: <T>(change: (host: SimHost) => T) => T;
	/** Waits until something holds; false when `signal` ends it first. */
	readonly until: (holds: (host: SimHost) => boolean, signal: AbortSignal) => Promise<boolean>;
	/** Told after the time of the world went on, and after a change. */
	readonly onTurn: (turned: () => void) => () => void;
	readonly stop: () => void;
};

export const createMachine = (host: SimHost, now: () => number): Machine => {
	const turns = new Set<() => void>();
	let timer: NodeJS.Timeout | undefined;
	let stopped = false;

	const see = (): SimHost => {
		advance(host, (now() - host.bootedAt) / 1000);
		return host;
	};
	const turn = (): void => {
		see();
		clearTimeout(timer);
		const next = nextPlan(host);
		if (next && !stopped) timer = setTimeout(turn, Math.max(1, Math.ceil((next.at - host.now) * 1000)));
		for (const turned of [...turns]) turned();
	};
	const onTurn = (turned: () => void): (() => void) => {
		turns.add(turned);
		return () => turns.delete(turned);
	};
	return {
		name: host.name,
		see,
		act: (change) => {
			const result = change(see());
			turn();
			return result;
		},
		until: (holds, signal) =>
			new Promise((resolve) => {
				const end = (value: boolean): void => {
					forget();
					signal.removeEventListener('abort', aborted);
					resolve(value);
				};
				const aborted = (): void => end(false);
				const look = (): void => {
					if (holds(host)) end(true);
				};
				const forget = onTurn(look);
				signal.addEventListener('abort', aborted);
				if (signal.aborted) end(false);
				else look();
			}),
		onTurn,
		stop: () => {
			stopped = true;
			clearTimeout(timer);
			turns.clear();
		},
	};
};
