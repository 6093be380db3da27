import type { ProcSpec, UnitSpec } from './worldTypes.ts';
import { ordinaryUnits, unit } from './worldUnits.ts';

/** Who plays in the story. Sizes are GiB of the screens, in the MiB that nvidia-smi prints. */
const GPU = { cluster: 93_389, reranker: 8090, embeddings: 3789 } as const;

const proc = (name: string, command: string, user: string, hostMiB: number, gpuMiB = 0): ProcSpec => ({
	name,
	command,
	user,
	hostMiB,
	gpuMiB,
});

/** The three processes of a vLLM server: API, tracker, and the engine that holds the GPU memory. */
const vllm = (
	command: string,
	user: string,
	hostMiB: readonly [number, number, number],
	gpuMiB: number,
): ProcSpec[] => [
	proc('vllm', command, user, hostMiB[0]),
	proc(
		'python3',
		'/opt/vllm/bin/python3 -c from multiprocessing.resource_tracker import main;main(9)',
		user,
		hostMiB[1],
	),
	proc('VLLM::EngineCore', 'VLLM::EngineCore', user, hostMiB[2], gpuMiB),
];

const load = (model: string, gib: string): string[] => [
	`INFO [api_server.py:1277] vLLM API server version 0.16.1`,
	`INFO [model.py:530] Resolved architecture of ${model}`,
	`INFO [gpu_model_runner.py:3551] Model loading took ${gib} GiB and 21.4 seconds`,
	`INFO [core.py:184] init engine (profile, create kv cache, warmup model) took 14.92 seconds`,
	`INFO:     Application startup complete.`,
];

const CLUSTER =
	'/opt/vllm/bin/vllm serve zai-org/GLM-4.7-Flash --port 8001 --gpu-memory-utilization 0.75 --max-model-len 131072';
const cluster: UnitSpec = unit('vllm-cluster.service', 'system', 'vLLM model server: GLM-4.7-Flash', {
	fragment: '/etc/systemd/system/vllm-cluster.service',
	execStart: CLUSTER.split(' '),
	execStartPre: ['/usr/bin/test', '-d', '/home/spark/models'],
	restart: 'always',
	restartSeconds: 5,
	user: 'spark',
	timeoutStop: '2min',
	procs: vllm(`/opt/vllm/bin/python3 ${CLUSTER}`, 'spark', [338, 14, 774], GPU.cluster),
	stopTakes: 8,
	returnTakes: 6,
	loadAfter: 6,
	loadTakes: 34,
	log: load('Glm4MoeLiteForCausalLM', '58.9'),
});

const RERANKER_MODEL = '--model zeroentropy/zerank-2 --task score --port 8003 --gpu-memory-utilization 0.06';
const RERANKER = `/usr/bin/docker run --rm --name vllm-reranker --gpus all --network=host --ipc=host nvcr.io/nvidia/vllm:26.05-py3 vllm serve ${RERANKER_MODEL}`;
const reranker: UnitSpec = unit('vllm-reranker.service', 'system', 'vLLM reranker: ZeRank-2 (container)', {
	fragment: '/etc/systemd/system/vllm-reranker.service',
	execStartPre: ['-/usr/bin/docker', 'rm', '-f', 'vllm-reranker'],
	execStart: RERANKER.split(' '),
	execStop: ['/usr/bin/docker', 'stop', '-t', '10', 'vllm-reranker'],
	restart: 'always',
	restartSeconds: 5,
	procs: [proc('docker', RERANKER, 'root', 17)],
	container: {
		name: 'vllm-reranker',
		image: 'nvcr.io/nvidia/vllm:26.05-py3',
		command: `vllm serve ${RERANKER_MODEL}`,
		procs: vllm(`/usr/bin/python3 /usr/local/bin/vllm serve ${RERANKER_MODEL}`, 'root', [188, 9, 298], GPU.reranker),
		remove: true,
	},
	stopTakes: 3,
	returnTakes: 4,
	loadAfter: 2,
	loadTakes: 6,
	log: load('Qwen3ForSequenceClassification', '7.6'),
});

const EMBEDDINGS =
	'/opt/vllm/bin/vllm serve Alibaba-NLP/gte-Qwen2-1.5B-instruct --task embed --port 8002 --gpu-memory-utilization 0.03';
const embeddings: UnitSpec = unit('vllm-embeddings.service', 'user', 'vLLM embeddings: gte-Qwen2', {
	fragment: '/home/spark/.config/systemd/user/vllm-embeddings.service',
	cgroup: '/user.slice/user-1000.slice/user@1000.service/app.slice/vllm-embeddings.service',
	execStart: EMBEDDINGS.split(' '),
	restart: 'on-failure',
	restartSeconds: 5,
	user: 'spark',
	procs: vllm(`/opt/vllm/bin/python3 ${EMBEDDINGS}`, 'spark', [166, 8, 236], GPU.embeddings),
	stopTakes: 2,
	returnTakes: 3,
	loadAfter: 2,
	loadTakes: 5,
	log: load('Qwen2ForCausalLM', '3.3'),
});

const PROXY = '/opt/vllm-proxy/bin/python3 -m vllm_proxy --port 8000 --backend :8001 --backend :8002 --backend :8003';
const proxy: UnitSpec = unit(
	'vllm-proxy.service',
	'system',
	'Load-balancing proxy before the model servers (port 8000)',
	{
		fragment: '/etc/systemd/system/vllm-proxy.service',
		execStart: PROXY.split(' '),
		restart: 'always',
		restartSeconds: 2,
		user: 'spark',
		wants: ['vllm-cluster.service', 'vllm-reranker.service'],
		procs: [proc('python3', PROXY, 'spark', 205)],
		stopTakes: 0.6,
		returnTakes: 0.6,
		log: ['INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)'],
	},
);

