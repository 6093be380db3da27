// One executable bundle, dist/sparkdeck.mjs. Why a bundle: Ink imports hundreds of small files, and the first frame
// came in 535 ms unbundled against 280 ms bundled. What the first frame does not need (src/main/late.ts) is packed inside
// it and unpacked when it is asked for: parsing it at the start cost another 30 ms.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { build } from 'esbuild';
import { commonJs, define, plugin } from './bundle.mjs';

const root = new URL('..', import.meta.url);
const at = (path) => new URL(path, root).pathname;
const version = JSON.parse(readFileSync(at('package.json'), 'utf8')).version;

const common = {
	bundle: true,
	platform: 'node',
	format: 'esm',
	jsx: 'automatic',
	minify: true,
	legalComments: 'none',
	metafile: true,
	logLevel: 'warning',
	supported: { 'top-level-await': true },
	define: define(version),
};

// A module of a data: URL has no folder to require from, so it borrows the require of the bundle.
const borrowed = `const require = globalThis[Symbol.for('sparkdeck.require')], __filename = '', __dirname = '/';`;
const late = await build({
	...common,
	entryPoints: [at('src/main/late.ts')],
	write: false,
	target: 'node22.12',
	banner: { js: borrowed },
	plugins: [plugin],
});
const packed = deflateRawSync(late.outputFiles[0].contents, { level: 9 }).toString('base64');
const { exports } = Object.values(late.metafile.outputs)[0];
const unpacking = {
	name: 'late',
	setup({ onResolve, onLoad }) {
		onResolve({ filter: /\/late\.ts$/ }, () => ({ path: 'late', namespace: 'late' }));
		onLoad({ filter: /.*/, namespace: 'late' }, () => ({
			contents: `import { inflateRawSync } from 'node:zlib';
				globalThis[Symbol.for('sparkdeck.require')] = require;
				const text = inflateRawSync(Buffer.from(${JSON.stringify(packed)}, 'base64'));
				const late = await import('data:text/javascript;base64,' + text.toString('base64'));
				export const { ${exports.join(', ')} } = late;`,
			loader: 'js',
		}));
	},
};

// Runs before anything else in the bundle, in syntax that an old Node can parse.
const banner = `#!/usr/bin/env node
const __node = process.versions.node.split('.').map(Number);
if (__node[0] < 22 || (__node[0] === 22 && __node[1] < 12)) {
	process.stderr.write('sparkdeck needs Node 22.12 or newer; this is Node ' + process.versions.node + ' (' + process.execPath + ').\\n');
	process.exit(1);
}
${commonJs}`;
rmSync(at('dist'), { recursive: true, force: true });
mkdirSync(at('dist'), { recursive: true });
const main = await build({
	...common,
	entryPoints: [at('src/main.tsx')],
	outfile: at('dist/sparkdeck.mjs'),
	// Lower than the Node that is needed, so that an older one can parse the file far enough to say so.
	target: 'node18',
	banner: { js: banner },
	plugins: [unpacking, plugin],
});
chmodSync(at('dist/sparkdeck.mjs'), 0o755);
if (process.argv.includes('--meta')) {
	writeFileSync(at('dist/meta.json'), JSON.stringify({ main: main.metafile, late: late.metafile }));
}
