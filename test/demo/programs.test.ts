import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runOnce } from '../../src/demo/exec.ts';
import type { Machine } from '../../src/demo/machine.ts';
import { unitOf } from '../../src/demo/worldLife.ts';
import { MiB } from '../../src/domain/bytes.ts';
import { parseContainers } from '../../src/hosts/parse/containers.ts';
import { headerOf, parseGpuRow, parseProcessRow } from '../../src/hosts/parse/nvidiaSmi.ts';
import { parseUnits } from '../../src/hosts/parse/systemd.ts';
import { answer, machines, until } from './support.ts';

let head: Machine;
let second: Machine;
beforeAll(() => {
	[head, second] = machines(50);
});
afterAll(() => {
	head.stop();
	second.stop();
});

const capture = (name: string): string =>
	readFileSync(new URL(`../fixtures/hardware/${name}`, import.meta.url), 'utf8');

/** The table as captured on a Spark with driver 580.159.03 (hijinks results, aeon_gemma26), below its date. */
const TABLE = `+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 580.159.03             Driver Version: 580.159.03     CUDA Version: 13.0     |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |                  N/A |
| N/A   46C    P0             10W /  N/A  | Not Supported          |      0%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A          329657      G   /usr/lib/xorg/Xorg                       43MiB |
|    0   N/A  N/A          329691      G   /usr/bin/gnome-shell                     17MiB |
|    0   N/A  N/A          577729      C   VLLM::EngineCore                      89093MiB |
+-----------------------------------------------------------------------------------------+
`;

/** Figures differ from one second to the next; what is left is the form, to the byte and with the same width. */
const form = (text: string): string =>
	text
		.split('\n')
		.map((line) =>
			line
				.replace(/ +\d+(?=C|W|%|MiB)/g, (found) => '#'.repeat(found.length))
				.replace(/ +\d+(?= +[GC] )/, (found) => '#'.repeat(found.length)),
		)
		.join('\n');

describe('nvidia-smi', () => {
	test('the table, byte for byte but for the figures', async () => {
		const text = await answer(second, 'nvidia-smi');
		const [date, ...rest] = text.split('\n');
		expect(date).toMatch(/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4} {7}$/);
		expect(form(rest.join('\n'))).toBe(form(TABLE));
	});
	test('what the captures asked, in the form in which they were answered', async () => {
		const query =
			'nvidia-smi --query-gpu=memory.total,memory.used,memory.free,utilization.gpu,power.draw,temperature.gpu --format=csv';
		const captured = capture('csv_query-gpu_580.173.02_and_raw-nvml.txt').split('\n');
		const at = captured.findIndex((line) => line.startsWith('memory.total [MiB]'));
		const lines = (await answer(head, query)).split('\n');
		const shape = (line: string): string => line.replace(/\d+\.\d\d/g, 'D.DD').replace(/\d+/g, 'D');
		expect(lines[0]).toBe(captured[at]);
		expect(shape(lines[1]!)).toBe(shape(captured[at + 1]!));
		expect(
			await answer(head, 'nvidia-smi --query-gpu=name,compute_cap,driver_version,memory.total --format=csv,noheader'),
		).toBe('NVIDIA GB10, 12.1, 580.159.03, [N/A]\n');
		expect(
			await answer(
				head,
				'nvidia-smi --query-gpu=name,memory.used,memory.total,utilization.gpu --format=csv,noheader,nounits',
			),
		).toMatch(/^NVIDIA GB10, \[N\/A\], \[N\/A\], \d+\n$/);
		expect(
			await answer(
				second,
				'nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv,noheader,nounits',
			),
		).toMatch(/^GPU-[0-9a-f-]{36}, \d+, VLLM::EngineCore, 3789\n$/);
	});
	test('as the console reads it: busy head, idle secondary', async () => {
		const fields = 'index,name,pstate,utilization.gpu,temperature.gpu,power.draw,clocks.current.graphics,memory.total';
		const read = async (machine: Machine) => {
			const [top, row] = (await answer(machine, `nvidia-smi --query-gpu=${fields} --format=csv`)).split('\n');
			return parseGpuRow(row!, headerOf(top!)!)!;
		};
		const busy = await read(head);
		expect(busy.utilisationPercent).toBeGreaterThanOrEqual(90);
		expect(busy.utilisationPercent).toBeLessThanOrEqual(96);
		expect(Math.abs(busy.temperatureC! - 61)).toBeLessThan(3);
		expect(Math.abs(busy.powerW! - 84)).toBeLessThan(4);
		expect(Math.abs(busy.clockMhz! - 2280)).toBeLessThan(30);
		expect(busy.memoryTotalBytes).toBe(null);
		const idle = await read(second);
		expect(idle).toMatchObject({ clockMhz: 208 });
		expect(Math.abs(idle.utilisationPercent! - 3)).toBeLessThan(3);
		const [top, ...rows] = (
			await answer(head, 'nvidia-smi --query-compute-apps=pid,used_memory,gpu_uuid,process_name --format=csv')
		)
			.trim()
			.split('\n');
		const processes = rows.map((row) => parseProcessRow(row, headerOf(top!)!)!);
		expect(processes.map((one) => one.bytes! / MiB)).toEqual([93_389, 8090, 3789]);
	});
});

