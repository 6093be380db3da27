import { type OptionTable, readOptions } from '../options.ts';
import { type Call, type Program, pause } from '../program.ts';
import { wobble } from '../random.ts';
import { gpuMiB } from '../worldProcs.ts';
import { level, type Proc, type SimHost } from '../worldTypes.ts';
import { ctime, wallAt } from './time.ts';

const DRIVER = '580.159.03';

/** Gauges of the GB10: memory is in none of them, since it has none of its own. */
const gauges = (host: SimHost) => {
	const { now, seed } = host;
	const load = level(host.serving, now);
	const near = (what: string, width: number): number => wobble(seed, what, now) * width;
	const used = [...host.procs.values()].some((proc) => proc.gpuType === 'C');
	const idle = used ? 3 : 0;
	return {
		util: Math.min(
			100,
			Math.max(0, Math.round(idle + (93 - idle) * load + near('util', load > 0.5 ? 3 : used ? 1 : 0))),
		),
		temperature: Math.round((used ? 44 : 38) + 17 * load + near('temperature', 1)),
		power: (used ? 11 : 3.4) + 73 * load + near('power', load > 0.5 ? 2.2 : 0.4),
		clock: Math.round(load > 0.5 ? 2280 + near('clock', 14) : 208),
		state: used ? 'P0' : 'P8',
	};
};

type Gauges = ReturnType<typeof gauges>;

/** Field to [its unit in a header, its value]. */
const FIELDS: Readonly<Record<string, readonly [string, (host: SimHost, gauge: Gauges) => string]>> = {
	index: ['', () => '0'],
	uuid: ['', (host) => host.gpuUuid],
	gpu_uuid: ['', (host) => host.gpuUuid],
	name: ['', () => 'NVIDIA GB10'],
	gpu_name: ['', () => 'NVIDIA GB10'],
	timestamp: [
		'',
		(host) => `${wallAt(host, host.now).toISOString().slice(0, 23).replaceAll('-', '/').replace('T', ' ')}`,
	],
	driver_version: ['', () => DRIVER],
	compute_cap: ['', () => '12.1'],
	pstate: ['', (_, gauge) => gauge.state],
	'utilization.gpu': ['%', (_, gauge) => String(gauge.util)],
	'utilization.memory': ['%', () => '0'],
	'temperature.gpu': ['', (_, gauge) => String(gauge.temperature)],
	'power.draw': ['W', (_, gauge) => gauge.power.toFixed(2)],
	'clocks.current.graphics': ['MHz', (_, gauge) => String(gauge.clock)],
	'clocks.max.graphics': ['MHz', () => '3003'],
	'clocks_throttle_reasons.active': ['', () => '0x0000000000000000'],
	'clocks_event_reasons.active': ['', () => '0x0000000000000000'],
	'memory.total': ['MiB', () => '[N/A]'],
	'memory.used': ['MiB', () => '[N/A]'],
	'memory.free': ['MiB', () => '[N/A]'],
	'fan.speed': ['%', () => '[N/A]'],
};

const APP_FIELDS: Readonly<Record<string, readonly [string, string, (host: SimHost, proc: Proc) => string]>> = {
	pid: ['pid', '', (_, proc) => String(proc.pid)],
	process_name: ['process_name', '', (_, proc) => proc.name],
	name: ['process_name', '', (_, proc) => proc.name],
	used_memory: ['used_gpu_memory', 'MiB', (host, proc) => String(gpuMiB(proc, host.now))],
	used_gpu_memory: ['used_gpu_memory', 'MiB', (host, proc) => String(gpuMiB(proc, host.now))],
	gpu_uuid: ['gpu_uuid', '', (host) => host.gpuUuid],
	gpu_name: ['gpu_name', '', () => 'NVIDIA GB10'],
};

/** Processes with a context on the GPU; one that has just started has it before it has memory. */
const computeApps = (host: SimHost): Proc[] =>
	[...host.procs.values()].filter((proc) => proc.gpuType === 'C' && gpuMiB(proc, host.now) > 0);

const withUnit = (value: string, unit: string, bare: boolean): string =>
	bare || unit === '' || value === '[N/A]' ? value : `${value} ${unit}`;

const header = (name: string, unit: string, bare: boolean): string =>
	unit === '' || bare ? name : `${name} [${unit}]`;

export const gpuHeader = (fields: readonly string[], bare = false): string =>
	fields.map((field) => header(field, FIELDS[field]?.[0] ?? '', bare)).join(', ');

export const gpuRow = (host: SimHost, fields: readonly string[], bare = false): string => {
	const gauge = gauges(host);
	return fields
		.map((field) => {
			const [unit, read] = FIELDS[field]!;
			return withUnit(read(host, gauge), unit, bare);
		})
		.join(', ');
};

export const appsHeader = (fields: readonly string[], bare = false): string =>
	fields.map((field) => header(APP_FIELDS[field]?.[0] ?? field, APP_FIELDS[field]?.[1] ?? '', bare)).join(', ');

export const appRows = (host: SimHost, fields: readonly string[], bare = false): string[] =>
	computeApps(host).map((proc) =>
		fields
			.map((field) => {
				const [, unit, read] = APP_FIELDS[field]!;
				return withUnit(read(host, proc), unit, bare);
			})
			.join(', '),
	);

