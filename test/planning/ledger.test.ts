import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GiB, MiB } from '../../src/domain/bytes.ts';
import { attribute } from '../../src/planning/attribution.ts';
import { closeStatement } from '../../src/planning/ledger.ts';
import { observation, type Parts, process_, settings, sum, unit } from '../support/observation.ts';

const statement = (parts: Parts) => {
	const seen = observation(parts);
	return closeStatement(seen, attribute(seen, settings));
};
const bytesOf = (rows: readonly { owner: string; bytes: number }[], owner: string) =>
	rows.find((row) => row.owner === owner)?.bytes;

const reranker: Parts = {
	units: [unit('r.service'), unit('small.service')],
	processes: [process_(10, '/system.slice/r.service', { anonBytes: GiB })],
	cgroups: [sum('/system.slice/r.service', GiB), sum('/system.slice/small.service', 5 * MiB), sum('/', 2 * GiB)],
	gpu: [[10, 8 * GiB]],
};

describe('the statement', () => {
	test('of a service with GPU and host memory', () => {
		const { rows, totalBytes, availableBytes } = statement(reranker);
		expect(availableBytes).toBe(15 * GiB);
		expect(bytesOf(rows, 'spark-a/system/r.service')).toBe(9 * GiB);
		expect(bytesOf(rows, 'free')).toBe(5 * GiB);
		expect(bytesOf(rows, 'cache')).toBe(10 * GiB);
		expect(bytesOf(rows, 'kernel')).toBe(GiB);
		// AnonPages 5 GiB, of which the service has one.
		expect(bytesOf(rows, 'other')).toBe(4 * GiB);
		expect(bytesOf(rows, 'unexplained')).toBe((120 - 15 - 9 - 4 - 1) * GiB);
		expect(rows.some((row) => row.owner.endsWith('small.service'))).toBe(false);
		expect(rows.reduce((all, row) => all + row.bytes, 0)).toBe(totalBytes);
	});
	test('GPU memory in the desktop’s and others’ cgroups is not hidden: it is unexplained', () => {
		const { rows } = statement({ ...reranker, gpu: [] });
		expect(bytesOf(rows, 'unexplained')).toBe((120 - 15 - 1 - 4 - 1) * GiB);
	});
	test('nvidia-smi claims more than is used: cut, and told with both figures', () => {
		const { rows, disagreements, totalBytes } = statement({ ...reranker, gpu: [[10, 200 * GiB]] });
		expect(bytesOf(rows, 'unexplained')).toBe(0);
		expect(rows.reduce((all, row) => all + row.bytes, 0)).toBe(totalBytes);
		expect(disagreements).toEqual([expect.objectContaining({ claimedBytes: 200 * GiB, roomBytes: 99 * GiB })]);
	});
	test('on a discrete GPU its memory is no part of the host’s', () => {
		const gpu = {
			index: 0,
			uuid: null,
			name: 'NVIDIA RTX 6000',
			driver: null,
			performanceState: null,
			utilisationPercent: 0,
			temperatureC: 1,
			powerW: 1,
			clockMhz: 1,
			clockMaxMhz: 1,
			memoryTotalBytes: 96 * GiB,
			memoryUsedBytes: 8 * GiB,
		};
		const more = { gpus: { value: [gpu], source: 'x', observedAt: 1 } };
		expect(bytesOf(statement({ ...reranker, more }).rows, 'spark-a/system/r.service')).toBe(GiB);
		// A number on a GB10 comes from a shim that invents it.
		const shim = { gpus: { value: [{ ...gpu, name: 'NVIDIA GB10' }], source: 'x', observedAt: 1 } };
		expect(bytesOf(statement({ ...reranker, more: shim }).rows, 'spark-a/system/r.service')).toBe(9 * GiB);
	});

	test('closes to the byte whatever is claimed', () => {
		const bytes = fc.integer({ min: 0, max: 200 * GiB });
		const parts = fc.record({
			total: fc.integer({ min: 1, max: 200 * GiB }),
			free: bytes,
			available: bytes,
			anonPages: bytes,
			shmem: bytes,
			kernel: bytes,
			gpu: fc.array(fc.option(bytes), { maxLength: 6 }),
			host: fc.array(bytes, { maxLength: 6 }),
		});
		fc.assert(
			fc.property(parts, ({ total, free, available, anonPages, shmem, kernel, gpu, host }) => {
				const names = gpu.map((_, index) => `s${index}.service`);
				const made = statement({
					memory: {
						total,
						free: Math.min(free, total),
						available: Math.min(available, total),
						anonPages,
						shmem,
						slabUnreclaimable: kernel,
					},
					units: names.map((name) => unit(name)),
					processes: names.map((name, index) => process_(index + 1, `/system.slice/${name}`)),
					gpu: gpu.map((one, index) => [index + 1, one] as const),
					cgroups: host.map((one, index) =>
						sum(index < names.length ? `/system.slice/s${index}.service` : '/system.slice/gdm.service', one),
					),
				});
				expect(made.rows.reduce((all, row) => all + row.bytes, 0)).toBe(total);
				for (const row of made.rows) {
					expect(Number.isInteger(row.bytes)).toBe(true);
					expect(row.bytes).toBeGreaterThanOrEqual(0);
				}
				for (const kind of ['unexplained', 'free', 'cache'])
					expect(made.rows.some((row) => row.kind === kind)).toBe(true);
			}),
			{ numRuns: 1000 },
		);
	});
});
