/**
 * Splits what the probe's channel carries into messages. Everything before the magic line is noise of login scripts
 * and ignored; after it, every line must be one JSON object with a kind, and a line that is not is counted.
 */
export type ProbeMessage = { readonly k: string; readonly [field: string]: unknown };

/** Longest line taken, in characters; a host that sends more without a line end is sending garbage. */
const LONGEST = 8 << 20;

export type LineReader = {
	/** True once the magic line was seen. */
	readonly started: () => boolean;
	/** Lines after the magic line that were no message. */
	readonly garbage: () => number;
	readonly push: (chunk: string) => ProbeMessage[];
};

export const lineReader = (nonce: string): LineReader => {
	const magic = `sparkdeck-probe 1 ${nonce}`;
	let rest = '';
	let started = false;
	let skipping = false;
	let garbage = 0;

	const take = (line: string): ProbeMessage | null => {
		if (!started) {
			// The shell's noise may end without a line end, right before the magic.
			if (line.endsWith(magic)) started = true;
			return null;
		}
		const message = parseMessage(line);
		if (!message) garbage += 1;
		return message;
	};

	const push = (chunk: string): ProbeMessage[] => {
		const lines = (rest + chunk).split('\n');
		rest = lines.pop() ?? '';
		const messages: ProbeMessage[] = [];
		for (const line of lines) {
			if (skipping) {
				skipping = false;
				continue;
			}
			const message = take(line);
			if (message) messages.push(message);
		}
		if (rest.length > LONGEST) {
			rest = '';
			skipping = true;
			garbage += 1;
		}
		return messages;
	};

	return { started: () => started, garbage: () => garbage, push };
};

const parseMessage = (line: string): ProbeMessage | null => {
	if (!line.startsWith('{')) return null;
	try {
		const value: unknown = JSON.parse(line);
		if (typeof value !== 'object' || value === null) return null;
		const message = value as Record<string, unknown>;
		return typeof message['k'] === 'string' ? (message as ProbeMessage) : null;
	} catch {
		return null;
	}
};
