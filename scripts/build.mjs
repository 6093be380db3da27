// One executable bundle, dist/sparkdeck.mjs. Why a bundle: Ink imports hundreds of small files, and the first frame
// came in 535 ms unbundled against 280 ms bundled. ssh2 and execa are imported dynamically, so they are evaluated only
// when a host is opened and the first frame does not wait for them.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import { commonJs, define, plugin } from './bundle.mjs';

const root = new URL('..', import.meta.url);
const at = (path) => new URL(path, root).pathname;
const version = JSON.parse(readFileSync(at('package.json'), 'utf8')).version;

rmSync(at('dist'), { recursive: true, force: true });
mkdirSync(at('dist'), { recursive: true });
// Runs before anything else in the bundle, in syntax that an old Node can parse.
const banner = `#!/usr/bin/env node
const __node = process.versions.node.split('.').map(Number);
if (__node[0] < 22 || (__node[0] === 22 && __node[1] < 12)) {
	process.stderr.write('sparkdeck needs Node 22.12 or newer; this is Node ' + process.versions.node + ' (' + process.execPath + ').\\n');
	process.exit(1);
}
${commonJs}`;
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
	define: define(version),
	banner: { js: banner },
	plugins: [plugin],
});
chmodSync(at('dist/sparkdeck.mjs'), 0o755);
if (process.argv.includes('--meta')) writeFileSync(at('dist/meta.json'), JSON.stringify(metafile));
