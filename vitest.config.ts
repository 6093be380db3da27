import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vitest/config';

// FORCE_COLOR: ink's chalk must colour also without a TTY, or no test could look at colours.
const env = { FORCE_COLOR: '3', TZ: 'UTC' };

// The same text imports as in scripts/build.mjs.
const texts = (): Plugin => ({
	name: 'texts',
	enforce: 'pre',
	load: (id) => (/\.(yaml|py)$/.test(id) ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))}` : null),
});
const plugins = [texts()];
const define = { __VERSION__: '"test"' };

export default defineConfig({
	test: {
		reporters: ['default', './test/closing-line.ts'],
		projects: [
			{
				plugins,
				define,
				test: { name: 'unit', include: ['test/**/*.test.{ts,tsx}'], exclude: ['test/console/**', 'test/lab/**'], env },
			},
			{
				plugins,
				define,
				test: {
					name: 'console',
					include: ['test/console/**/*.test.ts'],
					env,
					testTimeout: 60_000,
					hookTimeout: 60_000,
					maxWorkers: 2,
				},
			},
			{
				plugins,
				define,
				test: {
					name: 'lab',
					include: ['test/lab/**/*.test.ts'],
					env,
					testTimeout: 120_000,
					hookTimeout: 300_000,
					// The lab is one pair of hosts: files take turns.
					fileParallelism: false,
				},
			},
		],
	},
});
