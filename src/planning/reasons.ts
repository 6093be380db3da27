import { size } from '../domain/bytes.ts';
import { failure } from '../domain/failure.ts';
import type { Observation } from '../domain/observation.ts';
import type { Plan } from '../domain/plan.ts';
import { isActive, type Service } from '../domain/service.ts';
import { consequencesOf, stopsWith } from './comeback.ts';
import { predict, predictionText } from './eviction.ts';

/** One sentence of reasoning with its topic, so that the screen can weigh them. */
export type Reason = {
	readonly topic: 'what' | 'holds' | 'frees' | 'after' | 'comeback' | 'rights' | 'refusal';
	readonly text: string;
};

/** What an expert would say of a service: what it is, what it holds and how that is known, what a stop would do. */
export const reasonsFor = (
	service: Service,
	all: readonly Service[],
	seen: Observation,
	/** Bytes measured to come back at earlier evictions of it, newest first. */
	learned: readonly number[],
	now: number,
): Reason[] => {
	const reasons: Reason[] = [
		{ topic: 'what', text: whatItIs(service, seen) },
		{ topic: 'holds', text: whatItHolds(service, seen, now) },
	];
	if (service.keep) return [...reasons, { topic: 'refusal', text: 'You said keep: it is not offered for eviction.' }];
	if (service.guarded) {
		return [...reasons, { topic: 'refusal', text: `It is never stopped from here: ${service.guarded}.` }];
	}
	if (!isActive(service) || service.state === 'stopping') return reasons;
	const also = stopsWith(service, all);
	const predicted = predict([service, ...also], seen);
	const before = learned.slice(0, 2).map(size);
	const measured =
		before.length > 0 ? ` (${before.join(' and ')} measured before)` : ' (an estimate until it is measured)';
	reasons.push({ topic: 'frees', text: `Stopping it frees ${predictionText(predicted)}${measured}.` });
	const available = seen.memory.value.available;
	reasons.push({
		topic: 'after',
		text: `${service.host} would then have ${size(available + predicted.totalBytes)} available, ${size(available)} now.`,
	});
	for (const text of consequencesOf(service, also)) reasons.push({ topic: 'comeback', text });
	reasons.push({ topic: 'rights', text: rights(service, seen.identity.uid) });
	return reasons;
};

const whatItIs = (service: Service, seen: Observation): string => {
	const { unit, container, manager, state, description } = service;
	const runs = container && unit ? `, a container (${container.name}) that this unit runs` : '';
	const since = unit?.activeSince && state === 'running' ? ` for ${span(seen.uptime - unit.activeSince)}` : '';
	const who = {
		system: 'system manager',
		user: `manager of user ${seen.identity.user || 'you'}`,
		container: 'container',
		process: 'bare process',
	};
	const restarts = unit && unit.restarts > 0 ? `, restarted ${unit.restarts} times by itself` : '';
	return `${description || service.name}${runs}; ${who[manager]}, ${state}${since}${restarts}.`;
};

const whatItHolds = (service: Service, seen: Observation, now: number): string => {
	const { processes, gpuBytes, hostBytes, processCount } = service;
	const gpuPids = processes.filter((one) => seen.gpuProcesses?.value.some((gpu) => gpu.pid === one.pid));
	const age = seen.gpuProcesses ? Math.max(0, Math.round((now - seen.gpuProcesses.observedAt) / 1000)) : 0;
	const upTo = service.doubtfulBytes > hostBytes / 10 ? 'up to ' : '';
	const host = `${upTo}${size(hostBytes)} of host memory in ${processCount} ${processCount === 1 ? 'process' : 'processes'} (by cgroup)`;
	if (gpuBytes === null) return `GPU memory can’t be told (no answer of nvidia-smi). Holds ${host}.`;
	if (gpuPids.length === 0)
		return hostBytes > 0 ? `Holds no GPU memory, and ${host}.` : 'Holds no memory that can be seen.';
	const pids = `${gpuPids.length > 1 ? 'pids' : 'pid'} ${gpuPids.map((one) => one.pid).join(', ')}`;
	const mark = service.gpuAtLeast ? 'at least ' : '';
	return `Holds ${mark}${size(gpuBytes)} of the GPU (${pids}, from nvidia-smi ${age} s ago) and ${host}.`;
};

const rights = (service: Service, uid: number): string => {
	if (service.manager === 'user') return 'Your own user’s manager: no sudo is needed.';
	if (uid === 0) return 'You are root there.';
	if (service.manager === 'system')
		return 'The stop asks polkit first, then sudo, which may want your password; if both refuse, nothing is touched.';
	if (service.manager === 'container') return 'Needs access to the container engine, which this user has.';
	return 'Works if the process is yours.';
};

/** `3 d 4 h`, two units at most. */
export const span = (seconds: number): string => {
	const units: [number, string][] = [
		[86_400, 'd'],
		[3600, 'h'],
		[60, 'min'],
		[1, 's'],
	];
	const at = units.findIndex(([length]) => seconds >= length);
	if (at < 0) return '0 s';
	const [first, firstName] = units[at]!;
	const next = units[at + 1];
	const rest = next ? Math.floor((seconds % first) / next[0]) : 0;
	const head = `${Math.floor(seconds / first)} ${firstName}`;
	return next && rest > 0 && at < 3 ? `${head} ${rest} ${next[1]}` : head;
};

/**
 * What to do where a host refuses to act. Both polkit and sudo have said why; the words are sudo's and sudo-rs's own
 * (plugins/sudoers/logging.c and check.c of sudo; sudo-rs src/common/error.rs).
 */
export const deniedFailure = (plan: Plan, user: string, stderr: string): ReturnType<typeof failure> => {
	const command = plan.command.shown.at(-1) ?? '';
	const byHand = command.replace('sudo -n', 'sudo');
	const refused = (why: string, hint: string): ReturnType<typeof failure> =>
		failure('denied', `${plan.host} refused: ${why}`, hint);
	if (plan.target.kind !== 'unit' || plan.target.manager !== 'system')
		return refused(lastLine(stderr), `Run it by hand as a user who may: ${command}`);
	const who = user || 'USER';
	const rule = `${who} ALL=(root) NOPASSWD: ${command.replace(/^sudo -n systemctl/, '/usr/bin/systemctl')}`;
	const allow = `Allow it with this line in /etc/sudoers.d on ${plan.host}: ${rule} – or a polkit rule for org.freedesktop.systemd1.manage-units – or run it by hand: ${byHand}`;
	if (/must have a tty/i.test(stderr))
		return refused(
			'its sudoers demands a terminal (requiretty)',
			`Take that away for you with this line in /etc/sudoers.d: Defaults:${who} !requiretty – or run it by hand: ${byHand}`,
		);
	if (/not in the sudoers|not allowed to (execute|run)|may not run sudo|i'm afraid i can't do that/i.test(stderr))
		return refused(`${who} may not do this with sudo, and polkit does not allow it either`, allow);
	const module = /required by a prompt of PAM: (.*)/.exec(stderr)?.[1];
	if (module) return refused(`sudo asks “${module}”, which only a terminal can answer`, allow);
	if (/a password is required|interactive authentication is required/i.test(stderr))
		return refused('sudo wants a password, and none that is right was given', `Try again and answer it. ${allow}`);
	if (/sudo: (command )?not found|sudo: No such file/i.test(stderr))
		return refused('polkit does not allow it, and there is no sudo', `Log in as a user who may; by hand: ${byHand}`);
	return refused(lastLine(stderr), allow);
};

const lastLine = (text: string): string => text.trim().split('\n').at(-1) || 'no reason given';