describe('systemctl', () => {
	const PROPERTIES =
		'Id,Names,Description,LoadState,ActiveState,SubState,Type,MainPID,ControlGroup,InvocationID,Job,Result,Restart,NRestarts,UnitFileState,FragmentPath,TriggeredBy,RequiredBy,BoundBy,ExecStart,TimeoutStopUSec,ActiveEnterTimestampMonotonic,RemainAfterExit';
	test('show has the properties in the order of systemd, also of what it does not know', async () => {
		const text = await answer(
			head,
			`systemctl show --no-pager -p ${PROPERTIES} -- vllm-cluster.service nosuch.service`,
		);
		const [cluster, nothing] = text.split('\n\n').map((block) =>
			block
				.trim()
				.split('\n')
				.map((line) => line.split('=')[0]),
		);
		// As systemd 252 and 255 print it.
		const order =
			'Type,Restart,TimeoutStopUSec,RemainAfterExit,MainPID,Result,NRestarts,ExecStart,ControlGroup,Id,Names,RequiredBy,BoundBy,TriggeredBy,Description,LoadState,ActiveState,SubState,FragmentPath,UnitFileState,ActiveEnterTimestampMonotonic,Job,InvocationID'.split(
				',',
			);
		expect(cluster).toEqual(order);
		expect(nothing).toEqual(order.filter((one) => one !== 'ExecStart'));
		expect(new Set(order)).toEqual(new Set(PROPERTIES.split(',')));
		expect(text).toMatch(
			/^ExecStart=\{ path=\S+ ; argv\[\]=\S.* ; ignore_errors=no ; start_time=\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\] ; stop_time=\[n\/a\] ; pid=\d+ ; code=\(null\) ; status=0\/0 \}$/m,
		);
		expect(text).toContain('LoadState=not-found');
	});
	test('as the console reads all of them', async () => {
		const units = parseUnits(await answer(head, `systemctl show -p ${PROPERTIES} -- '*.service'`), 'system');
		expect(units.length).toBeGreaterThan(55);
		expect(units.filter((unit) => unit.activeState === 'failed')).toHaveLength(1);
		expect(units.find((unit) => unit.name === 'vllm-reranker.service')).toMatchObject({
			cgroup: '/system.slice/vllm-reranker.service',
			restart: 'always',
			hasJob: false,
			stopTimeoutMs: 90_000,
			execStart: [expect.arrayContaining(['/usr/bin/docker', 'run', '--rm', '--name', 'vllm-reranker'])],
		});
		const user = parseUnits(await answer(head, `systemctl --user show -p ${PROPERTIES} '*.service'`), 'user');
		expect(user.map((unit) => unit.name)).toContain('vllm-embeddings.service');
	});
	test('--value, -P and several properties', async () => {
		const { invocation, mainPid } = unitOf(head.see(), 'system', 'vllm-cluster')!;
		expect(await answer(head, 'systemctl show -p InvocationID --value -- vllm-cluster.service')).toBe(
			`${invocation}\n`,
		);
		expect(await answer(head, 'systemctl show -P MainPID vllm-cluster')).toBe(`${mainPid}\n`);
		expect(await answer(head, 'systemctl show -p InvocationID --value -- nosuch.service')).toBe('\n');
		expect(await answer(head, 'systemctl show --property=Id --property=MainPID sshd vllm-cluster')).toMatch(
			/^MainPID=\d+\nId=ssh\.service\n\nMainPID=\d+\nId=vllm-cluster\.service\n$/,
		);
	});
	test('list-units', async () => {
		const text = await answer(head, 'systemctl list-units --type=service --no-pager');
		expect(text).toMatch(/^ {2}UNIT +LOAD +ACTIVE +SUB +DESCRIPTION\n/);
		expect(text).toMatch(
			/^● NetworkManager-wait-online\.service +loaded failed +failed +Network Manager Wait Online$/m,
		);
		expect(text).toMatch(/\n\d+ loaded units listed\. Pass --all to see/);
		expect(text).not.toContain('inactive   dead');
		expect(await answer(head, 'systemctl list-units --all --plain --no-legend "fstrim*"')).toMatch(
			/^fstrim\.service loaded inactive dead Discard/,
		);
		const rows = JSON.parse(await answer(head, 'systemctl list-units --output=json "vllm-p*"'));
		expect(rows).toEqual([
			{
				unit: 'vllm-proxy.service',
				load: 'loaded',
				active: 'active',
				sub: 'running',
				description: 'Load-balancing proxy before the model servers (port 8000)',
			},
		]);
	});
	test('stop waits for the job, --no-block does not', async () => {
		const proxy = unitOf(head.see(), 'system', 'vllm-proxy')!;
		await answer(head, 'sudo -n systemctl stop vllm-proxy');
		expect(proxy.active).toBe('inactive');
		expect(await answer(head, 'systemctl is-active vllm-proxy || true')).toBe('inactive\n');
		await answer(head, 'sudo systemctl start --no-block vllm-proxy');
		expect(proxy.active).toBe('inactive');
		expect(proxy.job?.type).toBe('start');
		await until(
			() => proxy.active,
			(active) => active === 'active',
		);
		const { invocation } = proxy;
		await answer(head, 'sudo systemctl restart vllm-proxy');
		expect([proxy.active, proxy.invocation === invocation]).toEqual(['active', false]);
	});
	test('status and the journal', async () => {
		const text = await answer(head, 'systemctl status vllm-cluster.service');
		expect(text).toMatch(/^● vllm-cluster\.service - vLLM model server: GLM-4\.7-Flash\n {5}Loaded: loaded \(/);
		expect(text).toMatch(/ {5}Active: active \(running\) since .* ago\n {3}Main PID: \d+ \(vllm\)\n/);
		expect((await runOnce(head, 'systemctl status fstrim')).code).toBe(3);
		expect((await runOnce(head, 'systemctl status nosuch')).code).toBe(4);
		expect((await answer(head, 'journalctl -u vllm-cluster -n 2')).trim().split('\n')).toHaveLength(2);
		expect(await answer(head, 'systemctl cat vllm-proxy')).toContain(
			'Wants=vllm-cluster.service vllm-reranker.service',
		);
	});
});

