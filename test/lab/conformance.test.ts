import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TransportName } from '../../src/domain/host.ts';
import { askNobody } from '../../src/hosts/asker.ts';
import { readBanner } from '../../src/hosts/ssh/diagnosis.ts';
import { createPool, type Pool } from '../../src/hosts/ssh/pool.ts';
import type { Channel, ChannelEnd, Connection } from '../../src/hosts/ssh/transport.ts';
import { lab } from '../support/lab.ts';

/** What every transport must do, whatever carries it: the same tests against real sshd, directly and through a jump. */
const ways = (['ssh2', 'openssh'] as const).flatMap((transport) =>
	(['spark-a', 'spark-b'] as const).map((host) => ({ transport, host })),
);

type Run = {
	readonly channel: Channel;
	readonly out: () => string;
	readonly err: () => string;
	/** Ends that were told; must be one. */
	readonly ends: ChannelEnd[];
	readonly end: Promise<ChannelEnd>;
};

const start = (connection: Connection, command: string): Run => {
	let out = '';
	let err = '';
	const ends: ChannelEnd[] = [];
	let resolve: (end: ChannelEnd) => void = () => {};
	const end = new Promise<ChannelEnd>((settle) => {
		resolve = settle;
	});
	const channel = connection.open(command, {
		stdout: (text) => {
			out += text;
		},
		stderr: (text) => {
			err += text;
		},
		closed: (how) => {
			ends.push(how);
			resolve(how);
		},
	});
	return { channel, out: () => out, err: () => err, ends, end };
};

/** Resolves when a channel has written something. */
const said = async (run: Run, what: string): Promise<void> => {
	while (!run.out().includes(what)) await new Promise((resolve) => setTimeout(resolve, 10));
};

const open = async (pool: Pool, host: string): Promise<Connection> => {
	const opened = await pool.open(host);
	if (!opened.ok) throw new Error(opened.failure.cause);
	return opened.value.connection;
};

const poolOf = (transport: TransportName): Pool =>
	createPool({
		configFile: lab.sshConfig,
		transports: new Map([
			['spark-a', transport],
			['spark-b', transport],
		]),
		ask: () => askNobody,
	});

beforeAll(() => {
	if (!lab.isUp()) throw new Error('the lab is down: npm run lab:up');
});

