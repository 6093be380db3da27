import type { Client, ClientChannel } from 'ssh2';
import { type Failure, failure } from '../domain/failure.ts';

/** Outcome of a remote command. `code` null: it was sent, and nobody knows how it ended (the connection was lost). */
export type ExecOutcome =
	| { readonly sent: false; readonly failure: Failure }
	| { readonly sent: true; readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Output of an action beyond this (characters) is of no use to anybody. */
const MOST = 64 * 1024;

export const openChannel = (client: Client, command: string): Promise<ClientChannel> =>
	new Promise((resolve, reject) => {
		client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel)));
	});

/** Runs one command on its own channel. Never rejects. After `timeoutMs` it counts as sent with an unknown end. */
export const execOn = async (
	client: Client,
	host: string,
	command: string,
	timeoutMs: number,
): Promise<ExecOutcome> => {
	let channel: ClientChannel;
	try {
		channel = await openChannel(client, command);
	} catch (error) {
		const cause = error instanceof Error ? error.message : String(error);
		return {
			sent: false,
			failure: failure('lost', `${host}: no channel for the command (${cause})`, 'Nothing was sent; try again'),
		};
	}
	return new Promise((resolve) => {
		let stdout = '';
		let stderr = '';
		let code: number | null = null;
		const end = (): void => {
			clearTimeout(timer);
			resolve({ sent: true, code, stdout, stderr });
		};
		const timer = setTimeout(() => {
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
	});
};