describe('docker', () => {
	test('ps as the console asks it', async () => {
		const [running, exited] = parseContainers(
			await answer(head, "docker ps -a --no-trunc --format '{{json .}}'"),
			'docker',
		);
		expect(running).toMatchObject({ name: 'vllm-reranker', running: true, status: 'Up 2 days' });
		expect(running?.id).toMatch(/^[0-9a-f]{64}$/);
		expect(exited).toMatchObject({ name: 'nccl-test', running: false });
		expect(Object.keys(JSON.parse((await answer(head, 'docker ps --format json')).trim()))).toEqual(
			// As docker 24 prints it.
			'Command,CreatedAt,ID,Image,Labels,LocalVolumes,Mounts,Names,Networks,Ports,RunningFor,Size,State,Status'.split(
				',',
			),
		);
		expect(await answer(second, 'docker ps -q')).toBe('');
		expect(await answer(head, "docker inspect -f '{{.State.Running}}' vllm-reranker")).toBe('true\n');
	});
	test('stopping the container of a unit is undone by the unit', async () => {
		const reranker = unitOf(head.see(), 'system', 'vllm-reranker')!;
		const id = reranker.container;
		await answer(head, 'docker stop vllm-reranker');
		expect(reranker.sub).toBe('auto-restart');
		await until(
			() => reranker.container,
			(container) => container !== null && container !== id,
		);
	});
});

