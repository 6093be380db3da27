import { quote } from '../../domain/commandLine.ts';
import program from './probe.py';

/**
 * Reads LEN bytes of program from stdin, then runs them; stdin stays open for the heartbeat. No file on the host. One line
 * without a quote or a `!` in it, so that csh as a login shell takes it too.
 */
const BOOTSTRAP = [
	'import os,sys',
	'n=int(sys.argv.pop(1))',
	'b=bytearray()',
	'[b.extend(os.read(0,n-len(b)) or sys.exit(1)) for _ in iter(lambda:len(b)<n,False)]',
	'exec(bytes(b))',
].join(';');

/** A byte at least this often (ms) keeps the probe alive; it ends after 8 s without one. */
export const HEARTBEAT_EVERY = 2000;

export const probeProgram: Buffer = Buffer.from(program);

/** Command line that starts the probe. `nonce` comes back in the magic line `sparkdeck-probe 1 NONCE`. */
export const probeCommand = (periodSeconds: number, nonce: string): string =>
	`exec env LC_ALL=C python3 -uc '${BOOTSTRAP}' ${probeProgram.length} ${periodSeconds} ${quote(nonce)}`;
