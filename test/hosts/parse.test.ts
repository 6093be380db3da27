import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MiB } from '../../src/domain/bytes.ts';
import { parseContainers } from '../../src/hosts/parse/containers.ts';
import { parseCpu, parseMemInfo, parsePressure } from '../../src/hosts/parse/meminfo.ts';
import { figure, headerOf, parseGpuRow, parseProcessRow, processColumnsOf } from '../../src/hosts/parse/nvidiaSmi.ts';
import { parseTimeSpan, parseUnits } from '../../src/hosts/parse/systemd.ts';

const capture = (name: string): string[] =>
	readFileSync(new URL(`../fixtures/hardware/${name}`, import.meta.url), 'utf8').split('\n');

describe('meminfo', () => {
	test('a real DGX Spark, though only its first lines were captured', () => {
		const text = capture('proc-meminfo_dgx-spark_6.17.0-1008_partial.txt').join('\n');
		const parsed = parseMemInfo(text);
		expect(parsed.ok && parsed.value).toMatchObject({
			total: 127601228 * 1024,
			free: 1908496 * 1024,
			available: 25516700 * 1024,
			cached: 19830636 * 1024,
			anonPages: null,
			cmaFree: null,
		});
	});
	test('HugePages_Total is a count, not kB', () => {
		const parsed = parseMemInfo('MemTotal: 10 kB\nMemFree: 1 kB\nMemAvailable: 2 kB\nHugePages_Total:      7\n');
		expect(parsed.ok && parsed.value.hugePagesTotal).toBe(7);
	});
	test.each([
		'',
		'MemTotal: 5 kB',
		'MemTotal: 5 kB\nMemFree: 9 kB\nMemAvailable: 1 kB',
		'MemTotal: 0 kB\nMemFree: 0 kB\nMemAvailable: 0 kB',
	])('%j is refused', (text) => expect(parseMemInfo(text).ok).toBe(false));
	test('pressure and cpu', () => {
		const psi = parsePressure(
			'some avg10=1.50 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.25 avg60=0.00 avg300=0.00 total=1\n',
		);
		expect(psi.ok && psi.value).toEqual({ some10: 1.5, full10: 0.25 });
		const cpu = parseCpu('cpu  10 0 20 60 10 0 0 0 5 0');
		expect(cpu.ok && cpu.value).toEqual({ busy: 30, total: 100 });
	});
});

describe('nvidia-smi', () => {
	test.each([
		['[N/A]', null],
		['N/A', null],
		['Not Supported', null],
		['[Not Supported]', null],
		['-', null],
		['', null],
		['0', 0],
		['11.17 W', 11.17],
		['0 %', 0],
		['19135', 19135],
		['12abc', null],
	])('%j is %j: not available is a state and never 0', (text, value) => expect(figure(text)).toBe(value));

	test('GB10 with driver 580.173.02: memory unknown, the rest known, columns by name', () => {
		const lines = capture('csv_query-gpu_580.173.02_and_raw-nvml.txt');
		const at = lines.findIndex((line) => line.startsWith('memory.total [MiB]'));
		const columns = headerOf(lines[at]!);
		expect(columns).toEqual([
			'memory.total',
			'memory.used',
			'memory.free',
			'utilization.gpu',
			'power.draw',
			'temperature.gpu',
		]);
		expect(parseGpuRow(lines[at + 1]!, columns!)).toMatchObject({
			memoryTotalBytes: null,
			memoryUsedBytes: null,
			utilisationPercent: 0,
			powerW: 11.17,
			temperatureC: 35,
			clockMhz: null,
		});
	});
	test('GB10 processes as captured in llama-swap#782: a uuid first, no header', () => {
		const row = capture('csv_query-compute-apps.txt').find((line) => line.startsWith('GPU-'))!;
		expect(parseProcessRow(row, processColumnsOf(row))).toEqual({
			pid: 114687,
			name: '/usr/local/bin/python',
			uuid: 'GPU-...',
			bytes: 19135 * MiB,
		});
	});
	test('as we ask for it, with a comma in the name', () => {
		const columns = headerOf('pid, used_gpu_memory [MiB], gpu_uuid, process_name')!;
		expect(parseProcessRow('577729, 89093 MiB, GPU-1, VLLM::EngineCore, x', columns)).toEqual({
			pid: 577729,
			name: 'VLLM::EngineCore, x',
			uuid: 'GPU-1',
			bytes: 89093 * MiB,
		});
		expect(parseProcessRow('577729, [N/A], GPU-1, x', columns)?.bytes).toBe(null);
	});
	test.each(['No devices were found', 'NVIDIA-SMI has failed because it could not communicate', '', '[N/A], [N/A]'])(
		'%j is no GPU',
		(line) => expect(parseGpuRow(line, ['index', 'uuid', 'name'])).toBe(null),
	);
});

