import type { Manager, SimHost, Unit } from '../worldTypes.ts';
import { systemdTime, wallAt } from './time.ts';

/** All that `systemctl show` can tell here, in the order in which systemd tells it. */
const PROPERTIES: readonly (readonly [string, (host: SimHost, unit: Unit) => string])[] = [
	['Type', (_, { spec }) => spec.type],
	['Restart', (_, { spec }) => spec.restart],
	[
		'RestartUSec',
		(_, { spec }) => (spec.restartSeconds < 1 ? `${spec.restartSeconds * 1000}ms` : `${spec.restartSeconds}s`),
	],
	['TimeoutStopUSec', (_, { spec }) => spec.timeoutStop],
	['RemainAfterExit', (_, { spec }) => (spec.type === 'oneshot' && spec.state === 'exited' ? 'yes' : 'no')],
	['MainPID', (_, unit) => String(unit.mainPid)],
	['Result', (_, unit) => unit.result],
	['NRestarts', (_, unit) => String(unit.restarts)],
	['ExecStart', (host, unit) => execLine(host, unit)],
	['Slice', (_, { spec }) => (spec.manager === 'user' ? 'app.slice' : 'system.slice')],
	['ControlGroup', (_, unit) => (hasCgroup(unit) ? unit.spec.cgroup : '')],
	['User', (_, { spec }) => (spec.manager === 'user' || spec.user === 'root' ? '' : spec.user)],
	['Id', (_, { spec }) => spec.name],
	['Names', (_, { spec }) => [spec.name, ...spec.aliases].join(' ')],
	['Wants', (_, { spec }) => spec.wants.join(' ')],
	['RequiredBy', (_, { spec }) => spec.requiredBy.join(' ')],
	['RequisiteOf', () => ''],
	['BoundBy', () => ''],
	['ConsistsOf', () => ''],
	['PropagatesStopTo', () => ''],
	['UpheldBy', () => ''],
	['After', (_, { spec }) => ['network.target', 'basic.target', ...spec.wants].join(' ')],
	['TriggeredBy', (_, { spec }) => spec.triggeredBy.join(' ')],
	['Description', (_, { spec }) => spec.description],
	['LoadState', () => 'loaded'],
	['ActiveState', (_, unit) => unit.active],
	['SubState', (_, unit) => unit.sub],
	['FragmentPath', (_, { spec }) => spec.fragment],
	['UnitFileState', (_, { spec }) => spec.unitFileState],
	[
		'ActiveEnterTimestamp',
		(host, unit) => (unit.activeSince === null ? '' : systemdTime(wallAt(host, unit.activeSince))),
	],
	['ActiveEnterTimestampMonotonic', (_, unit) => String(Math.round((unit.activeSince ?? 0) * 1e6))],
	['Job', (_, unit) => (unit.job ? String(unit.job.id) : '')],
	['InvocationID', (_, unit) => unit.invocation],
];

/** What systemd says of a unit that it has never heard of: no ExecStart, defaults elsewhere. */
const NOT_FOUND: Readonly<Record<string, string>> = {
	Type: '',
	Restart: 'no',
	RestartUSec: '100ms',
	TimeoutStopUSec: '1min 30s',
	RemainAfterExit: 'no',
	MainPID: '0',
	Result: 'success',
	NRestarts: '0',
	LoadState: 'not-found',
	ActiveState: 'inactive',
	SubState: 'dead',
	ActiveEnterTimestampMonotonic: '0',
};

export const hasCgroup = (unit: Unit): boolean =>
	unit.pids.length > 0 ||
	unit.spec.name.startsWith('user@') ||
	unit.active === 'activating' ||
	unit.active === 'deactivating';

const execLine = (host: SimHost, { spec, main }: Unit): string => {
	const [path = ''] = spec.execStart;
	const start = main ? systemdTime(wallAt(host, main.startedAt)) : 'n/a';
	const stop = main?.endedAt == null ? 'n/a' : systemdTime(wallAt(host, main.endedAt));
	const { pid = 0, exit = 'code=(null) ; status=0/0' } = main ?? {};
	return `{ path=${path} ; argv[]=${spec.execStart.join(' ')} ; ignore_errors=no ; start_time=[${start}] ; stop_time=[${stop}] ; pid=${pid} ; ${exit} }`;
};

