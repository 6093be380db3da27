import type { Readable } from 'node:stream';

/**
 * What one channel may bring a second, in bytes, and at once after a pause. A probe sends about 10 KB/s and a first look
 * some 100 KB; more is a flood, and reading it at wire speed would take the time of the keyboard and the other hosts. The
 * rest waits in the window of SSH (2 MB) and then on the host.
 */
const RATE = 2 << 20;
const BURST = 4 << 20;
/** How often (ms) a flooded channel is read on. */
const SLICE = 100;

/** Reads text from a stream, never faster than the rate. */
export const readPaced = (stream: Readable, on: (text: string) => void): void => {
	let allowance = BURST;
	let last = performance.now();
	let timer: NodeJS.Timeout | null = null;
	stream.setEncoding('utf8');
	stream.on('data', (text: string) => {
		const now = performance.now();
		allowance = Math.min(BURST, allowance + ((now - last) * RATE) / 1000) - text.length;
		last = now;
		on(text);
		if (allowance >= 0 || timer !== null) return;
		stream.pause();
		timer = setTimeout(() => {
			timer = null;
			stream.resume();
		}, SLICE);
	});
	stream.on('error', () => {});
	stream.once('close', () => {
		if (timer !== null) clearTimeout(timer);
	});
};