describe('systemctl show', () => {
	const text = [
		'Id=vllm-reranker.service',
		'Description=ZeRank-2 = the reranker',
		'LoadState=loaded',
		'ActiveState=active',
		'SubState=running',
		'MainPID=148',
		'ControlGroup=/system.slice/vllm-reranker.service',
		'InvocationID=0123456789abcdef0123456789abcdef',
		'Job=',
		'ExecStart={ path=/usr/bin/docker ; argv[]=/usr/bin/docker run --rm --name vllm-reranker img ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }',
		'TimeoutStopUSec=1min 30s',
		'ActiveEnterTimestampMonotonic=5000000',
		'TriggeredBy=a.socket b.timer',
		'',
		'Id=gone.service',
		'LoadState=not-found',
		'ActiveState=inactive',
		'Job=1234',
		'InvocationID=',
	].join('\n');
	test('blocks of units', () => {
		const [reranker, gone] = parseUnits(text, 'system');
		expect(reranker).toMatchObject({
			name: 'vllm-reranker.service',
			description: 'ZeRank-2 = the reranker',
			mainPid: 148,
			hasJob: false,
			stopTimeoutMs: 90_000,
			activeSince: 5,
			triggeredBy: ['a.socket', 'b.timer'],
			execStart: [['/usr/bin/docker', 'run', '--rm', '--name', 'vllm-reranker', 'img']],
		});
		expect(gone).toMatchObject({ loadState: 'not-found', hasJob: true, invocationId: '', mainPid: null });
	});
	test.each([
		['1min 30s', 90_000],
		['infinity', null],
		['5s', 5000],
		['1h', 3_600_000],
		['500ms', 500],
		['', null],
	])('%j is %j ms', (span, ms) => expect(parseTimeSpan(span)).toBe(ms));
	test('a name that could mean something to a shell is no unit', () => {
		expect(parseUnits('Id=$(rm -rf x).service\nActiveState=active\n', 'system')).toEqual([]);
	});
});

test('docker ps, with lines that are none', () => {
	const id = 'a'.repeat(64);
	const list = parseContainers(
		`{"ID":"${id}","Names":"vllm-reranker","Image":"img","State":"running","Status":"Up"}\nnope\n{"ID":1}\n{broken`,
		'docker',
	);
	expect(list).toEqual([{ id, name: 'vllm-reranker', image: 'img', running: true, status: 'Up', tool: 'docker' }]);
});

test('no parser throws, whatever a host sends', () => {
	const line = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[A-Za-z[\]=:, .0-9%/-]{0,60}$/));
	fc.assert(
		fc.property(fc.array(line), (lines) => {
			const text = lines.join('\n');
			parseMemInfo(text);
			parsePressure(text);
			parseCpu(text);
			parseUnits(text, 'user');
			parseContainers(text, 'docker');
			for (const one of lines) {
				headerOf(one);
				parseGpuRow(one, headerOf(one) ?? ['name', 'index']);
				parseProcessRow(one, processColumnsOf(one));
			}
		}),
		{ numRuns: 500 },
	);
});
