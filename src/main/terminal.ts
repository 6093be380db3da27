import { appendFileSync, mkdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Compositor } from '../screen/frame/compositor.ts';
import { stateFolder } from './files.ts';

/**
 * Leaves the terminal as it was found, however the program ends. Ink gives back the screen, the cursor and the mode of
 * the keyboard (also on signals); what the compositor changed is ours. Written synchronously: at exit nothing else runs.
 */
export const guardTerminal = (
	compositor: Compositor,
	quit: (code: number) => void,
): { readonly restore: () => void } => {
	let inside = true;
	const put = (bytes: string): void => {
		try {
			writeSync(1, bytes);
		} catch {
			// The terminal is gone; there is nothing to restore.
		}
	};
	process.stdout.write(compositor.enter());
	const restore = (): void => {
		if (!inside) return;
		inside = false;
		compositor.pause();
		put(compositor.leave());
	};
	process.on('exit', restore);
	// A signal ends the console as the key does; what hangs on the way does not keep it.
	for (const [signal, number] of [
		['SIGINT', 2],
		['SIGTERM', 15],
		['SIGHUP', 1],
	] as const) {
		process.on(signal, () => {
			quit(128 + number);
			setTimeout(() => process.exit(128 + number), 1500).unref();
		});
	}
	// The terminal went away under us (its pane was closed).
	process.stdout.on('error', () => process.exit(129));
	process.on('uncaughtException', (error) => {
		const log = join(stateFolder(), 'crash.log');
		try {
			mkdirSync(stateFolder(), { recursive: true, mode: 0o700 });
			appendFileSync(log, `${new Date().toISOString()} ${error.stack ?? error}\n`, { mode: 0o600 });
		} catch {
			// Without a place for it the message below has to do.
		}
		restore();
		process.on('exit', () => {
			put(
				`sparkdeck ended by a fault of its own: ${error.message}. Nothing on the hosts was touched by that; ${log} has the details.\n`,
			);
		});
		process.exit(70);
	});
	return { restore };
};
