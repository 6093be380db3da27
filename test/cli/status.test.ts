import { describe, expect, test } from 'vitest';
import { hostFailure, statusCode, statusJson } from '../../src/cli/statusJson.ts';
import { failure } from '../../src/domain/failure.ts';
import type { Link } from '../../src/domain/host.ts';
import { run } from '../../src/main/arguments.ts';
import { loadSettings } from '../../src/main/files.ts';
import type { HostState } from '../../src/store/state.ts';
import { AT } from '../support/observation.ts';
import { head, story } from '../support/state.ts';

const PATIENCE = 20_000;
const HEAD = 'spark-1a32';
const down = failure('auth', 'the key was refused', 'ssh-add');
const LINKS: Record<Link['state'], Link> = {
	connecting: { state: 'connecting', since: AT, attempt: 2, to: 'a' },
	up: { state: 'up', since: AT, roundTripMs: 1, via: null, carrier: { transport: 'ssh2', why: null }, dropped: 0 },
	stale: { state: 'stale', since: AT + 3000, lastFrameAt: AT, via: null, reach: null },
	down: { state: 'down', since: AT, failure: down, nextTryAt: null },
};
const incomplete = { ...head(AT + 1), complete: false, units: null, containers: null };

const hostsWith = (link: Link, change: Partial<HostState> = {}): readonly HostState[] =>
	story({ type: 'link', host: HEAD, link }).hosts.map((host, index) => (index === 0 ? { ...host, ...change } : host));

describe('status', () => {
	test('0 and no failure when every host was read completely', () => {
		const { hosts } = story();
		expect(statusCode(hosts)).toBe(0);
		const json = statusJson(hosts, AT, PATIENCE) as { hosts: Record<string, unknown>[] };
		for (const host of json.hosts) {
			expect(host).toMatchObject({ state: 'up', complete: true });
			expect(host).not.toHaveProperty('failure');
		}
		expect(hosts.map((host) => hostFailure(host, AT, PATIENCE))).toEqual([null, null]);
	});
	test.each([
		['down', hostsWith(LINKS.down), 'auth', 'the key was refused'],
		['down, never seen', hostsWith(LINKS.down, { seen: null, statement: null }), 'auth', 'the key was refused'],
		['stale', hostsWith(LINKS.stale), 'lost', 'spark-1a32 has not answered for 7 s'],
		['connecting', hostsWith(LINKS.connecting), 'timeout', 'spark-1a32 did not answer within 20 s'],
		['incomplete', hostsWith(LINKS.up, { seen: incomplete }), 'timeout', 'within 20 s: no units, no containers'],
		['up, not seen', hostsWith(LINKS.up, { seen: null }), 'timeout', 'no memory, no GPUs'],
		['complete, but old', hostsWith(LINKS.connecting, { seen: head() }), 'timeout', 'did not answer'],
	])('3, with why, when a host is %s; the other is whole', (_, hosts, kind, cause) => {
		expect(statusCode(hosts)).toBe(3);
		const json = JSON.parse(JSON.stringify(statusJson(hosts, AT + 7000, PATIENCE))) as {
			hosts: { failure?: unknown; state: string }[];
		};
		expect(json.hosts[0]?.failure).toEqual({
			kind,
			cause: expect.stringContaining(cause),
			hint: expect.stringMatching(/./),
		});
		expect(json.hosts[0]?.state).toBe(hosts[0]?.link.state);
		expect(json.hosts[1]).not.toHaveProperty('failure');
	});
	test('the statement in it sums to the total, and an unknown figure is null', () => {
		const json = statusJson(story().hosts, AT, PATIENCE) as {
			hosts: {
				memory: { totalBytes: number; rows: { bytes: number }[] };
				gpus: { memoryTotalBytes: number | null }[];
			}[];
		};
		for (const { memory, gpus } of json.hosts) {
			expect(memory.rows.reduce((sum, row) => sum + row.bytes, 0)).toBe(memory.totalBytes);
			expect(gpus[0]?.memoryTotalBytes).toBe(null);
		}
	});
});

describe('its arguments', () => {
	const said = async (args: string[]): Promise<[number, string]> => {
		let text = '';
		const write = process.stderr.write;
		process.stderr.write = ((more: string) => {
			text += more;
			return true;
		}) as typeof write;
		try {
			return [await run(args), text];
		} finally {
			process.stderr.write = write;
		}
	};
	test.each(['0', '0.5', '-1', '3601', '1e9', 'Infinity', 'NaN', 'soon', ''])(
		'--timeout %j is bad usage',
		async (text) => {
			const [code, told] = await said(['status', `--timeout=${text}`]);
			expect(code).toBe(2);
			expect(told).toContain('must be a number of seconds from 1 to 3600');
		},
	);
	test.each(['1', '3600', '2.5'])('--timeout %s is accepted', async (text) => {
		const [code, told] = await said(['--config', '/nowhere/x.yaml', 'status', '--timeout', text]);
		expect([code, told]).toEqual([2, expect.stringContaining('/nowhere/x.yaml: there is no such file')]);
	});
	test('a folder as configuration is told in words', () => {
		const loaded = loadSettings(import.meta.dirname);
		expect(!loaded.ok && loaded.failure.cause).toBe(`${import.meta.dirname}: it is a folder, not a file`);
	});
});