describe('what a program does not know is an error', () => {
	test.each([
		['systemctl --frob', 1, "systemctl: unrecognized option '--frob'\n"],
		['systemctl frob', 1, "Unknown command verb 'frob'.\n"],
		['systemctl stop', 1, 'Too few arguments.\n'],
		['systemctl list-units -o yaml', 1, "Unknown output 'yaml'.\n"],
		[
			'systemctl list-units --type=serv',
			1,
			"Unknown unit type or load state 'serv'.\nUse -t help to see a list of allowed values.\n",
		],
		[
			'systemctl stop --no-ask-password ssh.service',
			1,
			"Failed to stop ssh.service: Interactive authentication required.\nSee system logs and 'systemctl status ssh.service' for details.\n",
		],
		['sudo -n systemctl stop nosuch', 5, 'Failed to stop nosuch.service: Unit nosuch.service not loaded.\n'],
		['sudo -n systemctl start nosuch', 5, 'Failed to start nosuch.service: Unit nosuch.service not found.\n'],
		['env XDG_RUNTIME_DIR= systemctl --user show -p Id x', 1, 'Failed to connect to bus: No medium found\n'],
		['sudo -n cat /etc/hostname', 1, 'sudo: a password is required\n'],
		['sudo -n systemctl show x', 1, 'sudo: a password is required\n'],
		['sudo -Z ls', 1, "sudo: invalid option -- 'Z'\nusage: sudo -h | -K | -k | -V\n"],
		['cat --frob', 1, "cat: unrecognized option '--frob'\nTry 'cat --help' for more information.\n"],
		['cat /nosuch', 1, 'cat: /nosuch: No such file or directory\n'],
		['head -n x /etc/os-release', 1, 'head: invalid number of lines: ‘x’\n'],
		['grep -P x /etc/os-release', 2, "grep: invalid option -- 'P'\nTry 'grep --help' for more information.\n"],
		['uname -z', 1, "uname: invalid option -- 'z'\nTry 'uname --help' for more information.\n"],
		['docker ps --frob', 125, "unknown flag: --frob\nSee 'docker ps --help'.\n"],
		['docker frob', 1, "docker: 'frob' is not a docker command.\nSee 'docker --help'\n"],
		['docker start nosuch', 1, 'Error response from daemon: No such container: nosuch\n'],
		['kill -TERM 999999', 1, 'sh: 1: kill: No such process\n\n'],
		['kill -KILL 1', 2, 'sh: 1: kill: invalid signal for this simulated host: -KILL\n'],
		['kill $(systemctl show -P MainPID ssh)', 1, 'sh: 1: kill: Operation not permitted\n\n'],
		['python3 -c "print(1)"', 1, "python3: this simulated host runs nothing but sparkdeck's probe\n"],
		['journalctl --frob', 1, "journalctl: unrecognized option '--frob'\n"],
		['sed y/a/b/ /etc/hostname', 1, "sed: -e expression #1, char 1: unknown command: `y'\n"],
		['sleep x', 1, "sleep: invalid time interval ‘x’\nTry 'sleep --help' for more information.\n"],
		['bash', 2, 'bash: 0: this simulated host only knows: bash -c SCRIPT [NAME [ARG...]]\n'],
	])('%s', async (line, code, err) => expect(await runOnce(head, line)).toEqual({ code, err, out: '' }));
	test.each([
		['nvidia-smi --frob', 6],
		['nvidia-smi --query-gpu=frob --format=csv', 2],
		['nvidia-smi --query-gpu=name', 2],
	])('%s', async (line, code) => expect((await runOnce(head, line)).code).toBe(code));
});

