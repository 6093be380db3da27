import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../src/config/yaml.ts';
import { rgbOf, type Style, sgrOf } from '../../src/screen/frame/style.ts';
import { loadTheme, resolve, styleOf, type Theme } from '../../src/screen/theme/theme.ts';
import { TOKENS } from '../../src/screen/theme/tokens.ts';

const folder = new URL('../../themes/', import.meta.url);
const shipped = Object.fromEntries(
	readdirSync(folder).map((file) => [file.replace(/\.yaml$/, ''), readFileSync(new URL(file, folder), 'utf8')]),
);

function theme(name: string, sources: Record<string, string> = shipped): Theme {
	const loaded = loadTheme(name, sources);
	if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
	return loaded.theme;
}

function problems(name: string, sources: Record<string, string>): string[] {
	const loaded = loadTheme(name, { ...shipped, ...sources });
	return loaded.ok ? [] : loaded.problems.map(formatProblem);
}

const linear = (channel: number) =>
	channel / 255 <= 0.04045 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4;
const luminance = (hex: string) => {
	const [r, g, b] = rgbOf(hex).map(linear) as [number, number, number];
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
/** WCAG 2 contrast ratio. */
const contrast = (a: string, b: string) =>
	(Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);

/** A theme is drawn on the terminal's own ground: the extreme one and a usual soft one. */
const GROUNDS = { dark: ['#000000', '#1e1e2e', '#282c34'], light: ['#ffffff', '#fdf6e3'] };
const groundsOf = (name: string) => (name === 'light' ? GROUNDS.light : GROUNDS.dark);

/** Lines and fillings; everything else carries words or figures. */
const DRAWING = new Set<string>(['border', 'border.focus', 'dialog.border', 'pool.free', 'pool.cache', 'spark']);
const WORDS = TOKENS.filter((token) => !DRAWING.has(token));

test('the four themes are there', () => {
	expect(Object.keys(shipped).sort()).toEqual(['colour-blind-safe', 'dark', 'high-contrast', 'light']);
});

describe.each(Object.keys(shipped))('%s', (name) => {
	test("is valid and has its file's name", () => expect(theme(name).name).toBe(name));

	test('has a colour for every token', () => {
		for (const token of TOKENS)
			expect([token, resolve(theme(name), token).fg]).toEqual([token, expect.stringMatching(/^#/)]);
	});

	test('sets a ground only for the selected row and buttons', () => {
		const grounded = TOKENS.filter((token) => resolve(theme(name), token).bg !== undefined);
		expect(grounded).toEqual(['row.selected', 'button', 'button.focus']);
	});

	test('can be read', () => {
		const least = name === 'high-contrast' ? 7 : 4.5;
		const low: string[] = [];
		const check = (token: string, style: Style, ground: string) => {
			const ratio = contrast(style.fg!, style.bg ?? ground);
			if (ratio < least) low.push(`${token} on ${style.bg ?? ground}: ${ratio.toFixed(2)}`);
		};
		for (const token of WORDS) {
			for (const ground of groundsOf(name)) check(token, resolve(theme(name), token), ground);
			if (!token.startsWith('button'))
				check(`${token} in a selected row`, resolve(theme(name), token, 'row.selected'), '');
		}
		expect(low).toEqual([]);
		// What is only drawn must be visible all the same.
		for (const token of ['pool.free', 'pool.cache', 'spark', 'border.focus']) {
			for (const ground of groundsOf(name))
				expect(contrast(resolve(theme(name), token).fg!, ground)).toBeGreaterThan(2.2);
		}
	});

	test('keeps eight owners apart, also with 256 colours', () => {
		const owners = [...'abcdefgh'].map((letter) => resolve(theme(name), `pool.owner.${letter}`));
		expect(new Set(owners.map((style) => sgrOf(style, '256'))).size).toBe(8);
		expect(
			leastDistance(
				owners.map((style) => style.fg!),
				NORMAL,
			),
		).toBeGreaterThan(0.045);
	});

	test('says without colour what matters most', () => {
		const look = (token: string, base?: string) => styleOf(theme(name), 'none')(token, base);
		expect(look('row.selected')).toContain('7');
		expect(look('text.dim', 'row.selected')).toContain('7');
		expect(look('button.focus')).not.toBe(look('button'));
		expect(look('text.dim')).not.toBe(look('text'));
		for (const token of TOKENS) expect(look(token)).not.toMatch(/[34]8;/);
	});
});

/** How dichromats see, on linear RGB: Machado, Oliveira and Fernandes 2009, severity 1. */
const NORMAL = [1, 0, 0, 0, 1, 0, 0, 0, 1];
const EYES = {
	normal: NORMAL,
	'red-blind': [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
	'green-blind': [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
	'blue-blind': [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

function seen(hex: string, eye: readonly number[]): [number, number, number] {
	const rgb = rgbOf(hex).map(linear);
	const [r, g, b] = [0, 3, 6].map((row) => rgb.reduce((sum, value, column) => sum + value * eye[row + column]!, 0)) as [
		number,
		number,
		number,
	];
	// OKLab, where distances are about what the eye sees.
	const l = Math.cbrt(Math.max(0, 0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b));
	const m = Math.cbrt(Math.max(0, 0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b));
	const s = Math.cbrt(Math.max(0, 0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b));
	return [
		0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
		1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
		0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
	];
}

function leastDistance(colours: readonly string[], eye: readonly number[]): number {
	const points = colours.map((hex) => seen(hex, eye));
	return Math.min(
		...points.flatMap((a, i) => points.slice(0, i).map((b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]))),
	);
}

describe.each(Object.entries(EYES))('colour-blind-safe with %s eyes', (_name, eye) => {
	const colour = (token: string) => resolve(theme('colour-blind-safe'), token).fg!;

	test('keeps owners apart', () => {
		expect(
			leastDistance(
				[...'abcdefgh'].map((letter) => colour(`pool.owner.${letter}`)),
				eye,
			),
		).toBeGreaterThan(0.11);
	});

	test('keeps states apart', () => {
		expect(leastDistance(['state.up', 'state.stale', 'state.down', 'text'].map(colour), eye)).toBeGreaterThan(0.06);
	});
});

test('the simulation would notice: owners of dark are too near for some eyes', () => {
	const owners = [...'abcdefgh'].map((letter) => resolve(theme('dark'), `pool.owner.${letter}`).fg!);
	expect(Math.min(...Object.values(EYES).map((eye) => leastDistance(owners, eye)))).toBeLessThan(0.05);
});

describe('resolve', () => {
	const small = theme('small', {
		...shipped,
		small:
			'name: small\ninherits: dark\npalette: { ink: "#111111" }\ntokens:\n  ui: { fg: red, bold: true }\n  ui.text: { bg: "#222222" }\n  ui.text.calm: { bold: false, fg: ink }\n',
	});

	test('falls back along the dots', () => {
		expect(resolve(small, 'ui.text.focus.deep')).toEqual({ bg: '#222222' });
		expect(resolve(small, 'ui.other')).toEqual({ fg: 'red', bold: true });
		expect(resolve(small, 'nobody.knows')).toEqual({});
	});

	test('draws a token over a base', () => {
		expect(resolve(small, 'ui.text.calm', 'ui')).toEqual({ fg: '#111111', bold: false });
		expect(resolve(small, 'ui.text', 'ui')).toEqual({ fg: 'red', bold: true, bg: '#222222' });
		expect(resolve(small, 'ui.text', 'nobody')).toEqual({ bg: '#222222' });
	});

	test('a palette of a heir changes inherited tokens', () => {
		expect(resolve(small, 'text').fg).toBe('#111111');
		expect(resolve(theme('dark'), 'text').fg).not.toBe('#111111');
	});
});

describe('problems name their place', () => {
	test.each([
		[
			'an unknown colour',
			'name: x\ninherits: dark\ntokens:\n  text: { fg: quite }\n',
			'themes/x.yaml:4:15: unknown colour "quite"; did you mean "quiet"?',
		],
		[
			'an unknown colour, short form',
			'name: x\ninherits: dark\ntokens:\n  text: zzz\n',
			'themes/x.yaml:4:9: unknown colour "zzz"',
		],
		[
			'a bad palette',
			'name: x\ninherits: dark\npalette:\n  ink: red\n',
			'themes/x.yaml:4:8: expected a colour as "#rrggbb"',
		],
		[
			'a bad token',
			'name: x\ninherits: dark\ntokens:\n  Text: red\n',
			'themes/x.yaml:4:3: a token is lower-case words joined by dots',
		],
		[
			'an unknown attribute',
			'name: x\ninherits: dark\ntokens:\n  text: { bald: true }\n',
			'themes/x.yaml:4:11: unknown key "bald"; did you mean "bold"?',
		],
		['an unknown parent', 'name: x\ninherits: dork\n', 'themes/x.yaml:2:11: there is no "dork"; did you mean "dark"?'],
		['itself as parent', 'name: x\ninherits: x\n', 'themes/x.yaml:2:11: inherits in a circle: x -> x'],
	])('%s', (_name, content, expected) => expect(problems('x', { x: content })).toEqual([expected]));

	test('a circle of several', () => {
		expect(
			problems('a', { a: 'name: a\ninherits: b\n', b: 'name: b\ninherits: c\n', c: 'name: c\n# back\ninherits: b\n' }),
		).toEqual(['themes/c.yaml:3:11: inherits in a circle: a -> b -> c -> b']);
	});

	test('no such theme', () =>
		expect(problems('ligt', {})).toEqual(['themes/ligt.yaml:1:1: there is no "ligt"; did you mean "light"?']));

	test('tokens without a look', () => {
		const missing = problems('x', { x: 'name: x\ntokens:\n  text: red\n  border: blue\n' });
		expect(missing).toContain('themes/x.yaml:3:3: token title has no look');
		// The dots help: text.dim looks like text.
		expect(missing.join()).not.toMatch(/text\.dim|border\.focus/);
	});
});
