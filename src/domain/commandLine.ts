import type { UnitManager } from './unit.ts';

/**
 * Every command line that acts on a host, as text for the login shell of the remote user. Names are arguments of a
 * fixed script and single-quoted, so no name is ever read by a shell as anything but a word.
 */
export type CommandLine = {
	/** What is sent over the channel. */
	readonly line: string;
	/** The commands in it as a person would type them, in the order in which they are tried. */
	readonly shown: readonly string[];
};

/** Exit code of our guards: what was to be acted on is not what the operator saw (EX_TEMPFAIL of sysexits.h). */
export const GUARD_FAILED = 75;

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** One word for a POSIX shell. */
export const quote = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** `sh -c SCRIPT NAME ARGS…`; SCRIPT must not contain a single quote, so that it survives csh and fish as login shells. */
const script = (lines: readonly string[], args: readonly string[]): string => {
	const text = lines.join('; ');
	if (text.includes("'")) throw new Error('a remote script must not contain a single quote');
	return `exec env LC_ALL=C sh -c '${text}' sparkdeck ${args.map(quote).join(' ')}`;
};

const RUNTIME_DIR = 'export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"';

/** Variable of our scripts: how sudo is to be called, in words. */
const SUDO_FLAGS = 'SPARKDECK_SUDO';

/** `sudo -n`, or as `withSudoPassword` says. */
const SUDO = `sudo \${${SUDO_FLAGS}:--n}`;

/**
 * The same command where sudo may ask for a password: it reads it from stdin (`-S`) when it has written `prompt`, and never
 * from what an earlier command left behind (`-k`), so that a password is written only where sudo waits for it.
 */
export const withSudoPassword = (line: string, prompt: string): string =>
	`exec env ${quote(`${SUDO_FLAGS}=-k -S -p ${prompt}`)} sh -c ${quote(line)}`;

/** Whether a command of ours gave up because sudo wants a password (also in the words of sudo-rs). */
export const wantsSudoPassword = (line: string, stderr: string): boolean =>
	line.includes(SUDO_FLAGS) && /sudo: .*(a password is required|interactive authentication is required)/i.test(stderr);

/** How the rights of the system manager are come by: as root; else by polkit, and where that refuses, by sudo. */
export type Authority = 'root' | 'polkit-or-sudo' | 'own';

export const authorityFor = (manager: UnitManager, uid: number): Authority =>
	manager === 'user' ? 'own' : uid === 0 ? 'root' : 'polkit-or-sudo';

type Verb = 'start' | 'stop';

const systemctl = (verb: Verb, authority: Authority, ...units: string[]): { script: string[]; shown: string[] } => {
	const flags = `${verb} --no-block --`;
	const names = units.map(quote).join(' ');
	// A stop has its guard in $2; a start takes all its words.
	const words = verb === 'start' ? '"$@"' : '"$1"';
	switch (authority) {
		case 'own':
			return { script: [`exec systemctl --user ${flags} ${words}`], shown: [`systemctl --user ${flags} ${names}`] };
		case 'root':
			return { script: [`exec systemctl ${flags} ${words}`], shown: [`systemctl ${flags} ${names}`] };
		case 'polkit-or-sudo':
			return {
				script: [`systemctl --no-ask-password ${flags} ${words} && exit 0`, `exec ${SUDO} systemctl ${flags} ${words}`],
				shown: [`systemctl --no-ask-password ${flags} ${names}`, `sudo -n systemctl ${flags} ${names}`],
			};
	}
};

/**
 * Enqueues a stop of exactly that run of the unit. The host compares the invocation id and enqueues in one command, so
 * a unit that was restarted in between is left alone (exit 75). `--no-block`: acceptance is not success, facts are.
 */
export const stopUnit = (manager: UnitManager, uid: number, unit: string, invocationId: string): CommandLine => {
	const { script: act, shown } = systemctl('stop', authorityFor(manager, uid), unit);
	const scope = manager === 'user' ? ' --user' : '';
	const guard = `[ "$(systemctl${scope} show -p InvocationID --value -- "$1")" = "$2" ] || exit ${GUARD_FAILED}`;
	return { line: script([RUNTIME_DIR, guard, ...act], [unit, invocationId]), shown };
};

/**
 * Enqueues a start of one unit, or of it and those that were stopped with it. Starting what runs already does nothing, so
 * it needs no guard.
 */
export const startUnit = (manager: UnitManager, uid: number, unit: string, ...also: string[]): CommandLine => {
	const { script: act, shown } = systemctl('start', authorityFor(manager, uid), unit, ...also);
	return { line: script([RUNTIME_DIR, ...act], [unit, ...also]), shown };
};

/** Stops a container by its full id, which no other container ever has. The tool waits for its own stop timeout. */
export const stopContainer = (tool: string, id: string): CommandLine => ({
	line: script(['exec "$1" stop "$2"'], [tool, id]),
	shown: [`${tool} stop ${id}`],
});

export const startContainer = (tool: string, id: string): CommandLine => ({
	line: script(['exec "$1" start "$2"'], [tool, id]),
	shown: [`${tool} start ${id}`],
});

/** Sends SIGTERM to exactly that process: same boot, same pid, same start time (field 22 of its stat). */
export const terminateProcess = (pid: number, startTicks: number, bootId: string): CommandLine => ({
	line: script(
		[
			`[ "$(cat /proc/sys/kernel/random/boot_id)" = "$3" ] || exit ${GUARD_FAILED}`,
			`[ "$(sed "s/.*) //" /proc/$1/stat | cut -d" " -f20)" = "$2" ] || exit ${GUARD_FAILED}`,
			'kill -TERM "$1"',
		],
		[String(pid), String(startTicks), bootId],
	),
	shown: [`kill -TERM ${pid}`],
});
