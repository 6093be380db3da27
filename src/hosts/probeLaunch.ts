import { quote } from '../domain/commandLine.ts';
import program from './probe.py';

/** Reads LEN bytes of program from stdin, then runs them; stdin stays open for the heartbeat. No file on the host. */
const BOOTSTRAP = [
	'import os,sys;n=int(sys.argv.pop(1));b=b""',
	'while len(b)<n:',
	' c=os.read(0,n-len(b))',
	' if not c: sys.exit(1)',
	' b+=c',
	'exec(b)',
].join('\n');

/** A byte at least this often (ms) keeps the probe alive; it ends after 8 s without one. */
export const HEARTBEAT_EVERY = 2000;

export const probeProgram: Buffer = Buffer.from(program);

/** Command line that starts the probe. `nonce` comes back in the magic line `sparkdeck-probe 1 NONCE`. */
export const probeCommand = (periodSeconds: number, nonce: string): string =>
	`exec env LC_ALL=C python3 -uc '${BOOTSTRAP}' ${probeProgram.length} ${periodSeconds} ${quote(nonce)}`;
