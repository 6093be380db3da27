import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../src');

/** The table of src/README.md: what each layer may import besides itself. */
const MAY: Record<string, readonly string[]> = {
	domain: [],
	config: ['domain'],
	planning: ['domain'],
	operations: ['domain', 'planning'],
	hosts: ['domain'],
	execution: ['domain', 'operations'],
	store: ['domain', 'planning', 'operations'],
	commands: ['config', 'domain', 'planning', 'operations', 'store'],
	screen: ['config', 'domain', 'store', 'commands'],
	cli: ['domain', 'planning', 'store', 'commands'],
	demo: ['domain'],
	main: [
		'domain',
		'config',
		'planning',
		'operations',
		'hosts',
		'execution',
		'store',
		'commands',
		'screen',
		'cli',
		'demo',
	],
	'main.tsx': ['main'],
	'assets.d.ts': [],
};

/** Packages and parts of node that only some layers may touch. */
const ONLY_IN: readonly (readonly [RegExp, readonly string[]])[] = [
	[/^ssh2$/, ['hosts', 'demo']],
	[/^execa$|^node:child_process$/, ['hosts']],
	[/^(ink|react|ink-table)(\/|$)/, ['screen', 'main']],
	[/^node:fs/, ['hosts', 'execution', 'demo', 'main']],
	[/^node:(net|os|crypto)$/, ['hosts', 'demo', 'main']],
	[/^zustand/, ['store', 'screen']],
];

/** Layers without clock, timers or chance: time comes in events. */
const PURE = ['domain', 'config', 'planning', 'operations', 'store', 'commands', 'cli'];
const IMPURE =
	/\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bperformance\.now\(|(?<![.\w])process\.(env|argv|stdout|stdin|stderr|exit|cwd|kill|on|hrtime)\b/;

const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
const layerOf = (file: string): string => file.split('/')[0]!;
const importsOf = (file: string): string[] =>
	[...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((found) => found[1]!);

describe('layers', () => {
	test('every folder of src is in the table', () => {
		expect(new Set(files.map(layerOf))).toEqual(new Set(Object.keys(MAY)));
	});

	test.each(files)('%s imports only what its layer may', (file) => {
		const layer = layerOf(file);
		for (const name of importsOf(file)) {
			if (name.startsWith('.')) {
				if (/\.(yaml|py)$/.test(name)) continue;
				const to = layerOf(relative(root, resolve(root, dirname(file), name)));
				expect([layer, ...(MAY[layer] ?? [])], `${file} imports ${name}`).toContain(to);
			} else {
				for (const [pattern, layers] of ONLY_IN) {
					if (pattern.test(name)) expect(layers, `${file} imports ${name}`).toContain(layer);
				}
			}
		}
	});

	test.each(files.filter((file) => PURE.includes(layerOf(file))))('%s knows no clock and no chance', (file) => {
		const code = readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
		expect(IMPURE.exec(code)?.[0]).toBeUndefined();
	});

	test('there are no cycles', () => {
		const graph = new Map(
			files.map((file) => [
				file,
				importsOf(file)
					.filter((name) => name.startsWith('.'))
					.map((name) => relative(root, resolve(root, dirname(file), name))),
			]),
		);
		const done = new Set<string>();
		const visit = (file: string, path: readonly string[]): void => {
			expect(path, 'a cycle').not.toContain(file);
			if (done.has(file)) return;
			for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
			done.add(file);
		};
		for (const file of files) visit(file, []);
	});

	test('no file is longer than 300 lines', () => {
		for (const file of files) {
			const lines = readFileSync(join(root, file), 'utf8').split('\n').length;
			expect(lines, file).toBeLessThanOrEqual(300);
		}
	});
});
