// Names for keys. What a terminal sends says less than a keyboard knows, so only what can arrive has a name here.

/** What Ink's useInput tells besides the text; structural, so that this file needs no Ink. */
export type InkKey = {
	readonly upArrow?: boolean;
	readonly downArrow?: boolean;
	readonly leftArrow?: boolean;
	readonly rightArrow?: boolean;
	readonly pageUp?: boolean;
	readonly pageDown?: boolean;
	readonly home?: boolean;
	readonly end?: boolean;
	readonly return?: boolean;
	readonly escape?: boolean;
	readonly tab?: boolean;
	readonly backspace?: boolean;
	readonly delete?: boolean;
	readonly ctrl?: boolean;
	readonly shift?: boolean;
	readonly meta?: boolean;
	readonly eventType?: 'press' | 'repeat' | 'release' | undefined;
};

/** `e`, `E`, `space`, `shift+tab`, `ctrl+c`, `alt+x`, `?` … */
export type Chord = string;

const FLAGS = [
	['upArrow', 'up'],
	['downArrow', 'down'],
	['leftArrow', 'left'],
	['rightArrow', 'right'],
	['pageUp', 'pageup'],
	['pageDown', 'pagedown'],
	['home', 'home'],
	['end', 'end'],
	['return', 'enter'],
	['escape', 'esc'],
	['tab', 'tab'],
	['backspace', 'backspace'],
	['delete', 'delete'],
] as const;

export const KEY_NAMES: readonly string[] = [...FLAGS.map(([, name]) => name), 'space'];

/** Bytes that a terminal sends for a key and that come inside a longer input when keys are pressed fast. */
const BYTES: Readonly<Record<string, string>> = {
	'\r': 'enter',
	'\n': 'enter',
	'\t': 'tab',
	'\u001b': 'esc',
	'\u007f': 'backspace',
	'\b': 'backspace',
};

/** Several chords if keys came faster than the program read them (`jjj`), none for what is not a key press. */
export function chordOf(input: string, key: InkKey): Chord[] {
	if (key.eventType === 'release') return [];
	const named = FLAGS.find(([flag]) => key[flag] === true)?.[1];
	if (named !== undefined) {
		// Ink says meta for a lone escape too; alt+esc cannot be told from it.
		return [withModifiers(named, key.ctrl, key.meta && named !== 'esc', key.shift)];
	}
	// Not segmented into graphemes: keys that came together are not one character.
	const characters = [...input];
	return characters.flatMap((character) => characterChord(character, key, characters.length === 1));
}

function characterChord(character: string, key: InkKey, alone: boolean): Chord[] {
	const named = character === ' ' ? 'space' : BYTES[character];
	if (named !== undefined) return [withModifiers(named, alone && key.ctrl, alone && key.meta, false)];
	const code = character.codePointAt(0)!;
	if (code < 0x20) return [`ctrl+${String.fromCharCode(code + 0x60)}`];
	if (!isPrintable(character)) return [];
	// A shifted character arrives as itself (`E`, `?`), so shift is not named again.
	return [withModifiers(character, alone && key.ctrl, alone && key.meta, false)];
}

function withModifiers(name: string, ctrl = false, alt = false, shift = false): Chord {
	return `${ctrl ? 'ctrl+' : ''}${alt ? 'alt+' : ''}${shift ? 'shift+' : ''}${name}`;
}

const isPrintable = (character: string) =>
	/^[^\p{Control}\p{Surrogate}\p{Format}\p{Mark}\p{Separator}]$/u.test(character);

/** Other names people write for the same keys. */
const SYNONYMS: Readonly<Record<string, string>> = {
	return: 'enter',
	escape: 'esc',
	spacebar: 'space',
	pgup: 'pageup',
	pgdn: 'pagedown',
	del: 'delete',
	control: 'ctrl',
	meta: 'alt',
	option: 'alt',
};

/** Sent as the same byte as another key; bound to it, a command would surprise. */
const SAME_BYTE: Readonly<Record<string, string>> = {
	'ctrl+m': 'enter',
	'ctrl+j': 'enter',
	'ctrl+i': 'tab',
	'ctrl+[': 'esc',
	'ctrl+h': 'backspace',
};

export type ParsedChord =
	| { readonly ok: true; readonly chord: Chord }
	| { readonly ok: false; readonly message: string };

/** A chord as someone wrote it, in the one spelling that `chordOf` uses. */
export function parseChord(written: string): ParsedChord {
	const fail = (message: string): ParsedChord => ({ ok: false, message });
	const parts =
		written === '+' ? ['+'] : written.endsWith('++') ? [...written.slice(0, -2).split('+'), '+'] : written.split('+');
	const last = parts.pop()!;
	const known = (name: string) => SYNONYMS[name.toLowerCase()] ?? name.toLowerCase();
	const modifiers = parts.map(known);
	const unknown = parts.find((_, index) => !['ctrl', 'alt', 'shift'].includes(modifiers[index]!));
	if (unknown !== undefined) return fail(`${JSON.stringify(unknown)} is no modifier; there are ctrl, alt and shift`);
	if (new Set(modifiers).size < modifiers.length) return fail('a modifier stands here twice');
	const has = (name: string) => modifiers.includes(name);
	const character = [...last].length === 1;
	if (character && !isPrintable(last)) return fail('not a key that can be typed');
	if (character && has('shift'))
		return fail(`a shifted character is written as itself, like ${JSON.stringify(last.toUpperCase())}`);
	if (/^f\d{1,2}$/i.test(last)) return fail('function keys cannot be told apart');
	const name = character ? last : known(last);
	if (!character && !KEY_NAMES.includes(name)) return fail(`there is no key ${JSON.stringify(last)}`);
	// Terminals send one byte for ctrl with a letter, upper or lower case.
	const chord = withModifiers(
		has('ctrl') && character ? name.toLowerCase() : name,
		has('ctrl'),
		has('alt'),
		has('shift'),
	);
	const same = SAME_BYTE[chord];
	return same === undefined ? { ok: true, chord } : fail(`terminals send ${chord} as ${same}; bind ${same}`);
}
