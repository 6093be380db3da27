/** Chance from a seed: the same seed makes the same world. */
export type Random = {
	/** At least 0, below 1. */
	readonly next: () => number;
	readonly hex: (digits: number) => string;
};

/** splitmix32 */
const mix = (state: number): number => {
	let value = state | 0;
	value = Math.imul(value ^ (value >>> 16), 0x21f0aaad);
	value = Math.imul(value ^ (value >>> 15), 0x735a2d97);
	return (value ^ (value >>> 15)) >>> 0;
};

export const createRandom = (seed: number): Random => {
	let state = seed | 0;
	const next = (): number => {
		state = (state + 0x9e3779b9) | 0;
		return mix(state) / 2 ** 32;
	};
	const hex = (digits: number): string =>
		Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join('');
	return { next, hex };
};

export const hash = (text: string): number => {
	let value = 0x811c9dc5;
	for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
	return mix(value);
};

/** Between -1 and 1, the same for the same second: movement that needs no state. */
export const wobble = (seed: number, what: string, now: number): number => {
	const second = Math.floor(now);
	const at = (one: number): number => hash(`${seed}/${what}/${one}`) / 2 ** 31 - 1;
	return at(second) + (at(second + 1) - at(second)) * (now - second);
};