describe('small programs', () => {
	test.each([
		['hostname', /^spark-1a32\n$/],
		['uname -a', /^Linux spark-1a32 6\.17\.0-1021-nvidia #21-Ubuntu .* aarch64 GNU\/Linux\n$/],
		['uname -r -m', /^6\.17\.0-1021-nvidia aarch64\n$/],
		['id -u; id -un; id', /^1000\nspark\nuid=1000\(spark\)/],
		['sudo -n -l systemctl stop ssh.service', /^\/usr\/bin\/systemctl stop ssh\.service\n$/],
		['grep -c ^MemTotal: /proc/meminfo', /^1\n$/],
		['grep ^MemTotal /proc/meminfo', /^MemTotal: {7}127601228 kB\n$/],
		['free -b', /^ +total +used +free +shared +buff\/cache +available\nMem: +130663657472 /],
		['head -1 /proc/stat', /^cpu {2}\d+( \d+){9}\n$/],
		['cat /proc/pressure/memory', /^some avg10=0\.00 .*\nfull avg10=0\.00 /],
		['cat /proc/uptime', /^\d+\.\d\d \d+\.\d\d\n$/],
		['cat /proc/sys/kernel/random/boot_id', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/],
		['sed -n 1p /etc/os-release | sed "s/.*=//"', /^"Ubuntu 24\.04\.4 LTS"\n$/],
		['echo one two | sed "s/\\(one\\) \\(two\\)/\\2 \\1/"', /^two one\n$/],
		['ps -e -o pid,comm | grep VLLM', /^\d+ +VLLM::EngineCor\n/],
		['ps aux | head -n 1', /^USER +PID/],
		['loginctl --no-legend | wc -l', /^\d\n$/],
		['date; uptime', /^\w{3} \w{3} .*\n .* up \d+ days,/],
		['printf "%s-%d%%\\n" a 1 b 2', /^a-1%\nb-2%\n$/],
	])('%s', async (line, out) => expect(await answer(head, line)).toMatch(out));
	test('/proc of a process agrees with itself', async () => {
		const { mainPid } = unitOf(head.see(), 'system', 'vllm-cluster')!;
		const [stat, statm, cgroup, status] = await Promise.all(
			['stat', 'statm', 'cgroup', 'status'].map((file) => answer(head, `cat /proc/${mainPid}/${file}`)),
		);
		expect(stat).toMatch(new RegExp(`^${mainPid} \\(vllm\\) S 1 `));
		expect(stat!.trim().split(' ')).toHaveLength(52);
		const [, resident, shared] = statm!.split(' ').map(Number);
		expect((resident! - shared!) * 4096).toBe(338 * MiB);
		expect(status).toContain(`RssAnon:\t${338 * 1024} kB`);
		expect(cgroup).toBe('0::/system.slice/vllm-cluster.service\n');
	});
	test('a GPU that hangs holds nvidia-smi until it is back', async () => {
		head.see().faults.gpuHung = true;
		let answered = false;
		const asked = answer(head, 'nvidia-smi -L').then((text) => {
			answered = true;
			return text;
		});
		await answer(head, 'sleep 0.05');
		expect(answered).toBe(false);
		head.act((host) => {
			host.faults.gpuHung = false;
		});
		expect(await asked).toMatch(/^GPU 0: NVIDIA GB10 \(UUID: GPU-/);
	});
});
