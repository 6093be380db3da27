// Parameters of `CSI … m` and the shortest way from one look to another.

/** Reset, as parameters: the look before anything is set. */
export const PLAIN = '';

type Look = { fg: string; bg: string; attributes: Set<string>; whole: boolean };

const OFF: Readonly<Record<string, string>> = { 1: '22', 2: '22', 3: '23', 4: '24', 7: '27', 9: '29' };

function read(parameters: string): Look {
	const look: Look = { fg: '', bg: '', attributes: new Set(), whole: true };
	const parts = parameters === '' ? [] : parameters.split(';');
	for (let i = 0; i < parts.length; i++) {
		const part = parts[i]!;
		const code = Number(part);
		if (code === 38 || code === 48) {
			const length = parts[i + 1] === '2' ? 5 : 3;
			look[code === 38 ? 'fg' : 'bg'] = parts.slice(i, i + length).join(';');
			i += length - 1;
		} else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) look.fg = part;
		else if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) look.bg = part;
		else if (OFF[part] !== undefined) look.attributes.add(part);
		else look.whole = false;
	}
	return look;
}

/** The bytes that turn the look `from` into `to`; both are whole parameter lists, as a style gives them. */
export function transition(from: string, to: string): string {
	if (from === to) return '';
	if (to === PLAIN) return '\u001b[m';
	const reset = `\u001b[0;${to}m`;
	const before = read(from);
	const after = read(to);
	// A parameter that this table does not know has an unknown switch for off.
	if (!before.whole || !after.whole) return reset;
	const off = new Set<string>();
	for (const attribute of before.attributes) if (!after.attributes.has(attribute)) off.add(OFF[attribute]!);
	const on: string[] = [];
	for (const attribute of after.attributes) {
		// Bold and dim share one switch for off, so the one that stays has to be switched on again.
		if (!before.attributes.has(attribute) || off.has(OFF[attribute]!)) on.push(attribute);
	}
	if (before.fg !== after.fg) on.push(after.fg === '' ? '39' : after.fg);
	if (before.bg !== after.bg) on.push(after.bg === '' ? '49' : after.bg);
	// Two ways to write one look; without parameters the sequence would mean reset.
	if (off.size + on.length === 0) return '';
	const changes = `\u001b[${[...off, ...on].join(';')}m`;
	return changes.length < reset.length ? changes : reset;
}

/** The part of a look that shows on an empty cell; a plain one lets a blank rest of a row be erased in three bytes. */
export function forBlanks(parameters: string): string {
	const { bg, attributes, whole } = read(parameters);
	return !whole || attributes.has('7') || attributes.has('4') || attributes.has('9') ? parameters : bg;
}
