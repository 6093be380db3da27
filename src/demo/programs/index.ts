import type { Program } from '../program.ts';
import { docker } from './docker.ts';
import { date, free, hostname, id, loginctl, ps, uname, uptime } from './hostTools.ts';
import { journalctl } from './journalctl.ts';
import { nvidiaSmi } from './nvidiaSmi.ts';
import { echo, env, kill, printf, sleep, test } from './shellTools.ts';
import { sudo } from './sudo.ts';
import { systemctl } from './systemctl.ts';
import { cat, cut, grep, head, sed, tail, wc } from './text.ts';

/** Every program of a simulated host but the shell and the probe, which need what is around them. */
export const programs: Readonly<Record<string, Program>> = {
	'[': test,
	cat,
	cut,
	date,
	docker,
	echo,
	env,
	false: () => 1,
	free,
	grep,
	head,
	hostname,
	id,
	journalctl,
	kill,
	loginctl,
	'nvidia-smi': nvidiaSmi,
	printf,
	ps,
	sed,
	sleep,
	sudo,
	systemctl,
	tail,
	test,
	true: () => 0,
	uname,
	uptime,
	wc,
};
