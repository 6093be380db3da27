import type { Client, ClientChannel } from 'ssh2';
import { type Failure, failure } from '../domain/failure.ts';

/** Outcome of a remote command. `code` null: it was sent, and nobody knows how it ended (the connection was lost). */
export type ExecOutcome =
	| { readonly sent: false; readonly failure: Failure }
	| { readonly sent: true; readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Output of an action beyond this (characters) is of no use to anybody. */
const MOST = 64 * 1024;

/**
 * Opens a channel with a command. `attach` is called before anything can have arrived on it: the exit status may come in the
 * same packet as the acceptance, and an event without a listener is lost.
 */
export const openChannel = (client: Client, command: string, attach: (channel: ClientChannel) => void): Promise<void> =>
	new Promise((resolve, reject) => {
		client.exec(command, (error, channel) => {
			if (error) return reject(error);
			attach(channel);
			resolve();
		});
	});

/** Runs one command on its own channel. Never rejects. After `timeoutMs` it counts as sent with an unknown end. */
export const execOn = (client: Client, host: string, command: string, timeoutMs: number): Promise<ExecOutcome> =>
	new Promise((resolve) => {
		let stdout = '';
		let stderr = '';
		let code: number | null = null;
		let timer: NodeJS.Timeout | undefined;
		const attach = (channel: ClientChannel): void => {
			timer = setTimeout(() => {
				channel.close();
				end();
			}, timeoutMs);
			channel.setEncoding('utf8');
			channel.stderr.setEncoding('utf8');
			channel.on('data', (text: string) => {
				if (stdout.length < MOST) stdout += text;
			});
			channel.stderr.on('data', (text: string) => {
				if (stderr.length < MOST) stderr += text;
			});
			channel.on('exit', (value: number | null | undefined) => {
				code = value ?? null;
			});
			channel.on('error', () => {});
			channel.on('close', end);
			channel.end();
		};
		const end = (): void => {
			clearTimeout(timer);
			resolve({ sent: true, code, stdout, stderr });
		};
		openChannel(client, command, attach).catch((error: unknown) => {
			const cause = error instanceof Error ? error.message : String(error);
			// Only a refused channel is sure not to have carried the command; a connection that died on the way may have.
			if (!/open failure|unable to exec|not connected/i.test(cause)) return end();
			const hint = 'Nothing was sent; try again. A MaxSessions of 1 in its sshd_config allows no second channel';
			resolve({ sent: false, failure: failure('lost', `${host}: no channel for the command (${cause})`, hint) });
		});
	});
