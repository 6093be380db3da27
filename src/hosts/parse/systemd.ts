import type { Unit, UnitManager } from '../../domain/unit.ts';

/** `Key=Value` blocks separated by empty lines, as `systemctl show` prints them. Later lines of a value are kept. */
const blocks = (text: string): Map<string, string>[] => {
	const all: Map<string, string>[] = [];
	let block = new Map<string, string>();
	for (const line of text.split('\n')) {
		if (line === '') {
			if (block.size > 0) all.push(block);
			block = new Map();
			continue;
		}
		const at = line.indexOf('=');
		if (at <= 0) continue;
		const key = line.slice(0, at);
		const value = line.slice(at + 1);
		// ExecStart is repeated, once for each command.
		const before = block.get(key);
		block.set(key, before === undefined ? value : `${before}\n${value}`);
	}
	if (block.size > 0) all.push(block);
	return all;
};

const words = (value: string | undefined): string[] => (value ?? '').split(' ').filter((word) => word !== '');

/** `{ path=/usr/bin/x ; argv[]=/usr/bin/x run --name y ; ignore_errors=no ; … }` -> its words. */
const argv = (value: string): string[] => words(/argv\[\]=(.*?) ; ignore_errors=/.exec(value)?.[1]);

const SPAN = /(\d+(?:\.\d+)?)(us|ms|s|min|h|d|w|month|y)\b/g;
const SPAN_MS: Readonly<Record<string, number>> = {
	us: 0.001,
	ms: 1,
	s: 1000,
	min: 60_000,
	h: 3_600_000,
	d: 86_400_000,
	w: 604_800_000,
	month: 2_629_800_000,
	y: 31_557_600_000,
};

/** systemd's time spans (systemd.time(7)), such as `1min 30s`; null for `infinity` and what is none. */
export const parseTimeSpan = (text: string): number | null => {
	let total: number | null = null;
	for (const [, number, unit] of text.matchAll(SPAN)) total = (total ?? 0) + Number(number) * (SPAN_MS[unit!] ?? 0);
	return total;
};

/** Properties that name what a stop reaches (systemd.unit(5): a stop is propagated along these). */
const STOPS_WITH = ['RequiredBy', 'RequisiteOf', 'BoundBy', 'ConsistsOf', 'PropagatesStopTo'];

const UNIT_NAME = /^[A-Za-z0-9:_.\\@-]{1,255}$/;

/** All units in the output of `systemctl show -p …`. What is not a unit (no Id) is left out. */
export const parseUnits = (text: string, manager: UnitManager): Unit[] => {
	const units: Unit[] = [];
	for (const block of blocks(text)) {
		const name = block.get('Id') ?? '';
		if (!UNIT_NAME.test(name)) continue;
		const pid = Number(block.get('MainPID') ?? '0');
		const since = Number(block.get('ActiveEnterTimestampMonotonic') ?? '0');
		units.push({
			name,
			manager,
			description: block.get('Description') ?? '',
			loadState: block.get('LoadState') ?? '',
			activeState: block.get('ActiveState') ?? '',
			subState: block.get('SubState') ?? '',
			type: block.get('Type') ?? '',
			mainPid: Number.isSafeInteger(pid) && pid > 0 ? pid : null,
			cgroup: block.get('ControlGroup') ?? '',
			invocationId: /^[0-9a-f]{32}$/.test(block.get('InvocationID') ?? '') ? block.get('InvocationID')! : '',
			hasJob: !['', '0'].includes((block.get('Job') ?? '').trim()),
			result: block.get('Result') ?? '',
			restart: block.get('Restart') ?? '',
			restarts: Number(block.get('NRestarts') ?? '0') || 0,
			unitFileState: block.get('UnitFileState') ?? '',
			triggeredBy: words(block.get('TriggeredBy')),
			stopsWith: [...new Set(STOPS_WITH.flatMap((property) => words(block.get(property))))],
			upheldBy: words(block.get('UpheldBy')),
			execStart: (block.get('ExecStart') ?? '')
				.split('\n')
				.map(argv)
				.filter((command) => command.length > 0),
			stopTimeoutMs: parseTimeSpan(block.get('TimeoutStopUSec') ?? ''),
			activeSince: Number.isFinite(since) && since > 0 ? since / 1e6 : null,
		});
	}
	return units;
};
