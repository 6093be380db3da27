import { failure } from '../domain/failure.ts';
import { fail, ok, type Result } from '../domain/result.ts';

export type LocalOutput = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a program on this machine, without a shell and without our stdin. A non-zero exit code is a value. */
export const runLocal = async (
	file: string,
	args: readonly string[],
	options: { readonly timeoutMs?: number; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Result<LocalOutput>> => {
	const { timeoutMs = 10_000, env = {} } = options;
	// Loaded when first needed: its start costs more than the first frame may take.
	const { execa } = await import('execa');
	const done = await execa(file, args, { stdin: 'ignore', reject: false, timeout: timeoutMs, maxBuffer: 4 << 20, env });
	if (done.code === 'ENOENT') return fail(failure('missing-tool', `${file} is not installed here`, `Install ${file}`));
	if (done.timedOut)
		return fail(
			failure(
				'timeout',
				`${file} did not end within ${timeoutMs / 1000} s`,
				`Try it by hand: ${file} ${args.join(' ')}`,
			),
		);
	return ok({ code: done.exitCode ?? -1, stdout: done.stdout, stderr: done.stderr });
};
