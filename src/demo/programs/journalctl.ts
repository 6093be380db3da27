import { readOptions } from '../options.ts';
import type { Program } from '../program.ts';
import { unitOf } from '../worldLife.ts';
import type { SimHost, Unit } from '../worldTypes.ts';
import { journalTime, wallAt } from './time.ts';
import { fullName } from './unitText.ts';

/** What the manager and the main process have said of a unit. */
export const journalOf = (host: SimHost, unit: Unit): string[] =>
	unit.messages.map(({ at, text }) => {
		const own = /^(INFO|ValueError)/.test(text);
		const who = own
			? `${(host.procs.get(unit.mainPid)?.name ?? 'vllm').slice(0, 15)}[${unit.mainPid || (unit.main?.pid ?? 0)}]`
			: 'systemd[1]';
		return `${journalTime(wallAt(host, at))} ${host.name} ${who}: ${text}`;
	});

export const journalctl: Program = (call) => {
	const read = readOptions(call.args, {
		'-u': ['unit', true],
		'--unit': ['unit', true],
		'--user': ['user', false],
		'--user-unit': ['user-unit', true],
		'-n': ['lines', true],
		'--lines': ['lines', true],
		'--no-pager': ['no-pager', false],
		'-b': ['boot', false],
	});
	if (!read.ok) {
		call.err(`journalctl: ${read.fault}\n`);
		return 1;
	}
	const { options } = read;
	if (options.rest.length > 0) {
		call.err(`Failed to add match '${options.rest[0]}': Invalid argument\n`);
		return 1;
	}
	const count = options.value('lines') ?? '1000';
	if (!/^\d+$/.test(count)) {
		call.err(`Failed to parse lines '${count}'\n`);
		return 1;
	}
	const host = call.machine.see();
	const asked = [
		...options.values('unit').map((name) => [options.has('user') ? 'user' : 'system', name] as const),
		...options.values('user-unit').map((name) => ['user', name] as const),
	];
	const units = asked.flatMap(([manager, name]) => unitOf(host, manager, fullName(name)) ?? []);
	const lines = units.flatMap((unit) => journalOf(host, unit)).slice(-Number(count) || undefined);
	call.out(lines.length > 0 ? `${lines.join('\n')}\n` : '-- No entries --\n');
	return 0;
};
