import { Command, CommanderError, InvalidArgumentError } from 'commander';
import type { Failure } from '../domain/failure.ts';

/** Exit codes: 0 done, 1 this program can't run here, 2 bad usage or configuration, 3 a host could not be read. */
const BAD = 2;

const positive = (text: string): number => {
	const value = Number(text);
	if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('must be a number above 0');
	return value;
};

/** Bounded, so that a slip of the finger is an answer at once, and not a command that seems to hang. */
const seconds = (text: string): number => {
	const value = Number(text);
	if (text.trim() === '' || !(value >= 1 && value <= 3600)) {
		throw new InvalidArgumentError('must be a number of seconds from 1 to 3600.');
	}
	return value;
};

const say = (failure: Failure): number => {
	process.stderr.write(`sparkdeck: ${failure.cause}\n${failure.hint}\n`);
	return BAD;
};

type Shared = { readonly config?: string };

/** Reads the arguments and runs what they ask for; returns the exit code. Each command loads only what it needs. */
export const run = async (args: readonly string[]): Promise<number> => {
	let code = 0;
	const program = new Command('sparkdeck')
		.description('Console for large models on a pair of NVIDIA DGX Sparks')
		.version(__VERSION__)
		.option('--config <file>', 'configuration instead of the default one')
		.option('--theme <name>', 'theme for this run')
		.option('--keymap <name>', 'keymap for this run')
		.option('--read-only', 'only look: nothing can be stopped or started')
		.exitOverride()
		.configureOutput({ writeErr: (text) => process.stderr.write(text) })
		.action(async (options: Shared & Looks) => {
			code = await startConsole(options);
		});
	program
		.command('status')
		.description('print one observation of all hosts; exit code 3 if one can’t be read completely')
		.option('--json', 'as JSON')
		.option('--timeout <seconds>', 'how long it may take, 1 to 3600', seconds)
		.action(async (options: { json?: boolean; timeout?: number }) => {
			const { config } = program.opts<Shared>();
			const { loadSettings } = await import('./files.ts');
			const loaded = loadSettings(config ?? null);
			if (!loaded.ok) code = say(loaded.failure);
			else if (loaded.value === null) code = say(nothingConfigured);
			else {
				const { runStatus } = await import('./status.ts');
				const timeoutMs = options.timeout === undefined ? {} : { timeoutMs: options.timeout * 1000 };
				code = await runStatus(loaded.value.settings, { json: options.json === true, ...timeoutMs });
			}
		});
	program
		.command('demo')
		.description('the console on two simulated Sparks')
		.option('--serve <folder>', 'only run the pair, and write into the folder how to reach it')
		.option('--speed <factor>', 'scale its time', positive, 1)
		.action(async (options: { serve?: string; speed: number }) => {
			if (options.serve !== undefined) {
				const { serveDemo } = await import('./late.ts');
				await serveDemo({ dir: options.serve, speed: options.speed });
			} else {
				const { runDemo } = await import('./demo.ts');
				code = await openIn(
					(looks) => runDemo({ ...looks, speed: options.speed, notice: 'These are simulated machines, the demo pair' }),
					program.opts<Looks>(),
				);
			}
		});
	try {
		await program.parseAsync([...args], { from: 'user' });
	} catch (error) {
		if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : BAD;
		throw error;
	}
	return code;
};

type Looks = { readonly theme?: string; readonly keymap?: string; readonly readOnly?: boolean };

const nothingConfigured: Failure = {
	kind: 'config',
	cause: 'no hosts are configured',
	hint: 'Write ~/.config/sparkdeck/config.yaml (hosts: [your-ssh-alias]), name one with --config, or try: sparkdeck demo',
};

const startConsole = async (options: Shared & Looks): Promise<number> => {
	const { loadSettings, stateFolder, configFolder } = await import('./files.ts');
	const loaded = loadSettings(options.config ?? null);
	if (!loaded.ok) return say(loaded.failure);
	if (loaded.value === null) {
		const { runDemo } = await import('./demo.ts');
		const folder = configFolder().replace(process.env['HOME'] ?? '\0', '~');
		const notice = `These are simulated machines, the demo pair: there is no configuration in ${folder}`;
		return openIn((looks) => runDemo({ ...looks, speed: 1, notice }), options);
	}
	const { settings, file } = loaded.value;
	// Begun now, so that ssh resolves the hosts while the screen is being loaded.
	const asking = import('../hosts/ahead.ts')
		.then(({ hostsThatAsk }) => hostsThatAsk(settings.hosts, settings.sshConfig))
		// Whatever is wrong there, the sessions meet it again and say so.
		.catch(() => []);
	return openIn(
		async (looks) => {
			const { runConsole } = await import('./console.tsx');
			return runConsole({
				...looks,
				settings,
				configFile: file,
				stateFolder: stateFolder(),
				asking,
				title: `${settings.hosts.length} ${settings.hosts.length === 1 ? 'host' : 'hosts'}`,
				prepare: async () => ({ sshConfig: settings.sshConfig, end: async () => {} }),
			});
		},
		{ theme: settings.theme, keymap: settings.keymap, ...options },
	);
};

/** Checks that there is a terminal to draw on, and loads theme and keys before anything is drawn. */
const openIn = async (
	open: (looks: {
		theme: import('../screen/theme/theme.ts').Theme;
		keymap: import('../commands/keymap.ts').Keymap;
		readOnly: boolean;
	}) => Promise<number>,
	options: Looks,
): Promise<number> => {
	if (!process.stdin.isTTY || !process.stdout.isTTY || process.env['TERM'] === 'dumb') {
		const what =
			process.env['TERM'] === 'dumb' ? 'a terminal that can move its cursor (TERM=dumb can’t)' : 'a terminal';
		process.stderr.write(`sparkdeck: the console needs ${what}. For scripts and pipes: sparkdeck status --json\n`);
		return BAD;
	}
	const { keymapNamed, themeNamed } = await import('./looks.ts');
	const theme = themeNamed(options.theme ?? 'dark');
	if (!theme.ok) return say(theme.failure);
	const keymap = keymapNamed(options.keymap ?? 'default');
	if (!keymap.ok) return say(keymap.failure);
	return open({ theme: theme.value, keymap: keymap.value, readOnly: options.readOnly === true });
};
