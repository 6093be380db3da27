import { describe, expect, test } from 'vitest';
import { invoke } from '../../src/commands/index.ts';
import { GiB } from '../../src/domain/bytes.ts';
import type { Fact } from '../../src/domain/fact.ts';
import { failure } from '../../src/domain/failure.ts';
import type { Event } from '../../src/store/events.ts';
import { reduce } from '../../src/store/reduce.ts';
import { hostViews } from '../../src/store/select/host.ts';
import { ageText, shortHosts } from '../../src/store/select/names.ts';
import { rows } from '../../src/store/select/rows.ts';
import { tableView } from '../../src/store/select/table.ts';
import { whyView } from '../../src/store/select/why.ts';
import type { State } from '../../src/store/state.ts';
import { AT, unit } from '../support/observation.ts';
import { head, story } from '../support/state.ts';

/** Presses commands, applying the events they ask for; returns the state and what is to be executed. */
const press = (state: State, ...commands: string[]) => {
	const executed: string[] = [];
	let now = state;
	for (const command of commands) {
		for (const intent of invoke(command, now)) {
			if (intent.type === 'event') now = reduce(now, intent.event);
			if (intent.type === 'execute') executed.push(`${intent.plan.kind} ${intent.plan.name}`);
		}
	}
	return { state: now, executed };
};

describe('the table', () => {
	test('is sorted by memory over all hosts, and the first row is selected', () => {
		const state = story();
		expect(tableView(state).rows.map((row) => [row.host, row.name, row.gpu, row.keep])).toEqual([
			['1a32', 'vllm-cluster', '91.2', false],
			['1a32', 'vllm-reranker', '7.9', false],
			['1a32', 'vllm-embeddings', '3.7', false],
			['5be3', 'vllm-embeddings', '3.7', true],
			['1a32', 'vllm-proxy', '–', false],
		]);
		expect(state.ui.selected).toBe('spark-1a32/system/vllm-cluster.service');
	});
	test('letters stay with their services while sizes change', () => {
		const letters = (state: State) =>
			hostViews(state)[0]
				?.pool?.segments.filter((one) => one.kind === 'service')
				.map((one) => `${one.letter} ${one.label}`);
		expect(letters(story())).toEqual(['A vllm-cluster', 'B vllm-reranker', 'C vllm-embeddings', 'D vllm-proxy']);
		const seen = head(AT + 1000);
		const not = <T>(fact: Fact<readonly T[]> | null, gone: (one: T) => boolean): Fact<readonly T[]> => ({
			...fact!,
			value: fact!.value.filter((one) => !gone(one)),
		});
		const without = {
			...seen,
			units: not(seen.units, (one) => one.name === 'vllm-cluster.service'),
			cgroups: not(seen.cgroups, (one) => one.path.includes('vllm-cluster')),
			processes: seen.processes.filter((one) => one.pid !== 11),
		};
		expect(letters(story({ type: 'observed', observation: without }))).toEqual([
			'B vllm-reranker',
			'C vllm-embeddings',
			'D vllm-proxy',
		]);
	});
	test('the selection goes to the row that took the place of one that is gone, and says so', () => {
		const seen = head(AT + 1000);
		const state = story({ type: 'select', service: 'spark-1a32/system/vllm-proxy.service' });
		const units = { ...seen.units!, value: seen.units!.value.filter((one) => one.name !== 'vllm-proxy.service') };
		const cgroups = { ...seen.cgroups!, value: seen.cgroups!.value.filter((one) => !one.path.includes('proxy')) };
		const after = reduce(state, { type: 'observed', observation: { ...seen, units, cgroups } });
		expect(after.ui.selected).toBe('spark-5be3/user/vllm-embeddings.service');
		expect(after.ui.notice?.text).toBe('vllm-proxy.service is not there any more');
	});
	test('an older frame does not overwrite a newer one', () => {
		const newer = head(AT + 5000);
		const state = story({ type: 'observed', observation: newer }, { type: 'observed', observation: head(AT + 2000) });
		expect(state.hosts[0]?.seen?.at).toBe(AT + 5000);
	});
});

