import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Event } from './events.ts';
import { reduce } from './reduce.ts';
import type { State } from './state.ts';

export type Store = {
	readonly get: () => State;
	readonly subscribe: StoreApi<State>['subscribe'];
	/** Applies events in order; who listens is told once. */
	readonly dispatch: (...events: readonly Event[]) => void;
	/** For zustand's React hook. */
	readonly api: StoreApi<State>;
};

/** The one store: changed only by events. */
export const createConsoleStore = (initial: State): Store => {
	const api = createStore<State>(() => initial);
	return {
		get: api.getState,
		subscribe: api.subscribe,
		dispatch: (...events) => api.setState(events.reduce(reduce, api.getState()), true),
		api,
	};
};
