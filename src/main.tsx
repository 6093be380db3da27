import { run } from './main/arguments.ts';

try {
	process.exitCode = await run(process.argv.slice(2));
} catch (error) {
	// A fault of this program, not of the host or the configuration; the stack helps nobody but us.
	process.stderr.write(`sparkdeck ended by a fault of its own: ${error instanceof Error ? error.message : error}\n`);
	if (process.env['SPARKDECK_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
	process.exitCode = 70;
}
// Sockets that are on their way down must not keep a finished command alive.
process.exit();