const RULE = '+-----------------------------------------------------------------------------------------+';
const COLUMNS = '+-----------------------------------------+------------------------+----------------------+';

const processRow = (host: SimHost, proc: Proc): string => {
	const memory = `${gpuMiB(proc, host.now)}MiB`;
	const shown = proc.name.length > 32 ? `...${proc.name.slice(-29)}` : proc.name;
	const name = `${shown.padEnd(46 - memory.length)}${memory}`;
	return `|    0   N/A  N/A ${String(proc.pid).padStart(15)}      ${proc.gpuType}   ${name} |`;
};

export const table = (host: SimHost): string => {
	const gauge = gauges(host);
	const power = `${Math.round(gauge.power)}W /  N/A`;
	const shown = [...host.procs.values()].filter(
		(proc) => proc.gpuType === 'G' || (proc.gpuType === 'C' && gpuMiB(proc, host.now) > 0),
	);
	const rows = shown.sort((a, b) => a.pid - b.pid).map((proc) => processRow(host, proc));
	return `${[
		ctime(wallAt(host, host.now)).padEnd(31),
		RULE,
		`| NVIDIA-SMI ${DRIVER}             Driver Version: ${DRIVER}     CUDA Version: 13.0     |`,
		COLUMNS,
		'| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |',
		'| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |',
		'|                                         |                        |               MIG M. |',
		COLUMNS.replaceAll('-', '=').replace(/^\+|\+$/g, '|'),
		'|   0  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |                  N/A |',
		`| N/A ${String(gauge.temperature).padStart(4)}C    ${gauge.state} ${power.padStart(22)}  | Not Supported          | ${String(gauge.util).padStart(6)}%      Default |`,
		'|                                         |                        |                  N/A |',
		COLUMNS,
		'',
		RULE,
		'| Processes:                                                                              |',
		'|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |',
		'|        ID   ID                                                               Usage      |',
		RULE.replaceAll('-', '=').replace(/^\+|\+$/g, '|'),
		...(rows.length > 0
			? rows
			: ['|  No running processes found                                                             |']),
		RULE,
	].join('\n')}\n`;
};

const OPTIONS: OptionTable = {
	'--query-gpu': ['query-gpu', true],
	'--query-compute-apps': ['query-apps', true],
	'--format': ['format', true],
	'-l': ['loop', true],
	'--loop': ['loop', true],
	'-L': ['list', false],
	'--list-gpus': ['list', false],
};

export const nvidiaSmi: Program = async (call) => {
	const read = readOptions(call.args, OPTIONS);
	if (!read.ok || read.options.rest.length > 0) {
		const wrong = read.ok ? read.options.rest[0] : (/'(.*)'/.exec(read.fault)?.[1] ?? '');
		call.out(
			`Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n`.replace(
				'of input arguments',
				`of input arguments: ${wrong}`,
			),
		);
		return 6;
	}
	const { options } = read;
	if (call.machine.see().faults.gpuHung) {
		// The driver does not answer: the process sits there until somebody ends it or the driver comes back.
		if (!(await call.machine.until((host) => !host.faults.gpuHung, call.signal))) return 137;
	}
	if (options.has('list')) {
		call.out(`GPU 0: NVIDIA GB10 (UUID: ${call.machine.see().gpuUuid})\n`);
		return 0;
	}
	const printer = printerOf(call, options.value('query-gpu'), options.value('query-apps'), options.value('format'));
	if (typeof printer === 'number') return printer;
	const seconds = Number(options.value('loop') ?? 0);
	if (options.has('loop') && !(Number.isInteger(seconds) && seconds > 0)) {
		call.out(`Option "-l" is not recognized or has an invalid value: ${options.value('loop')}\n`);
		return 2;
	}
	for (let round = 0; ; round += 1) {
		call.out(printer(call.machine.see(), round === 0));
		if (seconds === 0) return 0;
		if (!(await pause(seconds * 1000, call.signal))) return 143;
		if (!(await call.machine.until((host) => !host.faults.gpuHung, call.signal))) return 137;
	}
};

/** What is printed each round, or the exit code where the question is not understood. */
const printerOf = (
	call: Call,
	gpu: string | undefined,
	apps: string | undefined,
	format: string | undefined,
): ((host: SimHost, first: boolean) => string) | number => {
	const asked = gpu ?? apps;
	if (asked === undefined) return table;
	const formats = (format ?? '').split(',').map((one) => one.trim());
	if (!formats.includes('csv') || formats.some((one) => !['csv', 'noheader', 'nounits'].includes(one))) {
		call.out('"--format=" switch is missing. The "csv" format is required.\n');
		return 2;
	}
	const fields = asked.split(',').map((field) => field.trim());
	const known = gpu === undefined ? APP_FIELDS : FIELDS;
	const wrong = fields.find((field) => !known[field]);
	if (wrong !== undefined) {
		call.out(`Field "${wrong}" is not a valid field to query.\n\n`);
		return 2;
	}
	const bare = formats.includes('nounits');
	const top = gpu === undefined ? appsHeader(fields, bare) : gpuHeader(fields, bare);
	return (host, first) => {
		const rows = gpu === undefined ? appRows(host, fields, bare) : [gpuRow(host, fields, bare)];
		const lines = first && !formats.includes('noheader') ? [top, ...rows] : rows;
		return lines.map((line) => `${line}\n`).join('');
	};
};
