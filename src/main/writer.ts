import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { Writer } from '../execution/entry.ts';

/** What can be asked of a system about a process. */
export type ProcessTable = {
	readonly exists: (pid: number) => boolean;
	/** Identity of the run of a process, empty when it has ended; null where the system does not tell. */
	readonly runOf: (pid: number) => string | null;
	/** Ms since the epoch. */
	readonly bootedAt: () => number;
};

/** How far (ms) a clock that was set since may put the start of the system after that of a process. */
const CLOCK_WAS_SET = 60_000;

/** Whether the console that wrote an entry still runs. A pid alone does not tell: it may be another program's by now. */
export const isAlive = ({ pid, started, run }: Writer, processes: ProcessTable = thisSystem): boolean => {
	// Ours has written nothing yet.
	if (pid === process.pid || !processes.exists(pid)) return false;
	const present = run === null ? null : processes.runOf(pid);
	if (present !== null) return present === run;
	// By the pid alone, then; but no process outlives its system.
	return started >= processes.bootedAt() - CLOCK_WAS_SET;
};

/** `boot:start time`, from the text of /proc/PID/stat (proc(5)); the name in it may hold blanks and brackets. */
export const runFrom = (stat: string, bootId: string): string | null => {
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	const [state = '', startTicks] = [fields[0], fields[19]];
	// A zombie has ended, only its parent has not looked yet.
	if (state === 'Z' || state === 'X') return '';
	return startTicks !== undefined && /^\d+$/.test(startTicks) ? `${bootId.trim()}:${startTicks}` : null;
};

const thisSystem: ProcessTable = {
	exists: (pid) => {
		try {
			// Signal 0 only asks (kill(2)); 0 and negative numbers would ask for groups.
			return Number.isInteger(pid) && pid > 0 && process.kill(pid, 0);
		} catch (error) {
			return (error as NodeJS.ErrnoException).code === 'EPERM';
		}
	},
	runOf: (pid) => {
		try {
			const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
			return runFrom(readFileSync(`/proc/${pid}/stat`, 'utf8'), bootId);
		} catch {
			// No Linux, or a /proc that hides it.
			return null;
		}
	},
	bootedAt: () => Date.now() - uptime() * 1000,
};

export const thisWriter = (): Writer => ({
	pid: process.pid,
	started: Math.round(performance.timeOrigin),
	run: thisSystem.runOf(process.pid),
});
