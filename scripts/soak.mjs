// Runs the part of the program that observes for a while and checks every frame: the statement closes to the byte.
//   node scripts/soak.mjs --config FILE --seconds 600        hosts of a configuration (the lab)
//   node scripts/soak.mjs --seconds 600                      a demo pair, in which services are stopped and started
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { commonJs, define, plugin } from './bundle.mjs';

const option = (name, fallback) => {
	const at = process.argv.indexOf(name);
	return at < 0 ? fallback : process.argv[at + 1];
};
const seconds = Number(option('--seconds', '600'));
const folder = mkdtempSync(join(tmpdir(), 'sparkdeck-soak-'));
const entry = new URL('soakEntry.ts', import.meta.url).pathname;
await build({
	entryPoints: [entry],
	outfile: join(folder, 'soak.mjs'),
	bundle: true,
	platform: 'node',
	format: 'esm',
	target: 'node22',
	logLevel: 'warning',
	supported: { 'top-level-await': true },
	define: define('soak'),
	banner: { js: commonJs },
	plugins: [plugin],
});
let config = option('--config', null);
let demo = null;
if (config === null) {
	const program = new URL('../dist/sparkdeck.mjs', import.meta.url).pathname;
	demo = spawn(process.execPath, [program, 'demo', '--serve', folder], { stdio: ['pipe', 'pipe', 'inherit'] });
	await new Promise((resolve) => createInterface({ input: demo.stdout }).once('line', resolve));
	config = join(folder, 'config.yaml');
}
const child = spawn(process.execPath, [join(folder, 'soak.mjs'), config, String(seconds), demo ? 'stir' : 'look'], {
	stdio: 'inherit',
});
const code = await new Promise((resolve) => child.on('close', resolve));
demo?.kill('SIGTERM');
rmSync(folder, { recursive: true, force: true });
process.exit(code ?? 1);
