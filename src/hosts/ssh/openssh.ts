import { existsSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { type Failure, failure } from '../../domain/failure.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { startAskpass } from './askpass.ts';
import type { SshTarget } from './config.ts';
import { refusedForward } from './explain.ts';
import { readPaced } from './flow.ts';
import { type LoginOptions, startLogin } from './login.ts';
import { withinSessions } from './sessions.ts';
import type { Channel, ChannelEnd, ChannelEvents, Connection } from './transport.ts';

/** How often (ms) it is looked whether the master has its socket, which it makes once it is logged in. */
const LOOK_EVERY = 40;
/** Without an answer for this long (s, times) ssh itself gives the connection up, where the user says nothing of it. */
const ALIVE = { intervalMs: 2000, count: 14 };

/**
 * Runs the master and ends it when we are gone, whatever way: a killed console closes the pipe that this shell reads. Its
 * children get no input of ours; and no session of the host is spent on it. The folder goes with it.
 */
const KEEPER =
	'd=$1; shift; exec 3<&0; "$@" </dev/null 3<&- & m=$!; ( while read -r x <&3; do :; done; kill "$m" ) 2>/dev/null & k=$!; wait "$m"; c=$?; kill "$k" 2>/dev/null; rm -rf -- "$d"; exit "$c"';

/** How long (ms) a forward without a word may take to be refused; then it counts as open. */
const FORWARD_GRACE = 2000;

/** Nothing of the user's configuration that would do more than connect. */
const ONLY_CONNECT = [
	'ClearAllForwardings=yes',
	'PermitLocalCommand=no',
	'RemoteCommand=none',
	'ForwardX11=no',
	'EscapeChar=none',
	'LogLevel=INFO',
	'ControlPersist=no',
];

/**
 * One connection by the system's own ssh: a master with its socket in a private folder, and one `ssh` for each channel over
 * it. For what ssh2 can't do; it costs a process for each channel.
 */
export const connectOpenssh = async (target: SshTarget, options: LoginOptions): Promise<Result<Connection>> => {
	const { configFile } = options;
	const { execa } = await import('execa');
	const folder = await mkdtemp(join(process.env['XDG_RUNTIME_DIR'] ?? tmpdir(), 'sparkdeck-ssh-'));
	const socket = join(folder, 's');
	const tidy = (): void => rmSync(folder, { recursive: true, force: true });
	process.once('exit', tidy);
	const login = startLogin(target, options, () => master.stdin.end());
	const askpass = await startAskpass(folder, login.answer);
	const alive = target.alive ?? ALIVE;
	const common = [...(configFile === null ? [] : ['-F', configFile]), '-T', '-S', socket];
	const asOptions = (list: readonly string[]): string[] => list.flatMap((one) => ['-o', one]);
	const master = execa(
		'sh',
		[
			'-c',
			KEEPER,
			'sparkdeck',
			folder,
			'ssh',
			...common,
			'-M',
			'-N',
			...asOptions([
				...ONLY_CONNECT,
				...(target.batch ? ['BatchMode=yes'] : []),
				`ConnectTimeout=${Math.ceil(target.connectTimeoutMs / 1000)}`,
				`ServerAliveInterval=${Math.ceil(alive.intervalMs / 1000)}`,
				`ServerAliveCountMax=${alive.count}`,
			]),
			'--',
			target.alias,
		],
		{
			...{ stdin: 'pipe', stdout: 'ignore', stderr: 'pipe', buffer: false, reject: false },
			// A session of its own: with our terminal as its own it might ask there.
			detached: true,
			env: { LC_ALL: 'C', ...askpass.env },
		},
	);
	let said = '';
	master.stderr.setEncoding('utf8');
	master.stderr.on('data', (text: string) => {
		said = (said + text).slice(-4000);
	});
	master.stdin.on('error', () => {});
	let given = false;
	const lost = master.then((): Failure => {
		process.off('exit', tidy);
		login.end();
		askpass.close();
		tidy();
		if (given) return failure('lost', `The connection to ${target.alias} was given up`, 'It is tried again by itself');
		return login.explain(said);
	});
	const close = (): void => {
		given = true;
		master.stdin.end();
	};
	const ready = await isReady(socket, lost);
	login.end();
	if (!ready) return fail(await lost);
	login.accepted();
	askpass.close();

	/**
	 * A client of the master. Where the socket is gone it must fail: by itself it would silently open a connection of its own
	 * (ssh(1) does, when it finds no master), and ProxyCommand=false makes that impossible.
	 */
	const client = (options: readonly string[], rest: readonly string[]) =>
		execa(
			'ssh',
			[
				...common,
				...asOptions([...ONLY_CONNECT, 'ControlMaster=no', 'BatchMode=yes', 'ProxyCommand=false']),
				...options,
				'--',
				target.alias,
				...rest,
			],
			{ stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', buffer: false, reject: false, env: { LC_ALL: 'C' } },
		);

	const open = (command: string, on: ChannelEvents): Channel => {
		const child = client([], [command]);
		let complaint = '';
		let closed = false;
		child.stdin.on('error', () => {});
		readPaced(child.stdout, on.stdout);
		readPaced(child.stderr, (text) => {
			complaint = (complaint + text).slice(-2000);
			on.stderr(text);
		});
		const drained = Promise.all([ended(child.stdout), ended(child.stderr)]);
		void Promise.all([child, drained]).then(([result]) => on.closed(endOf(result.exitCode, complaint, closed)));
		return {
			write: (text) => {
				child.stdin.write(text);
			},
			end: () => {
				child.stdin.end();
			},
			close: () => {
				closed = true;
				child.kill();
			},
		};
	};
	const budget = withinSessions(open);
	return ok({
		transport: 'openssh',
		open: budget.open,
		sessionLimit: budget.limit,
		forward: async (host, port, timeoutMs) => {
			const before = said.length;
			const child = client(['-W', host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`], []);
			child.stderr.resume();
			const stream: Duplex = child.duplex();
			stream.on('error', () => {});
			if (await isOpen(stream, child, Math.min(timeoutMs, FORWARD_GRACE))) return ok(stream);
			stream.destroy();
			// Why is told by the master, not by the client.
			return fail(refusedForward(target, host, port, said.slice(before).trim() || 'not connected'));
		},
		lost,
		close,
	});
};

/**
 * ssh tells an opened forward by nothing, and a refused one by its end: so it counts as open when the far side has said
 * something, as every sshd does at once, or when it has not ended for a while.
 */
const isOpen = async (stream: Duplex, child: PromiseLike<unknown>, graceMs: number): Promise<boolean> => {
	let tell: (open: boolean) => void = () => {};
	const told = new Promise<boolean>((resolve) => {
		tell = resolve;
	});
	const spoke = (): void => tell(true);
	const timer = setTimeout(spoke, graceMs);
	stream.once('readable', spoke);
	void child.then(() => tell(stream.readableLength > 0));
	const open = await told;
	clearTimeout(timer);
	stream.off('readable', spoke);
	// Only then may the next reader have its data flow.
	await new Promise((resolve) => setImmediate(resolve));
	return open;
};

const ended = (stream: NodeJS.ReadableStream): Promise<void> =>
	new Promise((resolve) => stream.once('close', () => resolve()));

/** 255 is ssh's own failure, and then nobody knows what became of the command, unless it was never sent. */
const endOf = (code: number | undefined, complaint: string, given: boolean): ChannelEnd => {
	if (/session open refused by peer|session request failed/i.test(complaint)) {
		return { kind: 'refused', why: 'session open refused', full: true };
	}
	if (/mux_client|control socket|closed by unknown/i.test(complaint) && code === 255) {
		return { kind: 'refused', why: 'not connected', full: false };
	}
	return code === undefined || code === 255 || given ? { kind: 'unknown' } : { kind: 'exited', code };
};

const isReady = async (socket: string, lost: Promise<unknown>): Promise<boolean> => {
	let over = false;
	void lost.then(() => {
		over = true;
	});
	while (!over && !existsSync(socket)) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY));
	return !over;
};
