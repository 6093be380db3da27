import { hostFailure, statusCode, statusJson } from '../cli/statusJson.ts';
import type { Settings } from '../config/settings.ts';
import type { Failure } from '../domain/failure.ts';
import type { Link } from '../domain/host.ts';
import { now } from '../hosts/now.ts';
import { initialState } from '../store/state.ts';
import { createConsoleStore } from '../store/store.ts';

/** How long one look at all hosts may take (ms); what has not answered by then is told as such. */
const PATIENCE = 20_000;

/** One observation of every host, printed; the exit code says whether all could be read completely. */
export const runStatus = async (
	settings: Settings,
	options: { json: boolean; timeoutMs?: number },
): Promise<number> => {
	const store = createConsoleStore(initialState(settings.hosts, '', now()));
	const { openHosts } = await import('./late.ts');
	const settled = new Set<string>();
	let done: () => void = () => {};
	const all = new Promise<void>((resolve) => {
		done = resolve;
	});
	const settle = (host: string): void => {
		settled.add(host);
		if (settled.size === settings.hosts.length) done();
	};
	const patience = options.timeoutMs ?? PATIENCE;
	const timer = setTimeout(done, patience);
	const hosts = openHosts(
		settings.hosts,
		{ sshConfig: settings.sshConfig, periodSeconds: Math.min(settings.periodSeconds, 0.5) },
		{
			link: (host, link) => {
				if (settled.has(host)) return;
				// One look: what is down is not tried again.
				store.dispatch({ type: 'link', host, link: link.state === 'down' ? { ...link, nextTryAt: null } : link });
				if (link.state === 'down') settle(host);
			},
			observed: (observation) => {
				if (settled.has(observation.host)) return;
				store.dispatch({ type: 'observed', observation });
				if (observation.complete) settle(observation.host);
			},
		},
	);
	await all;
	clearTimeout(timer);
	hosts.close();
	const at = now();
	for (const host of store.get().hosts) {
		if (host.link.state !== 'connecting') continue;
		// There is no more time to connect in.
		const why = hostFailure(host, at, patience);
		const link: Link | null = why && { state: 'down', since: at, failure: why, nextTryAt: null };
		if (link) store.dispatch({ type: 'link', host: host.settings.name, link });
	}
	store.dispatch({ type: 'clock', now: at });
	const state = store.get();
	if (options.json) process.stdout.write(`${JSON.stringify(statusJson(state.hosts, at, patience), null, '\t')}\n`);
	else {
		const { statusText } = await import('../screen/statusTable.tsx');
		const failures = new Map<string, Failure>();
		for (const host of state.hosts) {
			const why = hostFailure(host, at, patience);
			if (why) failures.set(host.settings.name, why);
		}
		const room = process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
		process.stdout.write(`${statusText(state, failures, room)}\n`);
	}
	return statusCode(state.hosts);
};
