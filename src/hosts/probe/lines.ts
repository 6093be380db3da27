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
	/** Characters after the magic line that were thrown away: no message, or too long for one. */
	readonly dropped: () => number;
	readonly push: (chunk: string) => ProbeMessage[];
};

export const lineReader = (nonce: string): LineReader => {
	const magic = `sparkdeck-probe 1 ${nonce}`;
	let parts: string[] = [];
	let held = 0;
	let dropped = 0;
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
		if (!message) {
			garbage += 1;
			dropped += line.length + 1;
		}
		return message;
	};

	const push = (chunk: string): ProbeMessage[] => {
		const messages: ProbeMessage[] = [];
		let from = 0;
		for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', from)) {
			// Joined only once a line is whole: a flood without a line end must not be copied again and again.
			const line = parts.join('') + chunk.slice(from, at);
			parts = [];
			held = 0;
			from = at + 1;
			if (skipping) {
				skipping = false;
				continue;
			}
			const message = take(line);
			if (message) messages.push(message);
		}
		const rest = chunk.slice(from);
		if (skipping) dropped += rest.length;
		else if (rest !== '') {
			parts.push(rest);
			held += rest.length;
		}
		if (held > LONGEST) {
			parts = [];
			dropped += held;
			held = 0;
			skipping = true;
			garbage += 1;
		}
		return messages;
	};

	return { started: () => started, garbage: () => garbage, dropped: () => dropped, push };
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