/** The properties of one unit; `wanted` null for all. Absent ones are left out, as systemd does. */
export const propertiesOf = (
	host: SimHost,
	name: string,
	unit: Unit | undefined,
	wanted: ReadonlySet<string> | null,
): [string, string][] => {
	const lines: [string, string][] = [];
	for (const [key, read] of PROPERTIES) {
		if (wanted && !wanted.has(key)) continue;
		if (unit) lines.push([key, read(host, unit)]);
		else if (key === 'Id' || key === 'Names' || key === 'Description') lines.push([key, name]);
		else if (key !== 'ExecStart') lines.push([key, NOT_FOUND[key] ?? '']);
	}
	return lines;
};

/** Patterns of systemctl: `*`, `?` and `[…]`; a name without a suffix is a service. */
export const isPattern = (name: string): boolean => /[*?[]/.test(name);

export const fullName = (name: string): string =>
	/\.(service|socket|timer|target|scope|slice|path|mount)$/.test(name) ? name : `${name}.service`;

export const matching = (host: SimHost, manager: Manager, pattern: string): Unit[] => {
	const expression = pattern
		.replace(/[.+^${}()|\\]/g, '\\$&')
		.replaceAll('*', '.*')
		.replaceAll('?', '.');
	const test = new RegExp(`^${expression}$`);
	return [...host.units.values()].filter(
		({ spec }) => spec.manager === manager && [spec.name, ...spec.aliases].some((name) => test.test(name)),
	);
};

/** Lines of `systemctl list-units`. */
export const unitTable = (
	units: readonly Unit[],
	look: { readonly plain: boolean; readonly legend: boolean; readonly all: boolean },
): string => {
	const rows = units.map((unit) => [unit.spec.name, 'loaded', unit.active, unit.sub, unit.spec.description]);
	if (look.legend && rows.length > 0) rows.unshift(['UNIT', 'LOAD', 'ACTIVE', 'SUB', 'DESCRIPTION']);
	const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)));
	const lines = rows.map((row) => {
		const dot = look.plain ? '' : row[2] === 'failed' ? '● ' : '  ';
		return `${dot}${row.map((cell, at) => (at < 4 ? cell.padEnd(widths[at]!) : cell)).join(' ')}`;
	});
	if (look.legend) {
		if (rows.length > 0)
			lines.push(
				'',
				'LOAD   = Reflects whether the unit definition was properly loaded.',
				'ACTIVE = The high-level unit activation state, i.e. generalization of SUB.',
				'SUB    = The low-level unit activation state, values depend on unit type.',
			);
		const hint = look.all ? '' : ' Pass --all to see loaded but inactive units, too.';
		lines.push(
			`${units.length} loaded units listed.${hint}`,
			"To show all installed unit files use 'systemctl list-unit-files'.",
		);
	}
	return lines.map((line) => `${line}\n`).join('');
};

/** The unit file, as `systemctl cat` prints it. */
export const unitFile = ({ spec }: Unit): string => {
	const lines = [`# ${spec.fragment}`, '[Unit]', `Description=${spec.description}`, 'After=network.target'];
	if (spec.wants.length > 0) lines.push(`Wants=${spec.wants.join(' ')}`, `After=${spec.wants.join(' ')}`);
	lines.push('', '[Service]', `Type=${spec.type}`);
	if (spec.manager === 'system' && spec.user !== 'root') lines.push(`User=${spec.user}`);
	if (spec.execStartPre.length > 0) lines.push(`ExecStartPre=${spec.execStartPre.join(' ')}`);
	lines.push(`ExecStart=${spec.execStart.join(' ')}`);
	if (spec.execStop.length > 0) lines.push(`ExecStop=${spec.execStop.join(' ')}`);
	if (spec.restart !== 'no') lines.push(`Restart=${spec.restart}`, `RestartSec=${spec.restartSeconds}`);
	if (spec.unitFileState === 'enabled') lines.push('', '[Install]', 'WantedBy=multi-user.target');
	return `${lines.join('\n')}\n`;
};
