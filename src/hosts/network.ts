import { networkInterfaces } from 'node:os';

/** How often (ms) the addresses of this machine are looked at; a look costs some 50 µs. */
const EVERY = 1000;

/** Calls back when an address of this machine came or went: a link is back, a VPN is up. */
export const watchNetwork = (changed: () => void): { readonly close: () => void } => {
	const addresses = (): string =>
		Object.entries(networkInterfaces())
			.flatMap(([name, list]) => (list ?? []).map((one) => `${name} ${one.address}`))
			.sort()
			.join('\n');
	let last = addresses();
	const timer = setInterval(() => {
		const now = addresses();
		if (now === last) return;
		last = now;
		changed();
	}, EVERY);
	timer.unref();
	return { close: () => clearInterval(timer) };
};
