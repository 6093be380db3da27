import type { z } from 'zod';
import { didYouMean, type Locate, type Parsed, type Problem, parseYaml } from './yaml.ts';

export type Layer<T> = { readonly source: string; readonly value: T; readonly locate: Locate };

export type Layers<T> =
	| { readonly ok: true; readonly layers: readonly Layer<T>[] }
	| { readonly ok: false; readonly problems: readonly Problem[] };

/** The named text and those it inherits from, ancestors first. `folder` is only how the files are called in problems. */
export function readInherited<T extends { readonly inherits?: string | undefined }>(
	name: string,
	folder: string,
	texts: Readonly<Record<string, string>>,
	schema: z.ZodType<T>,
): Layers<T> {
	const layers: Layer<T>[] = [];
	const seen: string[] = [];
	const sourceOf = (each: string) => `${folder}/${each}.yaml`;
	let next: string | undefined = name;
	while (next !== undefined) {
		const child = layers[0];
		const fail = (message: string): Layers<T> => {
			const { line, column } = child?.locate(['inherits']) ?? { line: 1, column: 1 };
			const problem = { source: child?.source ?? sourceOf(name), line, column, path: child ? 'inherits' : '', message };
			return { ok: false, problems: [problem] };
		};
		if (seen.includes(next)) return fail(`inherits in a circle: ${[...seen, next].join(' -> ')}`);
		const content: string | undefined = Object.hasOwn(texts, next) ? texts[next] : undefined;
		if (content === undefined)
			return fail(`there is no ${JSON.stringify(next)}${didYouMean(next, Object.keys(texts))}`);
		const parsed: Parsed<T> = parseYaml(content, schema, sourceOf(next));
		if (!parsed.ok) return parsed;
		seen.push(next);
		layers.unshift({ source: sourceOf(next), value: parsed.value, locate: parsed.locate });
		next = parsed.value.inherits;
	}
	return { ok: true, layers };
}
