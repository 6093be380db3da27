import type { ServerChannel } from 'ssh2';
import type { Machine } from './machine.ts';
import { python3 } from './probe.ts';
import { type Input, type Program, pause, textInput } from './program.ts';
import { programs } from './programs/index.ts';
import { loginEnvironment, runShell } from './shell.ts';

/** `sh -c SCRIPT [NAME [ARGS…]]` */
const sh: Program = async (call) => {
	const [flag, script, name = call.name, ...args] = call.args;
	if (flag !== '-c' || script === undefined) {
		call.err(`${call.name}: 0: this simulated host only knows: ${call.name} -c SCRIPT [NAME [ARG...]]\n`);
		return 2;
	}
	return runShell(script, { ...call, programs: everything }, call.env, name, args);
};

const everything: ReadonlyMap<string, Program> = new Map([
	...Object.entries(programs),
	['sh', sh],
	['bash', sh],
	['dash', sh],
	['python3', python3],
]);

/** What the client types, as programs read it. */
const channelInput = (channel: ServerChannel): Input => {
	const chunks: Buffer[] = [];
	let ended = false;
	let wake: (() => void) | null = null;
	const end = (): void => {
		ended = true;
		wake?.();
	};
	channel.on('data', (chunk: Buffer) => {
		chunks.push(chunk);
		wake?.();
	});
	channel.on('end', end);
	channel.on('close', end);
	const next = async (): Promise<Buffer | null> => {
		while (chunks.length === 0 && !ended)
			await new Promise<void>((resolve) => {
				wake = resolve;
			});
		return chunks.shift() ?? null;
	};
	return {
		next,
		all: async () => {
			const parts: Buffer[] = [];
			for (let more = await next(); more !== null; more = await next()) parts.push(more);
			return Buffer.concat(parts).toString();
		},
	};
};

/** ms */
const STARTS_AFTER = 3;

/** Runs one exec request on a channel, as sshd has the login shell do it. */
export const runOnChannel = async (machine: Machine, channel: ServerChannel, command: string): Promise<void> => {
	const gone = new AbortController();
	channel.on('close', () => gone.abort());
	channel.on('error', () => gone.abort());
	const input = channelInput(channel);
	const write = (to: { write: (text: string) => unknown }) => (text: string) => {
		if (!gone.signal.aborted && text !== '') to.write(text);
	};
	const session = machine.act((host) => {
		host.nextSession += 1;
		return `/user.slice/user-1000.slice/session-${host.nextSession}.scope`;
	});
	const around = {
		machine,
		root: false,
		input,
		out: write(channel),
		err: write(channel.stderr),
		signal: gone.signal,
		session,
		programs: everything,
	};
	let code: number;
	try {
		// As long as sshd takes to start a shell: no client is used to an exit status in the packet of the acceptance.
		await pause(STARTS_AFTER, gone.signal);
		code = await runShell(command, around, loginEnvironment(machine));
	} catch (error) {
		// A fault of the simulation must not look like an answer of the host.
		around.err(`simulated host: ${error instanceof Error ? error.stack : error}\n`);
		code = 70;
	}
	if (gone.signal.aborted) return;
	channel.exit(code);
	channel.end();
};

/** One command without a channel: its outcome. For tests and for whoever wants to ask a simulated host. */
export const runOnce = async (
	machine: Machine,
	command: string,
	stdin = '',
): Promise<{ code: number; out: string; err: string }> => {
	let out = '';
	let err = '';
	const around = {
		machine,
		root: false,
		input: textInput(stdin),
		out: (text: string): void => {
			out += text;
		},
		err: (text: string): void => {
			err += text;
		},
		signal: new AbortController().signal,
		session: '/user.slice/user-1000.slice/session-3.scope',
		programs: everything,
	};
	const code = await runShell(command, around, loginEnvironment(machine));
	return { code, out, err };
};
