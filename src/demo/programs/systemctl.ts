import { type OptionTable, readOptions } from '../options.ts';
import type { Call, Program } from '../program.ts';
import { startUnit, stopUnit, unitOf } from '../worldLife.ts';
import type { Manager, SimHost, Unit } from '../worldTypes.ts';
import { journalOf } from './journalctl.ts';
import { ago, systemdTime, wallAt } from './time.ts';
import { fullName, hasCgroup, isPattern, matching, propertiesOf, unitFile, unitTable } from './unitText.ts';

const OPTIONS: OptionTable = {
	'--user': ['user', false],
	'--system': ['system', false],
	'--type': ['type', true],
	'-t': ['type', true],
	'--state': ['state', true],
	'--all': ['all', false],
	'-a': ['all', false],
	'--no-legend': ['no-legend', false],
	'--plain': ['plain', false],
	'--no-pager': ['no-pager', false],
	'--full': ['full', false],
	'-l': ['full', false],
	'--output': ['output', true],
	'-o': ['output', true],
	'--property': ['property', true],
	'-p': ['property', true],
	'-P': ['P', true],
	'--value': ['value', false],
	'--no-block': ['no-block', false],
	'--no-ask-password': ['no-ask-password', false],
	'--lines': ['lines', true],
	'-n': ['lines', true],
	'--quiet': ['quiet', false],
	'-q': ['quiet', false],
};

type Asked = {
	readonly call: Call;
	readonly manager: Manager;
	readonly names: readonly string[];
	readonly has: (name: string) => boolean;
	readonly values: (name: string) => readonly string[];
};

export const systemctl: Program = async (call) => {
	const read = readOptions(call.args, OPTIONS);
	if (!read.ok) {
		call.err(`systemctl: ${read.fault}\n`);
		return 1;
	}
	const { has, values, rest } = read.options;
	const [verb = 'list-units', ...names] = rest;
	const manager: Manager = has('user') ? 'user' : 'system';
	if (manager === 'user' && (call.env.get('XDG_RUNTIME_DIR') ?? '') === '') {
		call.err('Failed to connect to bus: No medium found\n');
		return 1;
	}
	const asked: Asked = { call, manager, names, has, values };
	switch (verb) {
		case 'list-units':
			return listUnits(asked);
		case 'show':
			return show(asked);
		case 'status':
			return status(asked);
		case 'cat':
			return cat(asked);
		case 'is-active':
			return isActive(asked);
		case 'start':
		case 'stop':
		case 'restart':
			return change(asked, verb);
		default:
			call.err(`Unknown command verb '${verb}'.\n`);
			return 1;
	}
};

const tooFew = (call: Call): number => {
	call.err('Too few arguments.\n');
	return 1;
};

const byName = (a: Unit, b: Unit): number => (a.spec.name < b.spec.name ? -1 : 1);

/** Units as systemd knows them at once; inactive ones only with --all. */
const listUnits = ({ call, manager, names, has, values }: Asked): number => {
	const types = values('type').flatMap((one) => one.split(','));
	if (types.some((type) => !/^(service|socket|timer|target|mount|slice|scope|path)$/.test(type))) {
		call.err(`Unknown unit type or load state '${types[0]}'.\nUse -t help to see a list of allowed values.\n`);
		return 1;
	}
	const output = values('output').at(-1) ?? 'short';
	if (!['short', 'json', 'json-pretty'].includes(output)) {
		call.err(`Unknown output '${output}'.\n`);
		return 1;
	}
	const states = values('state').flatMap((one) => one.split(','));
	const host = call.machine.see();
	const patterns = names.length > 0 ? names.map((name) => (isPattern(name) ? name : fullName(name))) : ['*'];
	const units = [...new Set(patterns.flatMap((pattern) => matching(host, manager, pattern)))]
		.filter(() => types.length === 0 || types.includes('service'))
		.filter((unit) => has('all') || states.length > 0 || unit.active !== 'inactive' || unit.job !== null)
		.filter((unit) => states.length === 0 || states.includes(unit.active) || states.includes(unit.sub))
		.sort(byName);
	if (output === 'short')
		call.out(unitTable(units, { plain: has('plain'), legend: !has('no-legend'), all: has('all') }));
	else {
		const rows = units.map((unit) => ({
			unit: unit.spec.name,
			load: 'loaded',
			active: unit.active,
			sub: unit.sub,
			description: unit.spec.description,
		}));
		call.out(`${output === 'json' ? JSON.stringify(rows) : JSON.stringify(rows, null, '\t')}\n`);
	}
	return 0;
};

const show = ({ call, manager, names, has, values }: Asked): number => {
	// Without a name systemd tells of the manager itself, which nothing of ours asks for.
	if (names.length === 0) return tooFew(call);
	const host = call.machine.see();
	const keys = [...values('property'), ...values('P')].flatMap((one) => one.split(',')).map((one) => one.trim());
	const wanted = keys.length > 0 ? new Set(keys) : null;
	const bare = has('value') || has('P');
	call.out(showText(host, manager, names, wanted, bare));
	return 0;
};