describe('a host that does not answer', () => {
	const lost: Event = {
		type: 'link',
		host: 'spark-1a32',
		link: { state: 'stale', since: AT + 3000, lastFrameAt: AT, via: null, reach: null },
	};
	const down: Event = {
		type: 'link',
		host: 'spark-1a32',
		link: { state: 'down', since: AT, failure: failure('lost', 'it is gone', 'wait'), nextTryAt: AT + 9000 },
	};
	test('keeps its figures, marked with their age', () => {
		const state = story(lost, { type: 'clock', now: AT + 7000 });
		const view = hostViews(state)[0]!;
		expect(view.link).toMatchObject({ mark: '◐', text: 'stale 7 s' });
		expect(view.old).toBe(true);
		expect(view.pool?.used).toBe('107.3');
	});
	test('says why it is down and when it is tried again', () => {
		const view = hostViews(story(down, { type: 'clock', now: AT + 2000 }))[0]!;
		expect(view.link.text).toBe('down, next try in 7 s');
		expect(view.link.hint).toBe('it is gone. wait');
	});
	test('is not acted on', () => {
		const { state, executed } = press(story(lost), 'evict');
		expect(state.ui.dialog).toBe(null);
		expect(state.ui.notice?.text).toContain('does not answer');
		expect(executed).toEqual([]);
	});
});

describe('evicting', () => {
	const onReranker: Event = { type: 'select', service: 'spark-1a32/system/vllm-reranker.service' };
	test('asks first, with Cancel under the cursor', () => {
		const { state, executed } = press(story(onReranker), 'evict', 'confirm.accept');
		expect(state.ui.dialog).toBe(null);
		expect(executed).toEqual([]);
	});
	test('is executed after the other button', () => {
		expect(press(story(onReranker), 'evict', 'confirm.next', 'confirm.accept').executed).toEqual([
			'evict vllm-reranker.service',
		]);
	});
	test('keeps its target while the list moves under the dialog', () => {
		const { state } = press(story(onReranker), 'evict', 'confirm.next');
		const moved = reduce(state, { type: 'select', service: 'spark-1a32/system/vllm-cluster.service' });
		expect(press(moved, 'confirm.accept').executed).toEqual(['evict vllm-reranker.service']);
	});
	test('shows a plan again that came out different, and runs nothing', () => {
		const { state } = press(story(onReranker), 'evict', 'confirm.next');
		const seen = head(AT + 1000);
		const units = seen.units!.value.map((one) =>
			one.name === 'vllm-reranker.service' ? unit(one.name, { invocationId: 'f'.repeat(32) }) : one,
		);
		const restarted = reduce(state, {
			type: 'observed',
			observation: { ...seen, units: { ...seen.units!, value: units } },
		});
		const { state: after, executed } = press(restarted, 'confirm.accept');
		expect(executed).toEqual([]);
		expect(after.ui.dialog).toMatchObject({ changed: true, focus: 0 });
	});
	test('of a kept service says why not', () => {
		const { state } = press(story({ type: 'select', service: 'spark-5be3/user/vllm-embeddings.service' }), 'evict');
		expect(state.ui.notice?.text).toContain('is kept');
		expect(whyView(state).paragraphs.at(-1)).toMatchObject({ token: 'mark.keep' });
	});
	test('reasons name figures and where they come from', () => {
		const text = whyView(story(onReranker))
			.paragraphs.map((one) => one.text)
			.join('\n');
		expect(text).toContain('Holds 7.9 GiB of the GPU (pid 12, from nvidia-smi 0 s ago) and 0.5 GiB of host memory');
		expect(text).toContain('Stopping it frees about 8.4 GiB: 7.9 GiB of the GPU and 0.5 GiB of host memory');
		expect(text).toContain('would then have 22.8 GiB available, 14.4 GiB now');
	});
	test('with --read-only nothing can', () => {
		const { state } = press({ ...story(onReranker), readOnly: 'This console only looks (--read-only)' }, 'evict');
		expect(state.ui.dialog).toBe(null);
	});
	test('undo has nothing to undo before', () => {
		expect(press(story(), 'undo').state.ui.notice?.text).toContain('Nothing was stopped from here');
	});
});

test('what is not worth a row is counted and not shown', () => {
	expect(rows(story()).every((service) => (service.gpuBytes ?? 0) > 0 || service.hostBytes > 60 * 1024 ** 2)).toBe(
		true,
	);
	expect(hostViews(story())[0]?.pool?.total).toBe((((127601228 * 1024) / GiB) as number).toFixed(1));
});

test.each([
	[
		['spark-1a32', 'spark-5be3'],
		['1a32', '5be3'],
	],
	[
		['a', 'b'],
		['a', 'b'],
	],
	[
		['lab-spark-a', 'lab-spark-b'],
		['a', 'b'],
	],
	[['one'], ['one']],
	[
		['spark-', 'spark-2'],
		['spark-', 'spark-2'],
	],
])('%j are told apart as %j', (names, short) => expect([...shortHosts(names).values()]).toEqual(short));

test.each([
	[0, '0 s'],
	[7400, '7 s'],
	[-5, '0 s'],
	[119_000, '119 s'],
	[180_000, '3 min'],
	[7_200_000, '2 h'],
])('%i ms are %s', (ms, text) => expect(ageText(ms)).toBe(text));
