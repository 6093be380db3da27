// What every bundle of this program needs: shared by the build and by scripts that run parts of it.
import { readFileSync } from 'node:fs';

const empty = 'export default {}; export const initialize = () => {}; export const connectToDevTools = () => {};';
export const plugin = {
	name: 'sparkdeck',
	setup({ onResolve, onLoad, resolve }) {
		// string-width builds its tables of emoji when it is loaded, which takes longer than anything else before the first
		// frame. Nothing drawn then needs them, so the real one comes with the first text that does.
		onResolve({ filter: /^string-width$/ }, async ({ path, resolveDir, kind, pluginData }) => {
			if (pluginData === 'original') return undefined;
			const original = await resolve(path, { resolveDir, kind, pluginData: 'original' });
			return { path: original.path, namespace: 'lazy-width', sideEffects: false };
		});
		onLoad({ filter: /.*/, namespace: 'lazy-width' }, ({ path }) => ({
			contents: `const plain = /^[\\x20-\\x7e]*$/;
				let original;
				export default function stringWidth(text, options) {
					if (typeof text === 'string' && plain.test(text)) return text.length;
					original ??= require(${JSON.stringify(path)}).default;
					return original(text, options);
				}`,
			resolveDir: new URL('..', import.meta.url).pathname,
			loader: 'js',
		}));
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
