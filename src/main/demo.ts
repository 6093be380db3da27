import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Keymap } from '../commands/keymap.ts';
import type { HostSettings } from '../domain/host.ts';
import type { Theme } from '../screen/theme/theme.ts';
import { runConsole } from './console.tsx';

/** The pair's hosts, as its own config.yaml names them; a test holds the two together. */
export const DEMO_HOSTS: readonly HostSettings[] = [
	{ name: 'spark-1a32', role: 'head', keep: [] },
	{ name: 'spark-5be3', role: 'secondary', keep: ['vllm-embeddings.service'] },
];

export type DemoOptions = {
	readonly speed: number;
	/** Says on the screen that this is the demo, and why. */
	readonly notice: string;
	readonly theme: Theme;
	readonly keymap: Keymap;
	readonly readOnly: boolean;
};

/** The console on the embedded pair, over real SSH on the loopback. Its files and its journal vanish with it. */
export const runDemo = async ({ speed, ...options }: DemoOptions): Promise<number> => {
	const folder = await mkdtemp(join(tmpdir(), 'sparkdeck-demo-'));
	// At any end, also by a signal: keys of the pair must not lie about.
	process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
	return runConsole({
		...options,
		title: 'demo pair',
		settings: { sshConfig: null, hosts: DEMO_HOSTS, theme: '', keymap: '', periodSeconds: 1 },
		configFile: folder,
		stateFolder: folder,
		asking: Promise.resolve([]),
		prepare: async () => {
			const { startDemo } = await import('./late.ts');
			const demo = await startDemo({ dir: folder, speed });
			return { sshConfig: join(folder, 'ssh_config'), end: () => demo.stop() };
		},
	});
};