describe.each(ways)('$transport to $host', ({ transport, host }) => {
	let pool: Pool;
	let connection: Connection;
	beforeAll(async () => {
		pool = poolOf(transport);
		connection = await open(pool, host);
	});
	afterAll(() => pool.close());

	test('is what was asked for', () => expect(connection.transport).toBe(transport));

	test.each([
		['exit 0', { kind: 'exited', code: 0 }, '', ''],
		['echo out; echo err >&2; exit 3', { kind: 'exited', code: 3 }, 'out\n', 'err\n'],
		['no-such-command-here 2>/dev/null', { kind: 'exited', code: 127 }, '', ''],
		['printf %s "a\'b\\"c\\$d" ; printf "\\346\\274\\242\\n"', { kind: 'exited', code: 0 }, 'a\'b"c$d漢\n', ''],
		['kill -9 $$', { kind: 'unknown' }, '', ''],
	])('%s', async (command, end, out, err) => {
		const run = start(connection, command);
		expect(await run.end).toEqual(end);
		expect([run.out(), run.err()]).toEqual([out, err]);
		expect(run.ends).toHaveLength(1);
	});

	test('output of 6 MiB comes whole and in order, and its last bytes before its end', async () => {
		const run = start(connection, 'seq 1 900000; echo the end >&2; exit 4');
		expect(await run.end).toEqual({ kind: 'exited', code: 4 });
		expect(run.err()).toBe('the end\n');
		const lines = run.out().split('\n');
		expect(lines.length).toBe(900_001);
		expect(lines.findIndex((line, at) => line !== (at === 900_000 ? '' : String(at + 1)))).toBe(-1);
	});

	test('characters that are cut between two packets stay whole', async () => {
		const run = start(connection, 'i=0; while [ $i -lt 20000 ]; do printf "漢字 ü "; i=$((i+1)); done');
		await run.end;
		expect(run.out()).toBe('漢字 ü '.repeat(20_000));
	});

	test('what is written before it is open goes out, 2 MiB of it, and the end of input with it', async () => {
		const run = start(connection, 'wc -c');
		for (let part = 0; part < 32; part += 1) run.channel.write(Buffer.alloc(1 << 16, 'x'));
		run.channel.end();
		expect(await run.end).toEqual({ kind: 'exited', code: 0 });
		expect(run.out().trim()).toBe(String(2 << 20));
	});

	test('a conversation: what is written is answered while it runs', async () => {
		const run = start(connection, 'while read -r line; do echo "<$line>"; done; exit 9');
		run.channel.write('one\n');
		await said(run, '<one>');
		run.channel.write('two\n');
		await said(run, '<two>');
		run.channel.end();
		expect(await run.end).toEqual({ kind: 'exited', code: 9 });
	});

	test('more commands at once than the host has sessions for: all run, none is lost', async () => {
		const runs = Array.from({ length: 24 }, (_, number) =>
			start(connection, `sleep 0.05; echo ${number}; exit ${number}`),
		);
		expect(await Promise.all(runs.map((run) => run.end))).toEqual(runs.map((_, code) => ({ kind: 'exited', code })));
		expect(runs.map((run) => run.out())).toEqual(runs.map((_, number) => `${number}\n`));
	});

	test('a flood on one channel does not hold another', async () => {
		const flood = start(connection, 'yes flood');
		await said(flood, 'flood');
		const began = performance.now();
		const run = start(connection, 'echo here');
		expect(await run.end).toEqual({ kind: 'exited', code: 0 });
		expect(performance.now() - began).toBeLessThan(5000);
		flood.channel.close();
		await flood.end;
		expect(flood.ends).toEqual([{ kind: 'unknown' }]);
	});

	test('closing a channel ends it once, and the command reads the end of its input', async () => {
		const mark = `mark-${transport}-${host}`;
		const run = start(connection, `echo up; cat; : ${mark}`);
		await said(run, 'up');
		run.channel.close();
		run.channel.close();
		expect(await run.end).toEqual({ kind: 'unknown' });
		const gone = start(
			connection,
			`while pgrep -f "cat; : ${mark.slice(0, -1)}[${mark.slice(-1)}]"; do sleep 0.1; done; echo gone`,
		);
		expect(await gone.end).toEqual({ kind: 'exited', code: 0 });
		expect(run.ends).toHaveLength(1);
	});

	test('a stream to an address as the host sees it: what is there, and what refuses', async () => {
		const way = await connection.forward('127.0.0.1', 22, 5000);
		if (!way.ok) throw new Error(way.failure.cause);
		expect(await readBanner(way.value, 3000)).toBe('answers');
		const none = await connection.forward('127.0.0.1', 9, 5000);
		expect(none).toMatchObject({ ok: false, failure: { kind: 'refused' } });
	});
});

describe.each(ways)('the end of $transport to $host', ({ transport, host }) => {
	let pool: Pool;
	let connection: Connection;
	beforeEach(async () => {
		pool = poolOf(transport);
		connection = await open(pool, host);
	});
	afterEach(() => pool.close());

	const refuses = async (): Promise<void> => {
		const late = start(connection, 'touch /tmp/must-not-run');
		expect(await late.end).toMatchObject({ kind: 'refused', full: false });
		expect(late.ends).toHaveLength(1);
		expect(await connection.forward('127.0.0.1', 22, 2000)).toMatchObject({ ok: false });
	};

	test('its sshd is killed: told, and every channel ends once as unknown', async () => {
		const runs = [start(connection, 'echo up; cat'), start(connection, 'echo up; sleep 60')];
		for (const run of runs) await said(run, 'up');
		// The sshd of this connection: the parent of its shells.
		const who = start(connection, 'ps -o ppid= -p $$');
		await who.end;
		lab.fault(host, 'exec', 'kill', '-9', who.out().trim());
		expect((await connection.lost).kind).toMatch(/lost|unreachable/);
		expect(await Promise.all(runs.map((run) => run.end))).toEqual([{ kind: 'unknown' }, { kind: 'unknown' }]);
		await refuses();
		for (const run of runs) expect(run.ends).toHaveLength(1);
	});

	test('given up: told, every channel ends once, and a new one can be opened beside it', async () => {
		const run = start(connection, 'echo up; cat');
		await said(run, 'up');
		connection.close();
		connection.close();
		expect((await connection.lost).kind).toBe('lost');
		expect(await run.end).toEqual({ kind: 'unknown' });
		await refuses();
		expect(run.ends).toHaveLength(1);
		const again = await open(pool, host);
		expect(await start(again, 'exit 0').end).toEqual({ kind: 'exited', code: 0 });
	});
});
