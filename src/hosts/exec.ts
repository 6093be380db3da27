import { type Failure, failure } from '../domain/failure.ts';
import type { ChannelEnd, OpenChannel } from './ssh/transport.ts';

/** Outcome of a remote command. `code` null: it was sent, and nobody knows how it ended (the connection was lost). */
export type ExecOutcome =
	| { readonly sent: false; readonly failure: Failure }
	| { readonly sent: true; readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Output of an action beyond this (characters) is of no use to anybody. */
const MOST = 64 * 1024;

export type ExecOptions = {
	readonly timeoutMs: number;
	/** Sees the error output as it comes and may write to the command's stdin or end it; without it the stdin is empty. */
	readonly converse?: (stderr: string, write: (text: string) => void, end: () => void) => void;
};

/** Runs one command on its own channel. Never rejects. After the timeout it counts as sent with an unknown end. */
export const execOn = (
	open: OpenChannel,
	host: string,
	command: string,
	{ timeoutMs, converse }: ExecOptions,
): Promise<ExecOutcome> =>
	new Promise((resolve) => {
		let stdout = '';
		let stderr = '';
		const end = (how: ChannelEnd): void => {
			clearTimeout(timer);
			if (how.kind !== 'refused') {
				const code = how.kind === 'exited' ? how.code : null;
				resolve({ sent: true, code, stdout, stderr });
				return;
			}
			const hint = how.full
				? 'Nothing was sent. Its sshd allows too few sessions at once (MaxSessions); try again'
				: 'Nothing was sent; try again';
			resolve({
				sent: false,
				failure: failure('lost', `${host}: no channel for the command (${how.why})`, hint),
			});
		};
		const channel = open(command, {
			stdout: (text) => {
				if (stdout.length < MOST) stdout += text;
			},
			stderr: (text) => {
				if (stderr.length < MOST) stderr += text;
				converse?.(stderr, channel.write, channel.end);
			},
			closed: end,
		});
		const timer = setTimeout(() => {
			channel.close();
			// A host that hangs does not answer that either.
			end({ kind: 'unknown' });
		}, timeoutMs);
		if (!converse) channel.end();
	});
