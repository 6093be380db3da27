// Themes are data: what a token looks like. A token that a theme does not name looks like its parent.
import * as z from 'zod';
import { readInherited } from '../../config/inherited.ts';
import { didYouMean, type Problem } from '../../config/yaml.ts';
import type { StyleOf } from '../frame/compositor.ts';
import type { Token } from '../frame/line.ts';
import { ANSI_NAMES, type Attributes, type Depth, type Style, sgrOf } from '../frame/style.ts';
import { TOKENS } from './tokens.ts';

export type Theme = { readonly name: string; readonly styles: ReadonlyMap<Token, Style> };

export type LoadedTheme =
	| { readonly ok: true; readonly theme: Theme }
	| { readonly ok: false; readonly problems: readonly Problem[] };

const HEX = /^#[0-9a-f]{6}$/i;

const attributes = {
	bold: z.boolean().optional(),
	dim: z.boolean().optional(),
	italic: z.boolean().optional(),
	underline: z.boolean().optional(),
	inverse: z.boolean().optional(),
};
const lookSchema = z.strictObject({
	fg: z.string().optional(),
	bg: z.string().optional(),
	...attributes,
	mono: z.strictObject(attributes).optional(),
});
const tokenName = z.string().regex(/^[a-z][a-z-]*(\.[a-z][a-z-]*)*$/, 'a token is lower-case words joined by dots');
const schema = z.strictObject({
	name: z.string().min(1),
	inherits: z.string().optional(),
	palette: z.record(z.string(), z.string().regex(HEX, 'expected a colour as "#rrggbb"')).optional(),
	/** A mere string is a foreground colour. */
	tokens: z.record(tokenName, z.union([z.string(), lookSchema])).optional(),
});
type Look = z.infer<typeof lookSchema>;

export function loadTheme(name: string, sources: Readonly<Record<string, string>>): LoadedTheme {
	const read = readInherited(name, 'themes', sources, schema);
	if (!read.ok) return read;
	const problems: Problem[] = [];
	// All palettes first: a heir that only changes colours changes them in the tokens it inherits.
	const palette = new Map(read.layers.flatMap(({ value }) => Object.entries(value.palette ?? {})));
	const names = [...palette.keys(), ...ANSI_NAMES, 'default'];
	const styles = new Map<Token, Style>();
	for (const { source, value, locate } of read.layers) {
		for (const [token, given] of Object.entries(value.tokens ?? {})) {
			const look: Look = typeof given === 'string' ? { fg: given } : given;
			for (const ground of ['fg', 'bg'] as const) {
				const colour = look[ground];
				if (colour === undefined || HEX.test(colour) || names.includes(colour)) continue;
				const path = typeof given === 'string' ? ['tokens', token] : ['tokens', token, ground];
				const message = `unknown colour ${JSON.stringify(colour)}${didYouMean(colour, names)}`;
				problems.push({ source, ...locate(path), path: path.join('.'), message });
			}
			styles.set(token, styleFrom(look, palette));
		}
	}
	const own = read.layers.at(-1);
	for (const token of TOKENS) {
		if (own && lookUp(styles, token) === undefined) {
			problems.push({
				source: own.source,
				...own.locate(['tokens']),
				path: 'tokens',
				message: `token ${token} has no look`,
			});
		}
	}
	if (problems.length > 0) return { ok: false, problems };
	return { ok: true, theme: { name: own?.value.name ?? name, styles } };
}

function styleFrom({ fg, bg, mono, ...rest }: Look, palette: ReadonlyMap<string, string>): Style {
	return {
		...given(rest),
		...(fg === undefined ? {} : { fg: palette.get(fg) ?? fg }),
		...(bg === undefined ? {} : { bg: palette.get(bg) ?? bg }),
		...(mono === undefined ? {} : { mono: given(mono) }),
	};
}

function given(of: Readonly<Record<string, boolean | undefined>>): Attributes {
	return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined));
}

function lookUp(styles: ReadonlyMap<Token, Style>, token: Token): Style | undefined {
	for (let name = token; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
		const style = styles.get(name);
		if (style) return style;
	}
	return undefined;
}

/** `ui.text.focus` falls back to `ui.text`, then `ui`, then the terminal's own look. Over a base only what it names. */
export function resolve(theme: Theme, token: Token, base?: Token): Style {
	const over = lookUp(theme.styles, token) ?? {};
	const under = base === undefined ? undefined : lookUp(theme.styles, base);
	if (!under) return over;
	return { ...under, ...over, ...(under.mono || over.mono ? { mono: { ...under.mono, ...over.mono } } : {}) };
}

/** What the compositor asks for. */
export const styleOf =
	(theme: Theme, depth: Depth): StyleOf =>
	(token, base) =>
		sgrOf(resolve(theme, token, base), depth);
