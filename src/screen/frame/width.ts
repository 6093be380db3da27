// What text costs on a terminal, and what may reach one at all. Everything that draws goes through `measure`.
import stringWidth from 'string-width';

/** One character as a person sees it, with its columns. */
export type Cluster = { readonly text: string; readonly width: number };

/** Text that is safe to draw. `clusters` is undefined if every code unit is one character of one column. */
export type Measured = {
	readonly text: string;
	readonly width: number;
	readonly clusters: readonly Cluster[] | undefined;
};

/**
 * Characters that every terminal draws one column wide and that never combine with a neighbour: ASCII, Latin-1 and its
 * extensions, dashes, quotes, arrows, box drawing, blocks, geometric marks, braille, and the marks that our screens use.
 */
export const NARROW =
	/^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u2193\u2248\u2260\u2264\u2265\u2400-\u2424\u2500-\u25fc\u25ff\u2691\u2713\u2717\u2800-\u28ff]*$/;

/** Controls, and everything that has no shape of its own but changes or hides its neighbours (bidi, joiners, fillers). */
const UNSAFE =
	/[\p{Control}\p{Surrogate}\p{Format}\p{Default_Ignorable_Code_Point}\p{Line_Separator}\p{Paragraph_Separator}]/gu;
/** Presentation selectors and skin tones: terminals disagree about their width, and what they add is not missed. */
const MODIFIERS = /[\u{fe0e}\u{fe0f}\u{1f3fb}-\u{1f3ff}]/gu;
const FLAG_LETTERS = /[\u{1f1e6}-\u{1f1ff}]/gu;
const SPACES = /\p{Space_Separator}/gu;
/** What joins the character before it: marks, sound marks of half-width kana, second and third parts of old Hangul. */
const COMBINING = /[\p{Mark}\uff9e\uff9f\u1160-\u11ff\ud7b0-\ud7fb]/u;
const STARTS_COMBINING = new RegExp(`^${COMBINING.source}`, 'u');
const NEEDS_CARE = new RegExp(
	[UNSAFE, MODIFIERS, FLAG_LETTERS, SPACES, COMBINING].map((each) => each.source).join('|'),
	'u',
);

/** A letter with more marks than that only serves to draw over the lines above. */
const MOST_CHARACTERS = 8;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

const MEMO_ENTRIES = 4096;
const MEMO_LENGTH = 256;
const memo = new Map<string, Measured>();

export function measure(text: string): Measured {
	if (NARROW.test(text)) return { text, width: text.length, clusters: undefined };
	const known = memo.get(text);
	if (known) return known;
	// Some characters are two in the normal form (U+1D15E): what is cut from them must measure as it did inside.
	const safe = NEEDS_CARE.test(text) || text.normalize('NFC') !== text ? makeSafe(text) : text;
	const measured = NARROW.test(safe) ? { text: safe, width: safe.length, clusters: undefined } : segment(safe);
	if (text.length <= MEMO_LENGTH) {
		// Emptied at once instead of ageing entries: a miss costs microseconds, and this happens every few minutes at most.
		if (memo.size >= MEMO_ENTRIES) memo.clear();
		memo.set(text, measured);
	}
	return measured;
}

/** Text as it may be sent to a terminal: what is invisible or commands something is replaced by something visible. */
export const sanitize = (text: string): string => measure(text).text;

/** Terminal columns of the text as it will be drawn. */
export const columnsOf = (text: string): number => (NARROW.test(text) ? text.length : measure(text).width);

export function graphemes(text: string): readonly Cluster[] {
	const measured = measure(text);
	return measured.clusters ?? Array.from(measured.text, (character) => ({ text: character, width: 1 }));
}

function segment(text: string): Measured {
	const clusters: Cluster[] = [];
	let width = 0;
	for (const { segment: cluster } of segmenter.segment(text)) {
		const columns = widthOfCluster(cluster);
		clusters.push({ text: cluster, width: columns });
		width += columns;
	}
	return { text, width, clusters };
}

function widthOfCluster(cluster: string): number {
	if (cluster.length === 1) {
		const code = cluster.charCodeAt(0);
		if (isIdeographOrKana(code)) return 2;
	}
	return stringWidth(cluster);
}

/** The wide characters that all terminals agree on; for other wide ones the compositor does not trust the cursor. */
export function isIdeographOrKana(code: number): boolean {
	return (
		(code >= 0x4e00 && code <= 0x9fff) ||
		(code >= 0xac00 && code <= 0xd7a3) ||
		(code >= 0x3041 && code <= 0x3096) ||
		(code >= 0x30a1 && code <= 0x30fa) ||
		(code >= 0x3400 && code <= 0x4dbf) ||
		(code >= 0xff01 && code <= 0xff60)
	);
}

function makeSafe(text: string): string {
	const replaced = text
		.replace(MODIFIERS, '')
		.replace(FLAG_LETTERS, (letter) => String.fromCharCode(letter.codePointAt(0)! - 0x1f1e6 + 0x41))
		.replace(UNSAFE, visible)
		.replace(SPACES, ' ')
		// Composed, so that é as two code points is a plain letter on every terminal.
		.normalize('NFC');
	if (!COMBINING.test(replaced)) return replaced;
	let safe = '';
	for (const { segment: cluster } of segmenter.segment(replaced)) {
		// A mark without a letter under it would land on the character before, which may be another pane's.
		if (STARTS_COMBINING.test(cluster) || stringWidth(cluster) === 0) safe += '·';
		else safe += reduced(cluster);
	}
	return safe;
}

function reduced(cluster: string): string {
	const characters = [...cluster];
	while (characters.length > MOST_CHARACTERS || stringWidth(characters.join('')) > 2) characters.pop();
	return characters.join('');
}

function visible(character: string): string {
	const code = character.codePointAt(0)!;
	if (code === 0x09 || code === 0x0a || code === 0x0d || code === 0x2028 || code === 0x2029) return ' ';
	// U+2400 and on are pictures of the control characters; ␛ is the one of escape.
	if (code < 0x20) return String.fromCharCode(0x2400 + code);
	return code === 0x7f ? '␡' : '·';
}
