import { GiB, MiB } from '../../src/domain/bytes.ts';
import type { HostSettings } from '../../src/domain/host.ts';
import type { Observation } from '../../src/domain/observation.ts';
import type { Event } from '../../src/store/events.ts';
import { reduce } from '../../src/store/reduce.ts';
import { initialState, type State } from '../../src/store/state.ts';
import { AT, observation, process_, sum, unit } from './observation.ts';

const BY_SSH2 = { transport: 'ssh2', why: null } as const;

export const HOSTS: readonly HostSettings[] = [
	{ name: 'spark-1a32', role: 'head', keep: [] },
	{ name: 'spark-5be3', role: 'secondary', keep: ['vllm-embeddings.service'] },
];

const user = '/user.slice/user-1000.slice/user@1000.service/app.slice';
const gpu = (power: number) => ({
	index: 0,
	uuid: 'GPU-1',
	name: 'NVIDIA GB10',
	driver: '580.159.03',
	performanceState: 'P0',
	utilisationPercent: 96,
	temperatureC: 61,
	powerW: power,
	clockMhz: 2280,
	clockMaxMhz: 3003,
	memoryTotalBytes: null,
	memoryUsedBytes: null,
});

/** The head of the story, with its numbers. */
export const head = (at = AT): Observation =>
	observation({
		host: 'spark-1a32',
		at,
		memory: {
			total: 127601228 * 1024,
			free: 4.8 * GiB,
			available: Math.round(14.4 * GiB),
			anonPages: Math.round(3.6 * GiB),
			shmem: 0,
			slabUnreclaimable: Math.round(0.6 * GiB),
		},
		units: [
			unit('vllm-cluster.service', { description: 'GLM-4.7-Flash' }),
			unit('vllm-reranker.service', { description: 'ZeRank-2' }),
			unit('vllm-embeddings.service', {
				description: 'gte-Qwen2',
				manager: 'user',
				cgroup: `${user}/vllm-embeddings.service`,
			}),
			unit('vllm-proxy.service'),
		],
		processes: [
			process_(11, '/system.slice/vllm-cluster.service'),
			process_(12, '/system.slice/vllm-reranker.service'),
			process_(13, `${user}/vllm-embeddings.service`),
		],
		gpu: [
			[11, Math.round(91.2 * GiB)],
			[12, Math.round(7.9 * GiB)],
			[13, Math.round(3.7 * GiB)],
		],
		cgroups: [
			sum('/system.slice/vllm-cluster.service', Math.round(1.1 * GiB)),
			sum('/system.slice/vllm-reranker.service', Math.round(0.5 * GiB)),
			sum(`${user}/vllm-embeddings.service`, Math.round(0.4 * GiB)),
			sum('/system.slice/vllm-proxy.service', 200 * MiB),
			sum('/system.slice/gdm.service', 100 * MiB),
		],
		more: { gpus: { value: [gpu(84)], source: 'nvidia-smi --query-gpu', observedAt: at } },
	});

export const secondary = (at = AT): Observation =>
	observation({
		host: 'spark-5be3',
		at,
		memory: { total: 127532360 * 1024, free: 106 * GiB, available: 113 * GiB, anonPages: 3 * GiB },
		units: [
			unit('vllm-embeddings.service', {
				manager: 'user',
				cgroup: `${user}/vllm-embeddings.service`,
				description: 'gte-Qwen2',
			}),
		],
		processes: [process_(13, `${user}/vllm-embeddings.service`)],
		gpu: [[13, Math.round(3.7 * GiB)]],
		cgroups: [sum(`${user}/vllm-embeddings.service`, Math.round(0.4 * GiB))],
		more: { gpus: { value: [gpu(11)], source: 'nvidia-smi --query-gpu', observedAt: at } },
	});

/** Both hosts up and read. */
export const story = (...events: readonly Event[]): State =>
	[
		{
			type: 'link',
			host: 'spark-1a32',
			link: { state: 'up', since: AT, roundTripMs: 0.4, via: null, carrier: BY_SSH2, dropped: 0 },
		},
		{
			type: 'link',
			host: 'spark-5be3',
			link: { state: 'up', since: AT, roundTripMs: 1.1, via: 'spark-1a32', carrier: BY_SSH2, dropped: 0 },
		},
		{ type: 'observed', observation: head() },
		{ type: 'observed', observation: secondary() },
		...events,
	].reduce((state, event) => reduce(state, event as Event), initialState(HOSTS, 'demo pair', AT));
