import { statusCode, statusJson } from '../cli/statusJson.ts';
import type { Settings } from '../config/settings.ts';
import { failure } from '../domain/failure.ts';
import { initialState } from '../store/state.ts';
import { createConsoleStore } from '../store/store.ts';

/** How long one look at all hosts may take (ms); what has not answered by then is told as such. */
const PATIENCE = 20_000;

/** One observation of every host, printed; the exit code says whether all could be reached. */
export const runStatus = async (
	settings: Settings,
	options: { json: boolean; timeoutMs?: number },
): Promise<number> => {
	const store = createConsoleStore(initialState(settings.hosts, '', Date.now()));
	const { openHosts } = await import('../hosts/index.ts');
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
		settings.hosts.map((host) => host.name),
		{ sshConfig: settings.sshConfig, periodSeconds: Math.min(settings.periodSeconds, 0.5) },
		{
			link: (host, link) => {
				if (settled.has(host)) return;
				store.dispatch({ type: 'link', host, link });
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
	const now = Date.now();
	for (const host of store.get().hosts) {
		const { name } = host.settings;
		if (settled.has(name) || host.seen) continue;
		const why = failure(
			'timeout',
			`${name} did not answer within ${patience / 1000} s`,
			`Try it by hand: ssh ${name} true`,
		);
		store.dispatch({ type: 'link', host: name, link: { state: 'down', since: now, failure: why, nextTryAt: null } });
	}
	store.dispatch({ type: 'clock', now });
	const state = store.get();
	if (options.json) process.stdout.write(`${JSON.stringify(statusJson(state.hosts, now), null, '\t')}\n`);
	else {
		const { printStatus } = await import('../screen/statusTable.tsx');
		await printStatus(state);
	}
	return statusCode(state.hosts);
};
