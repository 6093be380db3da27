import { describe, expect, test } from 'vitest';
import { GiB, MiB } from '../../src/domain/bytes.ts';
import { attribute } from '../../src/planning/attribution.ts';
import { observation, process_, settings, sum, unit } from '../support/observation.ts';

const id = 'ab'.repeat(32);
const container = { id, name: 'vllm-reranker', image: 'zerank:2', running: true, status: 'Up', tool: 'docker' };
const user = '/user.slice/user-1000.slice/user@1000.service';

describe('whose process it is', () => {
	test('a unit of the user’s manager, not the unit that houses it', () => {
		const seen = observation({
			units: [
				unit('user@1000.service', { cgroup: user }),
				unit('vllm-embeddings.service', { manager: 'user', cgroup: `${user}/app.slice/vllm-embeddings.service` }),
			],
			processes: [process_(7, `${user}/app.slice/vllm-embeddings.service`)],
			gpu: [[7, 4 * GiB]],
			cgroups: [sum(`${user}/app.slice/vllm-embeddings.service`, 400 * MiB, 2), sum(`${user}/init.scope`, MiB)],
		});
		const services = attribute(seen, settings).services;
		expect(services.find((one) => one.manager === 'user')).toMatchObject({
			id: 'spark-a/user/vllm-embeddings.service',
			gpuBytes: 4 * GiB,
			hostBytes: 400 * MiB,
			processCount: 2,
		});
		expect(services.find((one) => one.name === 'user@1000.service')).toMatchObject({ gpuBytes: 0, hostBytes: 0 });
	});

	test('a container that a unit runs the docker way belongs to the unit', () => {
		const seen = observation({
			units: [
				unit('vllm-reranker.service', {
					execStart: [['/usr/bin/docker', 'run', '--rm', '--name', 'vllm-reranker', 'zerank:2']],
				}),
			],
			containers: [container],
			processes: [process_(9, `/system.slice/docker-${id}.scope`)],
			gpu: [[9, 8 * GiB]],
			cgroups: [sum(`/system.slice/docker-${id}.scope`, GiB), sum('/system.slice/vllm-reranker.service', 20 * MiB)],
		});
		const services = attribute(seen, settings).services;
		expect(services).toHaveLength(1);
		expect(services[0]).toMatchObject({
			manager: 'system',
			gpuBytes: 8 * GiB,
			hostBytes: GiB + 20 * MiB,
			container: { id },
		});
	});

	test('a container nobody runs is a service of its own', () => {
		const seen = observation({
			containers: [container],
			processes: [process_(9, `/system.slice/docker-${id}.scope`)],
			gpu: [[9, GiB]],
		});
		expect(attribute(seen, settings).services).toMatchObject([
			{ manager: 'container', name: 'vllm-reranker', gpuBytes: GiB, state: 'running' },
		]);
	});

	test('a GPU process without unit or container is an orphan, shown as a process', () => {
		const seen = observation({
			processes: [
				process_(9, '/user.slice/user-1000.slice/session-3.scope', { name: 'VLLM::EngineCor', anonBytes: GiB }),
			],
			gpu: [[9, 90 * GiB]],
		});
		expect(attribute(seen, settings).services).toMatchObject([
			{ manager: 'process', name: 'VLLM::EngineCore:9', gpuBytes: 90 * GiB, hostBytes: GiB },
		]);
	});

	test.each([
		[
			'/user.slice/user-1001.slice/user@1001.service/app.slice/vllm-x.service',
			'user',
			'vllm-x.service of uid 1001',
			'manager of uid 1001',
		],
		[`${user}/app.slice/vllm-x.service`, 'user', 'vllm-x.service', 'does not list it'],
		['/system.slice/vllm-x.service', 'system', 'vllm-x.service', 'does not list it'],
		[`/system.slice/docker-${id}.scope`, 'container', id.slice(0, 12), 'does not show it'],
	])(
		'%s, which can’t be looked at, is no orphan: it is named, and not to be stopped from here',
		(cgroup, manager, name, why) => {
			const more = { containers: null };
			const seen = observation({
				processes: [process_(9, cgroup)],
				gpu: [[9, GiB]],
				cgroups: [sum(cgroup, GiB)],
				more,
			});
			const { services } = attribute(seen, { ...settings, keep: ['vllm-x'] });
			expect(services).toMatchObject([
				{ manager, name, gpuBytes: GiB, hostBytes: GiB, guarded: expect.stringContaining(why) },
			]);
			expect(services[0]?.keep).toBe(manager !== 'container');
		},
	);

	test('a process that outlived its container is an orphan', () => {
		const cgroup = `/system.slice/docker-${id}.scope`;
		const seen = observation({ processes: [process_(9, cgroup)], gpu: [[9, GiB]] });
		expect(attribute(seen, settings).services).toMatchObject([{ manager: 'process', guarded: null }]);
	});

	test('no answer of nvidia-smi is unknown, not zero; a process without a figure makes a lower bound', () => {
		const units = [unit('a.service')];
		const processes = [process_(1, '/system.slice/a.service'), process_(2, '/system.slice/a.service')];
		expect(attribute(observation({ units, processes, gpu: null }), settings).services[0]?.gpuBytes).toBe(null);
		const half = attribute(
			observation({
				units,
				processes,
				gpu: [
					[1, GiB],
					[2, null],
				],
			}),
			settings,
		).services[0];
		expect(half).toMatchObject({ gpuBytes: GiB, gpuAtLeast: true });
	});

	test('keep takes a name with or without its suffix; ssh is guarded', () => {
		const seen = observation({ units: [unit('a.service'), unit('ssh.service')] });
		const services = attribute(seen, { ...settings, keep: ['a'] }).services;
		expect(services[0]?.keep).toBe(true);
		expect(services[1]?.guarded).toContain('session');
	});

	test('the graphical session is the desktop’s', () => {
		const { desktopBytes } = attribute(
			observation({
				units: [unit('gdm.service')],
				cgroups: [
					sum('/system.slice/gdm.service', 50 * MiB),
					sum(`${user}/session.slice/org.gnome.Shell@wayland.service`, 60 * MiB),
				],
			}),
			settings,
		);
		expect(desktopBytes).toBe(110 * MiB);
	});
});
