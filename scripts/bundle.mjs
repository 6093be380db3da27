// What every bundle of this program needs: shared by the build and by scripts that run parts of it.
import { readFileSync } from 'node:fs';

const empty = 'export default {}; export const initialize = () => {}; export const connectToDevTools = () => {};';
export const plugin = {
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

// For the CommonJS packages in a bundle (ssh2's wasm asks for its folder).
export const commonJs = `import {createRequire as __createRequire} from 'node:module';
import {fileURLToPath as __toPath} from 'node:url';
const require = __createRequire(import.meta.url), __filename = __toPath(import.meta.url), __dirname = __toPath(new URL('.', import.meta.url));`;

export const define = (version) => ({
	'process.env.NODE_ENV': '"production"',
	'process.env.DEV': '"false"',
	__VERSION__: JSON.stringify(version),
});
