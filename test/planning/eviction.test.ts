import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GiB, MiB } from '../../src/domain/bytes.ts';
import { quote, startUnit, stopUnit, terminateProcess } from '../../src/domain/commandLine.ts';
import { attribute } from '../../src/planning/attribution.ts';
import { planEviction, samePlan } from '../../src/planning/eviction.ts';
import { planRestore } from '../../src/planning/restore.ts';
import { observation, process_, settings, sum, unit } from '../support/observation.ts';

const make = (more = {}, keep: string[] = []) => {
	const seen = observation({
		units: [unit('r.service', more)],
		processes: [process_(10, '/system.slice/r.service')],
		cgroups: [sum('/system.slice/r.service', 500 * MiB)],
		gpu: [[10, 8 * GiB]],
	});
	const { services } = attribute(seen, { ...settings, keep });
	const service = services[0]!;
	return { seen, service, plan: planEviction(service, services, seen) };
};

describe('planning an eviction', () => {
	test('commands, guard and prediction', () => {
		const { plan } = make({ triggeredBy: ['r.socket'], stopsWith: ['p.service', 'multi-user.target'] });
		expect(plan.ok && plan.value).toMatchObject({
			predicted: { gpuBytes: 8 * GiB, hostBytes: 500 * MiB, totalBytes: 8 * GiB + 500 * MiB, atLeast: false },
			target: { kind: 'unit', invocationId: '0123456789abcdef0123456789abcdef' },
			processes: [{ pid: 10, startTicks: 100 }],
			patienceMs: 100_000,
			consequences: ['r.socket would start it again.', 'Restart=always does not undo a stop.'],
		});
		expect(plan.ok && plan.value.command.shown).toEqual([
			'systemctl --no-ask-password stop --no-block -- r.service',
			'sudo -n systemctl stop --no-block -- r.service',
		]);
	});
	test.each([
		[{}, ['r'], 'kept'],
		[{ activeState: 'inactive', subState: 'dead' }, [], 'not-found'],
		[{ invocationId: '' }, [], 'unreadable'],
	])('%j with keep %j is refused: %s', (more, keep, kind) => {
		const { plan } = make(more, keep);
		expect(!plan.ok && plan.failure.kind).toBe(kind);
	});
	test('the same plan tolerates a little movement of the figures, and nothing else', () => {
		const { plan } = make();
		if (!plan.ok) throw new Error('no plan');
		const moved = {
			...plan.value,
			predicted: { ...plan.value.predicted, totalBytes: plan.value.predicted.totalBytes + 100 * MiB },
		};
		expect(samePlan(plan.value, moved)).toBe(true);
		expect(samePlan(plan.value, { ...moved, predicted: { ...moved.predicted, totalBytes: 20 * GiB } })).toBe(false);
		expect(samePlan(plan.value, { ...moved, consequences: ['x'] })).toBe(false);
		const restarted = make({ invocationId: 'f'.repeat(32) }).plan;
		expect(restarted.ok && samePlan(plan.value, restarted.value)).toBe(false);
	});
	describe('of what others depend on', () => {
		const units = [
			unit('base.service', { stopsWith: ['web.service', 'off.service'] }),
			unit('web.service', { stopsWith: ['part.service'] }),
			unit('part.service'),
			unit('off.service', { activeState: 'inactive', cgroup: '' }),
		];
		const chain = (keep: string[] = []) => {
			const seen = observation({
				units,
				cgroups: ['base', 'web', 'part'].map((name) => sum(`/system.slice/${name}.service`, GiB)),
				processes: [process_(5, '/system.slice/part.service')],
			});
			const { services } = attribute(seen, { ...settings, keep });
			return { seen, plan: planEviction(services[0]!, services, seen) };
		};
		test('names and counts everything that stops with it, over all steps', () => {
			const { plan, seen } = chain();
			expect(plan.ok && plan.value).toMatchObject({
				also: [{ name: 'web.service' }, { name: 'part.service' }],
				predicted: { totalBytes: 3 * GiB },
				processes: [{ pid: 5 }],
			});
			expect(plan.ok && plan.value.consequences[0]).toBe('web.service and part.service depend on it and stop with it.');
			if (!plan.ok) throw new Error('no plan');
			const back = planRestore('1', plan.value, null, seen);
			expect(back.ok && back.value.command.shown[1]).toBe(
				'sudo -n systemctl start --no-block -- base.service web.service part.service',
			);
		});
		test('is refused when one of those is kept', () => {
			const { plan } = chain(['part']);
			expect(!plan.ok && plan.failure).toMatchObject({
				kind: 'kept',
				cause: expect.stringContaining('part.service depends on it'),
			});
		});
	});
	test('undo of what runs again already is refused', () => {
		const { plan, seen, service } = make();
		if (!plan.ok) throw new Error('no plan');
		expect(planRestore('1', plan.value, service, seen).ok).toBe(false);
		const again = planRestore('1', plan.value, null, seen);
		expect(again.ok && again.value.command.shown[0]).toBe('systemctl --no-ask-password start --no-block -- r.service');
	});
});

describe('command lines', () => {
	const echo = (line: string, path: string): string =>
		execFileSync('sh', ['-c', line.replace('exec env', `exec env PATH=${path}`)], { encoding: 'utf8' });

	test('any text is one word for a shell', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (word) => {
				fc.pre(!word.includes('\0') && word.isWellFormed());
				expect(execFileSync('sh', ['-c', `printf %s ${quote(word)}`], { encoding: 'utf8' })).toBe(word);
			}),
			{ numRuns: 60 },
		);
	});
	test('no name escapes from a command line', () => {
		const bin = new URL('../fixtures/bin', import.meta.url).pathname;
		const evil = `x'; touch /tmp/sparkdeck-escaped; '$(id)\`id\`.service`;
		const said = echo(stopUnit('system', 0, evil, 'abc').line, `${bin}:/usr/bin:/bin`);
		expect(said).toBe(`systemctl <stop> <--no-block> <--> <${evil}>\n`);
		expect(echo(startUnit('user', 1000, evil).line, `${bin}:/usr/bin:/bin`)).toContain(`<${evil}>`);
	});
	test('a guard that fails says 75 and touches nothing', () => {
		const bin = new URL('../fixtures/bin', import.meta.url).pathname;
		const line = stopUnit('system', 0, 'a.service', 'another').line.replace(
			'exec env',
			`exec env PATH=${bin}:/usr/bin:/bin`,
		);
		expect(() => execFileSync('sh', ['-c', line], { encoding: 'utf8', stdio: 'pipe' })).toThrow(
			expect.objectContaining({ status: 75, stdout: '' }),
		);
		expect(() =>
			execFileSync('sh', ['-c', terminateProcess(1, 999999999, 'no-such-boot').line], { stdio: 'pipe' }),
		).toThrow(expect.objectContaining({ status: 75 }));
	});
});