/** What `systemctl show` prints for names and patterns: blocks with an empty line between them. */
export const showText = (
	host: SimHost,
	manager: Manager,
	names: readonly string[],
	wanted: ReadonlySet<string> | null,
	bare = false,
): string => {
	const blocks: string[] = [];
	for (const name of names) {
		// A pattern matches the units that are loaded; a name is looked up whatever it is.
		const units = isPattern(name) ? matching(host, manager, name) : [unitOf(host, manager, fullName(name))];
		for (const unit of units) {
			const lines = propertiesOf(host, fullName(name), unit, wanted);
			blocks.push(lines.map(([key, value]) => `${bare ? value : `${key}=${value}`}\n`).join(''));
		}
	}
	return blocks.join('\n');
};

const status = ({ call, manager, names, values }: Asked): number => {
	const host = call.machine.see();
	if (names.length === 0) {
		call.out(
			`● ${host.name}\n    State: degraded\n    Units: ${host.units.size} loaded\n     Jobs: 0 queued\n   Failed: 1 unit\n`,
		);
		return 0;
	}
	let code = 0;
	for (const name of names) {
		const unit = unitOf(host, manager, name);
		if (!unit) {
			call.err(`Unit ${fullName(name)} could not be found.\n`);
			code = 4;
			continue;
		}
		const { spec } = unit;
		const up = unit.active === 'active';
		const mark = up ? '●' : unit.active === 'failed' ? '×' : unit.active === 'inactive' ? '○' : '●';
		const since = up ? unit.activeSince : unit.inactiveSince;
		const when = since === null ? '' : ` since ${systemdTime(wallAt(host, since))}; ${ago(host.now - since)}`;
		const result = unit.active === 'failed' ? ` (Result: ${unit.result})` : ` (${unit.sub})`;
		const lines = [
			`${mark} ${spec.name} - ${spec.description}`,
			`     Loaded: loaded (${spec.fragment}; ${spec.unitFileState}; preset: enabled)`,
			`     Active: ${unit.active}${result}${when}`,
		];
		const main = host.procs.get(unit.mainPid);
		if (main) lines.push(`   Main PID: ${main.pid} (${main.name.slice(0, 15)})`);
		if (hasCgroup(unit) && unit.pids.length > 0) {
			lines.push(`     CGroup: ${spec.cgroup}`);
			for (const [at, pid] of unit.pids.entries())
				lines.push(
					`             ${at === unit.pids.length - 1 ? '└' : '├'}─${pid} ${host.procs.get(pid)?.command ?? ''}`,
				);
		}
		call.out(`${lines.join('\n')}\n`);
		const journal = journalOf(host, unit).slice(-Number(values('lines').at(-1) ?? 10));
		if (journal.length > 0) call.out(`\n${journal.join('\n')}\n`);
		if (!up && code === 0) code = 3;
	}
	return code;
};

const cat = ({ call, manager, names }: Asked): number => {
	if (names.length === 0) return tooFew(call);
	const host = call.machine.see();
	const texts: string[] = [];
	for (const name of names) {
		const unit = unitOf(host, manager, name);
		if (!unit) {
			call.err(`No files found for ${fullName(name)}.\n`);
			return 1;
		}
		texts.push(unitFile(unit));
	}
	call.out(texts.join('\n'));
	return 0;
};

const isActive = ({ call, manager, names, has }: Asked): number => {
	if (names.length === 0) return tooFew(call);
	const host = call.machine.see();
	const states = names.map((name) => unitOf(host, manager, name)?.active ?? 'inactive');
	if (!has('quiet')) call.out(states.map((state) => `${state}\n`).join(''));
	return states.includes('active') ? 0 : 3;
};

const change = async ({ call, manager, names, has }: Asked, verb: 'start' | 'stop' | 'restart'): Promise<number> => {
	if (names.length === 0) return tooFew(call);
	const units: Unit[] = [];
	let code = 0;
	for (const name of names) {
		const full = fullName(name);
		if (manager === 'system' && !call.root) {
			call.err(
				`Failed to ${verb} ${full}: Interactive authentication required.\nSee system logs and 'systemctl status ${full}' for details.\n`,
			);
			return 1;
		}
		const unit = unitOf(call.machine.see(), manager, name);
		if (!unit) {
			// 5 is what systemctl makes of "not loaded", which is what the manager says of both.
			if (verb === 'stop') call.err(`Failed to stop ${full}: Unit ${full} not loaded.\n`);
			else call.err(`Failed to ${verb} ${full}: Unit ${full} not found.\n`);
			code = 5;
			continue;
		}
		call.machine.act((host) => {
			if (verb !== 'start') stopUnit(host, unit);
			if (verb === 'start' || unit.active === 'inactive' || unit.active === 'failed') startIf(host, unit, verb);
			else if (verb === 'restart') unit.startAfterStop = true;
		});
		units.push(unit);
	}
	if (has('no-block')) return code;
	const settled = (): boolean => units.every((unit) => unit.job === null && !unit.startAfterStop);
	return (await call.machine.until(settled, call.signal)) ? code : 130;
};

const startIf = (host: SimHost, unit: Unit, verb: string): void => {
	if (verb !== 'stop') startUnit(host, unit);
};
