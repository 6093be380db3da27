import { execFile } from 'node:child_process';
import { failure } from '../domain/failure.ts';
import { fail, ok, type Result } from '../domain/result.ts';

export type LocalOutput = { readonly code: number; readonly stdout: string; readonly stderr: string };

/**
 * Runs a program on this machine, without a shell and without our stdin. A non-zero exit code is a value. By node itself and
 * not by execa, which would cost 40 ms before the first frame.
 */
export const runLocal = (
	file: string,
	args: readonly string[],
	options: { readonly timeoutMs?: number; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Result<LocalOutput>> =>
	new Promise((resolve) => {
		const { timeoutMs = 10_000, env = {} } = options;
		const child = execFile(
			file,
			args,
			{ timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 4 << 20, env: { ...process.env, ...env } },
			(error, stdout, stderr) => {
				if (error === null) resolve(ok({ code: 0, stdout, stderr }));
				else if (error.code === 'ENOENT') {
					resolve(fail(failure('missing-tool', `${file} is not installed here`, `Install ${file}`)));
				} else if (error.killed) {
					const cause = `${file} did not end within ${timeoutMs / 1000} s`;
					resolve(fail(failure('timeout', cause, `Try it by hand: ${file} ${args.join(' ')}`)));
				} else resolve(ok({ code: typeof error.code === 'number' ? error.code : -1, stdout, stderr }));
			},
		);
		// An end instead of a pipe that stays open: nothing here is to be asked.
		child.stdin?.on('error', () => {});
		child.stdin?.end();
	});
