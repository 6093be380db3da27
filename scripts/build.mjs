// One executable bundle, dist/sparkdeck.mjs. Why a bundle: Ink imports hundreds of small files, and the first frame
// came in 535 ms unbundled against 280 ms bundled. ssh2 and execa are imported dynamically, so they are evaluated only
// when a host is opened and the first frame does not wait for them.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const root = new URL('..', import.meta.url);
const at = (path) => new URL(path, root).pathname;
const version = JSON.parse(readFileSync(at('package.json'), 'utf8')).version;

const empty = 'export default {}; export const initialize = () => {}; export const connectToDevTools = () => {};';
const plugin = {
	name: 'sparkdeck',
	setup({ onResolve, onLoad }) {
		// Ink's optional development tools; never used in production.
		onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'empty', namespace: 'empty' }));
		// ssh2 tries its optional native parts in a try block and falls back to JavaScript.
		onResolve({ filter: /(sshcrypto\.node|^cpu-features)$/ }, () => ({ path: 'missing', namespace: 'missing' }));
		onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: empty, loader: 'js' }));
		onLoad({ filter: /.*/, namespace: 'missing' }, () => ({
			contents: 'throw new Error("not bundled")',
			loader: 'js',
		}));
		// yoga loads its wasm with fetch(data:…), which makes Node load undici (70 ms); without fetch it decodes by itself.
		onLoad({ filter: /yoga-layout[\\/]dist[\\/].*\.js$/ }, async ({ path }) => ({
			contents: `const fetch = undefined;\n${readFileSync(path, 'utf8')}`,
			loader: 'js',
		}));
		// Data files and the remote probe travel inside the bundle.
		onResolve({ filter: /\.(yaml|py)$/ }, ({ path, resolveDir }) => ({
			path: new URL(path, `file://${resolveDir}/`).pathname,
			namespace: 'text',
		}));
		onLoad({ filter: /.*/, namespace: 'text' }, ({ path }) => ({
			contents: readFileSync(path, 'utf8'),
			loader: 'text',
		}));
	},
};

rmSync(at('dist'), { recursive: true, force: true });
mkdirSync(at('dist'), { recursive: true });
// Runs before anything else in the bundle, in syntax that an old Node can parse.
const banner = `#!/usr/bin/env node
import {createRequire as __createRequire} from 'node:module';
import {fileURLToPath as __toPath} from 'node:url';
const __node = process.versions.node.split('.').map(Number);
if (__node[0] < 22 || (__node[0] === 22 && __node[1] < 12)) {
	process.stderr.write('sparkdeck needs Node 22.12 or newer; this is Node ' + process.versions.node + ' (' + process.execPath + ').\\n');
	process.exit(1);
}
// For the CommonJS packages in the bundle (ssh2's wasm asks for its folder).
const require = __createRequire(import.meta.url), __filename = __toPath(import.meta.url), __dirname = __toPath(new URL('.', import.meta.url));`;
const { metafile } = await build({
	entryPoints: [at('src/main.tsx')],
	outfile: at('dist/sparkdeck.mjs'),
	bundle: true,
	platform: 'node',
	format: 'esm',
	// Lower than the Node that is needed, so that an older one can parse the file far enough to say so.
	target: 'node18',
	jsx: 'automatic',
	minify: true,
	legalComments: 'none',
	metafile: true,
	logLevel: 'warning',
	supported: { 'top-level-await': true },
	define: {
		'process.env.NODE_ENV': '"production"',
		'process.env.DEV': '"false"',
		__VERSION__: JSON.stringify(version),
	},
	banner: { js: banner },
	plugins: [plugin],
});
chmodSync(at('dist/sparkdeck.mjs'), 0o755);
if (process.argv.includes('--meta')) writeFileSync(at('dist/meta.json'), JSON.stringify(metafile));