const GREETER = '/user.slice/user-120.slice/session-c1.scope';
const GREETER_USER = '/user.slice/user-120.slice/user@120.service';
const OPERATOR_USER = '/user.slice/user-1000.slice/user@1000.service';

const desktop: UnitSpec = unit('gdm.service', 'system', 'GNOME Display Manager', {
	execStart: ['/usr/sbin/gdm3'],
	type: 'dbus',
	restart: 'always',
	unitFileState: 'static',
	aliases: ['display-manager.service'],
	procs: [proc('gdm3', '/usr/sbin/gdm3', 'root', 2.4), proc('gdm-session-wor', 'gdm-session-worker', 'root', 2.1)],
});

const userManager = (uid: number, user: string, cgroup: string): UnitSpec =>
	unit(`user@${uid}.service`, 'system', `User Manager for UID ${uid}`, {
		execStart: ['/usr/lib/systemd/systemd', '--user'],
		type: 'notify',
		unitFileState: 'static',
		timeoutStop: '2min',
		user,
		cgroup,
		procs: [],
	});

const userUnits: readonly UnitSpec[] = [
	unit('dbus.service', 'user', 'D-Bus User Message Bus', {
		fragment: '/usr/lib/systemd/user/dbus.service',
		cgroup: `${OPERATOR_USER}/app.slice/dbus.service`,
		execStart: ['/usr/bin/dbus-daemon', '--session', '--nofork'],
		type: 'notify',
		unitFileState: 'static',
		user: 'spark',
		procs: [proc('dbus-daemon', '/usr/bin/dbus-daemon --session --nofork', 'spark', 1.1)],
	}),
	unit('xdg-desktop-portal.service', 'user', 'Portal service', {
		fragment: '/usr/lib/systemd/user/xdg-desktop-portal.service',
		execStart: ['/usr/libexec/xdg-desktop-portal'],
		type: 'dbus',
		unitFileState: 'static',
		user: 'spark',
		cgroup: '',
		state: 'dead',
	}),
];

/** Processes that belong to no unit of a service: the greeter's session, the operator's own, the managers. */
export type Resident = ProcSpec & { readonly cgroup: string; readonly gpuType: 'G' | null };

const resident = (cgroup: string, spec: ProcSpec): Resident => ({
	...spec,
	cgroup,
	gpuType: spec.gpuMiB > 0 ? 'G' : null,
});

export const residents: readonly Resident[] = [
	resident('/init.scope', proc('systemd', '/sbin/init splash', 'root', 9)),
	resident(`${GREETER_USER}/init.scope`, proc('systemd', '/usr/lib/systemd/systemd --user', 'gdm', 2.2)),
	resident(
		GREETER,
		proc('/usr/lib/xorg/Xorg', '/usr/lib/xorg/Xorg vt1 -displayfd 3 -auth /run/user/120/gdm/Xauthority', 'gdm', 27, 43),
	),
	resident(
		`${GREETER_USER}/session.slice/org.gnome.Shell@x11.service`,
		proc('/usr/bin/gnome-shell', '/usr/bin/gnome-shell', 'gdm', 62, 17),
	),
	resident(
		`${GREETER_USER}/session.slice/org.gnome.SettingsDaemon.Power.service`,
		proc('gsd-power', '/usr/libexec/gsd-power', 'gdm', 6),
	),
	resident(`${OPERATOR_USER}/init.scope`, proc('systemd', '/usr/lib/systemd/systemd --user', 'spark', 2.4)),
	resident('/user.slice/user-1000.slice/session-2.scope', proc('tmux: server', 'tmux new -A -s main', 'spark', 14)),
];

const common = (): UnitSpec[] => [
	...ordinaryUnits(),
	desktop,
	userManager(120, 'gdm', GREETER_USER),
	userManager(1000, 'spark', OPERATOR_USER),
	...userUnits,
];

export type HostCast = {
	readonly name: string;
	readonly role: 'head' | 'secondary';
	readonly totalKb: number;
	/** GiB at the start of the story. */
	readonly free: number;
	readonly cache: number;
	readonly shmem: number;
	/** SUnreclaim, KernelStack, PageTables, Percpu. */
	readonly kernel: readonly [number, number, number, number];
	readonly unexplained: number;
	/** Days since boot. */
	readonly up: number;
	readonly units: readonly UnitSpec[];
};

export const cast: readonly HostCast[] = [
	{
		name: 'spark-1a32',
		role: 'head',
		totalKb: 127_601_228,
		free: 4.8,
		cache: 9.6,
		shmem: 0.34,
		kernel: [0.42, 0.03, 0.11, 0.04],
		unexplained: 0.24,
		up: 9.2,
		units: [...common(), cluster, reranker, embeddings, proxy],
	},
	{
		name: 'spark-5be3',
		role: 'secondary',
		totalKb: 127_532_360,
		free: 106.7,
		cache: 6.9,
		shmem: 0.52,
		kernel: [0.51, 0.03, 0.12, 0.04],
		unexplained: 0.14,
		up: 12.4,
		units: [...common(), embeddings],
	},
];
