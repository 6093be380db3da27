import { randomBytes } from 'node:crypto';
import { render } from 'ink';
import type { Intent } from '../commands/command.ts';
import type { Keymap } from '../commands/keymap.ts';
import type { Settings } from '../config/settings.ts';
import type { Ahead, Hosts } from '../hosts/index.ts';
import { now } from '../hosts/now.ts';
import { App } from '../screen/App.tsx';
import { Compositor } from '../screen/frame/compositor.ts';
import { depthOf } from '../screen/frame/style.ts';
import { sanitize } from '../screen/frame/width.ts';
import { PaneProvider } from '../screen/Pane.tsx';
import { styleOf, type Theme } from '../screen/theme/theme.ts';
import type { Event } from '../store/events.ts';
import { initialState } from '../store/state.ts';
import { createConsoleStore } from '../store/store.ts';
import { createQuestions } from './questions.ts';
import type { Records } from './records.ts';
import { guardTerminal } from './terminal.ts';

export type ConsoleOptions = {
	readonly settings: Settings;
	/** Identity of the configuration, for the journal. */
	readonly configFile: string;
	readonly stateFolder: string;
	readonly title: string;
	readonly theme: Theme;
	readonly keymap: Keymap;
	/** Said on the screen at the start. */
	readonly notice?: string;
	readonly readOnly: boolean;
	/** Hosts that will ask for something: they are connected to before anything is drawn. */
	readonly asking: Promise<readonly string[]>;
	/** Done after the first frame and before the hosts are opened, such as starting the demo pair; returns its end. */
	readonly prepare: () => Promise<{ sshConfig: string | null; end: () => Promise<void> }>;
};

/** Facts that come within this time (ms) of each other are drawn together; keys are drawn at once. */
const COALESCE = 80;

const ONLY_LOOKS = 'This console only looks (--read-only)';

/** As ssh: host keys, passphrases and passwords are asked for on the plain terminal, where a person expects them. */
const askAhead = async (names: readonly string[], { hosts, sshConfig }: Settings): Promise<Ahead | null> => {
	if (names.length === 0) return null;
	const [{ connectAhead }, { askOnTerminal }] = await Promise.all([import('./late.ts'), import('./askTerminal.ts')]);
	const say = (line: string): void => void process.stderr.write(`${sanitize(line)}\n`);
	return connectAhead(names, hosts, sshConfig, askOnTerminal, say);
};

/** The full-screen console. Resolves with the exit code after the terminal is restored. */
export const runConsole = async (options: ConsoleOptions): Promise<number> => {
	const { settings, theme, keymap } = options;
	const { stdout } = process;
	const ahead = await askAhead(await options.asking, settings);
	const store = createConsoleStore(
		initialState(settings.hosts, options.title, now(), options.readOnly ? ONLY_LOOKS : null),
	);
	if (options.notice) store.dispatch({ type: 'notice', text: options.notice, failure: null });
	const compositor = new Compositor({
		columns: stdout.columns || 80,
		rows: stdout.rows || 24,
		style: styleOf(theme, depthOf(process.env, true)),
		write: (bytes) => {
			stdout.write(bytes);
		},
	});

	const questions = createQuestions((event) => store.dispatch(event));
	let queued: Event[] = [];
	let timer: NodeJS.Timeout | null = null;
	const flush = (): void => {
		timer = null;
		const events = queued;
		queued = [];
		store.dispatch({ type: 'clock', now: now(), wall: Date.now() }, ...events);
	};
	const later = (event: Event): void => {
		queued.push(event);
		timer ??= setTimeout(flush, COALESCE);
	};
	const clock = setInterval(() => {
		if (timer === null && now() - store.get().now > 900) flush();
	}, 500);

	let hosts: Hosts | null = null;
	let quit: (code: number) => void = () => {};
	let records: Records | null = null;

	const onIntent = (intent: Intent): void => {
		switch (intent.type) {
			case 'event':
				store.dispatch(intent.event);
				return;
			case 'execute':
				// Before the journal is open no host has been seen, so that there is nothing yet to make a plan for.
				void records?.run(intent.plan);
				return;
			case 'answer':
				questions.answer(intent.question, intent.answers);
				return;
			case 'retry':
				hosts?.retry(intent.host);
				return;
			case 'redraw':
				compositor.invalidate();
				compositor.flush();
				return;
			case 'quit':
				quit(0);
		}
	};
	const onResize = (columns: number, rows: number): void => {
		compositor.resize(columns, rows);
		compositor.schedule();
	};

	const terminal = guardTerminal(compositor, (code) => quit(code));
	const app = render(
		<PaneProvider mode="compositor" compositor={compositor}>
			<App store={store} keymap={keymap} onIntent={onIntent} onResize={onResize} />
		</PaneProvider>,
		// `interactive`: the variable CI in somebody's environment must not make the screen stay empty.
		{ alternateScreen: true, interactive: true, exitOnCtrlC: false, patchConsole: false },
	);
	const ended = new Promise<number>((resolve, reject) => {
		quit = resolve;
		// Ink ends by itself when drawing throws; without this the program would go on without a screen.
		app.waitUntilExit().then(() => resolve(0), reject);
	});
	// Handled below; until then a fault at the first frame must not count as nobody's.
	ended.catch(() => {});

	await app.waitUntilRenderFlush();
	let prepared: Awaited<ReturnType<ConsoleOptions['prepare']>> | null = null;
	// Whatever goes wrong from here on is told after the terminal was given back.
	try {
		prepared = await options.prepare();
		// Loaded only now: the schemas of the journal would hold up the first frame.
		const { openHosts, openRecords } = await import('./late.ts');
		const kept = openRecords({
			folder: options.stateFolder,
			config: options.configFile,
			changed: (operation) => later({ type: 'operation', operation }),
			userOf: (name) => store.get().hosts.find((host) => host.settings.name === name)?.seen?.identity.user ?? '',
			hosts: {
				exec: async (host, line, timeoutMs) => {
					if (hosts) return hosts.exec(host, line, timeoutMs);
					const failure = { kind: 'lost', cause: `${host} is not connected`, hint: 'Nothing was sent' } as const;
					return { sent: false, failure };
				},
				watch: (host, manager, unit) => hosts?.watch(host, manager, unit),
			},
			newId: () => randomBytes(6).toString('hex'),
		});
		records = kept;
		store.dispatch(...(await kept.open()));
		hosts = openHosts(
			settings.hosts,
			{
				sshConfig: prepared.sshConfig,
				periodSeconds: settings.periodSeconds,
				ask: questions.ask,
				...(ahead && { ahead }),
			},
			{
				link: (host, link) => later({ type: 'link', host, link }),
				observed: (observation) => {
					later({ type: 'observed', observation });
					// Operations look at every frame, also at those that are not drawn.
					kept.observe(observation, settings.hosts);
				},
			},
		);
		await kept.adopt();
		return await ended;
	} finally {
		clearInterval(clock);
		if (timer) clearTimeout(timer);
		app.unmount();
		terminal.restore();
		hosts?.close();
		await Promise.all([records?.close(), prepared?.end()]);
	}
};
