// How a look is told to a terminal of a given colour depth.

export type Depth = 'truecolor' | '256' | '16' | 'none';

export const ANSI_NAMES = [
	...['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'],
	...[
		'brightBlack',
		'brightRed',
		'brightGreen',
		'brightYellow',
		'brightBlue',
		'brightMagenta',
		'brightCyan',
		'brightWhite',
	],
] as const;

/** `#rrggbb`, one of the sixteen names, or `default`: the terminal's own. */
export type Colour = string;

export type Attributes = {
	readonly bold?: boolean;
	readonly dim?: boolean;
	readonly italic?: boolean;
	readonly underline?: boolean;
	readonly inverse?: boolean;
};

export type Style = Attributes & {
	readonly fg?: Colour;
	readonly bg?: Colour;
	/** Added where there is no colour, for what a colour alone would have said. */
	readonly mono?: Attributes;
};

const ATTRIBUTES = [
	['bold', '1'],
	['dim', '2'],
	['italic', '3'],
	['underline', '4'],
	['inverse', '7'],
] as const;

type Rgb = readonly [number, number, number];

/** Parameters for `CSI … m`; empty for the terminal's own look. */
export function sgrOf(style: Style, depth: Depth): string {
	const attributes: Attributes = depth === 'none' ? { ...style, ...style.mono } : style;
	const parts: string[] = ATTRIBUTES.filter(([name]) => attributes[name] === true).map(([, code]) => code);
	if (depth === 'none') return parts.join(';');
	const bg = colourCode(style.bg, depth, 10);
	let fg = colourCode(style.fg, depth, 0);
	// Few colours can make two different ones equal, and text on its own colour is gone.
	if (bg !== '' && fg !== '' && sameColour(fg, bg)) fg = readableOn(style.bg!);
	if (fg !== '') parts.push(fg);
	if (bg !== '') parts.push(bg);
	return parts.join(';');
}

function sameColour(fg: string, bg: string): boolean {
	if (fg.startsWith('38;')) return bg === `48;${fg.slice(3)}`;
	return Number(fg) + 10 === Number(bg);
}

const readableOn = (bg: Colour): string => (bg.startsWith('#') && lightness(rgbOf(bg)) > 0.5 ? '30' : '97');

function colourCode(colour: Colour | undefined, depth: Exclude<Depth, 'none'>, offset: 0 | 10): string {
	if (colour === undefined || colour === 'default') return '';
	if (!colour.startsWith('#')) {
		const index = (ANSI_NAMES as readonly string[]).indexOf(colour);
		return index < 0 ? '' : basicCode(index, offset);
	}
	const rgb = rgbOf(colour);
	if (depth === 'truecolor') return `${38 + offset};2;${rgb.join(';')}`;
	if (depth === '256') return `${38 + offset};5;${to256(rgb)}`;
	return basicCode(to16(rgb), offset);
}

const basicCode = (index: number, offset: number) => String((index < 8 ? 30 + index : 82 + index) + offset);

export function rgbOf(hex: string): Rgb {
	const value = Number.parseInt(hex.slice(1), 16);
	return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

const CUBE = [0, 95, 135, 175, 215, 255] as const;

/** Nearest of xterm's 6×6×6 cube and its 24 greys. */
export function to256(rgb: Rgb): number {
	const steps = rgb.map((channel) => (channel < 48 ? 0 : channel < 115 ? 1 : Math.floor((channel - 35) / 40)));
	const [r, g, b] = steps as [number, number, number];
	const grey = Math.max(0, Math.min(23, Math.round((rgb.reduce((sum, channel) => sum + channel, 0) / 3 - 8) / 10)));
	const level = 8 + 10 * grey;
	const asCube = distance(rgb, [CUBE[r]!, CUBE[g]!, CUBE[b]!]);
	return distance(rgb, [level, level, level]) < asCube ? 232 + grey : 16 + 36 * r + 6 * g + b;
}

function distance(a: Rgb, b: Rgb): number {
	// Greater weight for what the eye sees better.
	return 2 * (a[0] - b[0]) ** 2 + 4 * (a[1] - b[1]) ** 2 + 3 * (a[2] - b[2]) ** 2;
}

/**
 * One of the sixteen by hue, not by distance: terminals choose their own sixteen, so the only thing that a name promises
 * is its hue, and by distance most muted colours would end as the same grey.
 */
export function to16(rgb: Rgb): number {
	const [r, g, b] = rgb;
	const most = Math.max(r, g, b);
	const range = most - Math.min(r, g, b);
	if (range < 30 || range / most < 0.28) {
		const light = lightness(rgb);
		return light < 0.2 ? 0 : light < 0.62 ? 8 : light < 0.92 ? 7 : 15;
	}
	const turn = most === r ? ((g - b) / range + 6) % 6 : most === g ? (b - r) / range + 2 : (r - g) / range + 4;
	const hue = HUES.find(([end]) => turn * 60 < end)?.[1] ?? 1;
	return most >= 176 ? hue + 8 : hue;
}

/** Up to which angle of the colour circle which of the names is said: red, yellow, green, cyan, blue, magenta, red. */
const HUES = [
	[20, 1],
	[75, 3],
	[160, 2],
	[200, 6],
	[260, 4],
	[330, 5],
] as const;

const lightness = ([r, g, b]: Rgb) => (0.299 * r + 0.587 * g + 0.114 * b) / 255;

/** What the environment says about colour. FORCE_COLOR first, as everywhere in Node; then NO_COLOR; then the terminal. */
export function depthOf(env: Readonly<Record<string, string | undefined>>, isTTY: boolean): Depth {
	const terminal = depthOfTerminal(env);
	const forced = env['FORCE_COLOR'];
	if (forced !== undefined) {
		const levels: Readonly<Record<string, Depth>> = { 0: 'none', false: 'none', 1: '16', 2: '256', 3: 'truecolor' };
		return levels[forced] ?? (terminal === 'none' ? '16' : terminal);
	}
	if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return 'none';
	return isTTY ? terminal : 'none';
}

function depthOfTerminal(env: Readonly<Record<string, string | undefined>>): Depth {
	const term = env['TERM'] ?? '';
	if (term === 'dumb') return 'none';
	if (/^(truecolor|24bit)$/i.test(env['COLORTERM'] ?? '')) return 'truecolor';
	if (/-direct$|^(xterm-kitty|xterm-ghostty|alacritty|wezterm|foot)/.test(term)) return 'truecolor';
	return term.includes('256color') ? '256' : '16';
}
