import { createInterface } from 'node:readline';
import { startDemo } from './index.ts';

/**
 * Runs the pair for other programs: one JSON line when it is ready, then one for each line on stdin. It stays until
 * SIGTERM or SIGINT; the end of stdin does not end it, since nobody may be typing.
 */
export const serveDemo = async (options: { readonly dir: string; readonly speed: number }): Promise<void> => {
	const demo = await startDemo(options);
	const say = (value: object): void => {
		process.stdout.write(`${JSON.stringify(value)}\n`);
	};
	// Whoever started it may be gone; that is no reason to end.
	process.stdout.on('error', () => {});
	const ended = new Promise<void>((resolve) => {
		process.once('SIGTERM', () => resolve());
		process.once('SIGINT', () => resolve());
	});
	say({ ready: true, dir: demo.dir, config: demo.configFile, port: demo.port, hosts: demo.hosts });
	const lines = createInterface({ input: process.stdin, terminal: false });
	lines.on('line', (line) => {
		if (line.trim() === '') return;
		const answer = demo.control(line);
		say(answer.startsWith('ok') ? { ok: true, answer } : { ok: false, error: answer.replace(/^error: /, '') });
	});
	await ended;
	lines.close();
	process.stdin.destroy();
	await demo.stop();
	process.exitCode ??= 0;
};
