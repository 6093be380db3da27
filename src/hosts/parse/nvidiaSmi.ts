import { MiB } from '../../domain/bytes.ts';
import type { Gpu, GpuProcess } from '../../domain/gpu.ts';

/*
 * nvidia-smi's CSV answers. Columns are found by the names in the header line, never by position, since captures and
 * versions differ; units (`[MiB]`, ` W`, ` %`) may be there or not.
 */

const UNKNOWN = /^\[?(n\/a|not supported|unknown error|insufficient permissions|-|)\]?$/i;

/** A figure, or null where the driver has none: `[N/A]`, `N/A`, `Not Supported`, `[Not Supported]`, `-`. */
export const figure = (cell: string | undefined): number | null => {
	const text = cell?.trim() ?? '';
	if (UNKNOWN.test(text)) return null;
	const number = /^(-?\d+(?:\.\d+)?)\s*(%|W|MiB|MHz|C)?$/.exec(text);
	return number ? Number(number[1]) : null;
};

/** A word, or null where the driver has none. */
const word = (cell: string | undefined): string | null => {
	const text = cell?.trim() ?? '';
	return UNKNOWN.test(text) ? null : text;
};

/** `memory.used [MiB]` -> `memory.used`; old and new names of a field are the same field. */
const column = (cell: string): string => {
	const name = cell
		.trim()
		.replace(/\s*\[.*\]$/, '')
		.toLowerCase();
	return ALIASES[name] ?? name;
};

const ALIASES: Readonly<Record<string, string>> = {
	used_memory: 'used_gpu_memory',
	'clocks.gr': 'clocks.current.graphics',
	'clocks.max.gr': 'clocks.max.graphics',
	gpu_name: 'name',
	gpu_uuid: 'uuid',
};

/** Order of the columns asked for by the probe, for answers without a header (a replayed capture with noheader). */
export const GPU_COLUMNS = [
	'index',
	'uuid',
	'name',
	'driver_version',
	'pstate',
	'utilization.gpu',
	'temperature.gpu',
	'power.draw',
	'clocks.current.graphics',
	'clocks.max.graphics',
	'memory.total',
	'memory.used',
	'memory.free',
] as const;
export const PROCESS_COLUMNS = ['pid', 'used_gpu_memory', 'uuid', 'process_name'] as const;
const KNOWN_COLUMNS: ReadonlySet<string> = new Set([...GPU_COLUMNS, ...PROCESS_COLUMNS, 'timestamp']);

/** The header's columns if this line is one: most of its cells are names of fields. */
export const headerOf = (line: string): readonly string[] | null => {
	const columns = line.split(',').map(column);
	return columns.filter((name) => KNOWN_COLUMNS.has(name)).length > columns.length / 2 ? columns : null;
};

/** The cells of a row. The last column takes what is left over: process names may hold commas. */
const cells = (line: string, columns: readonly string[]): string[] => {
	const parts = line.split(',');
	const head = parts.slice(0, columns.length - 1);
	return [...head, parts.slice(columns.length - 1).join(',')].map((cell) => cell.trim());
};

const byName = (line: string, columns: readonly string[]): Map<string, string> =>
	new Map(cells(line, columns).map((cell, at) => [columns[at] ?? '', cell]));

const mib = (value: number | null): number | null => (value === null ? null : Math.round(value * MiB));

/** One row of `--query-gpu`, or null if it is not one (`No devices were found`, an error text). */
export const parseGpuRow = (line: string, columns: readonly string[], fallbackIndex = 0): Gpu | null => {
	const cell = byName(line, columns);
	if (cell.size < 2 || cell.size !== columns.length) return null;
	const get = (name: string): number | null => figure(cell.get(name));
	const name = word(cell.get('name'));
	const numbers = [get('utilization.gpu'), get('temperature.gpu'), get('power.draw'), get('memory.total')];
	if (name === null && numbers.every((value) => value === null)) return null;
	return {
		index: get('index') ?? fallbackIndex,
		uuid: word(cell.get('uuid')),
		name: name ?? 'GPU',
		driver: word(cell.get('driver_version')),
		performanceState: word(cell.get('pstate')),
		utilisationPercent: get('utilization.gpu'),
		temperatureC: get('temperature.gpu'),
		powerW: get('power.draw'),
		clockMhz: get('clocks.current.graphics'),
		clockMaxMhz: get('clocks.max.graphics'),
		memoryTotalBytes: mib(get('memory.total')),
		memoryUsedBytes: mib(get('memory.used')),
	};
};

/** One row of `--query-compute-apps`, or null. */
export const parseProcessRow = (line: string, columns: readonly string[]): (GpuProcess & { uuid: string }) | null => {
	const cell = byName(line, columns);
	const pid = /^\d{1,10}$/.test(cell.get('pid') ?? '') ? Number(cell.get('pid')) : null;
	if (pid === null || pid === 0) return null;
	const bytes = mib(figure(cell.get('used_gpu_memory')));
	return { pid, name: cell.get('process_name') ?? '', bytes, uuid: cell.get('uuid') ?? '' };
};

/** Columns of a row of processes without a header: `UUID, pid, name, MiB` (as people capture it) or as we asked. */
export const processColumnsOf = (line: string): readonly string[] => {
	const parts = line.split(',').map((part) => part.trim());
	if (/^\d+$/.test(parts[0] ?? '')) {
		return parts.length === 3 ? ['pid', 'process_name', 'used_gpu_memory'] : PROCESS_COLUMNS;
	}
	return ['uuid', 'pid', 'process_name', 'used_gpu_memory'];
};
