import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import ssh2, { type Client } from 'ssh2';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Demo, startDemo } from '../../src/demo/index.ts';
import { encodeKey, newKey } from '../../src/demo/keys.ts';
import { connect, demoIn, exec, has, until } from './support.ts';

let demo: Demo;
let end: () => Promise<void>;
const clients: Client[] = [];
beforeAll(async () => {
	({ demo, end } = await demoIn(40));
});
afterEach(() => {
	for (const verb of ['thaw', 'heal', 'allow', 'unhang-gpu'])
		for (const host of demo.hosts) expect(demo.control(`${verb} ${host}`)).toBe(`ok: ${verb} ${host}`);
	for (const client of clients.splice(0)) client.on('error', () => {}).destroy();
});
afterAll(() => end());

const head = async (): Promise<Client> => {
	const client = await connect(demo);
	clients.push(client);
	return client;
};
const second = async (): Promise<Client> => {
	const client = await connect(demo, { through: await head() });
	clients.push(client);
	return client;
};
const closed = (client: Client): Promise<void> => new Promise((resolve) => client.once('close', () => resolve()));

describe('keys', () => {
	test('files are the user’s alone', () => {
		expect(statSync(demo.dir).mode & 0o777).toBe(0o700);
		expect(statSync(join(demo.dir, 'id_ed25519')).mode & 0o777).toBe(0o600);
	});
	test('a point that begins with a zero byte is written whole', () => {
		const point = Buffer.concat([Buffer.from([0]), Buffer.alloc(31, 7)]);
		const keys = encodeKey(Buffer.alloc(32, 9), point, 'x');
		const parsed = ssh2.utils.parseKey(keys.public);
		if (parsed instanceof Error) throw parsed;
		expect(parsed.getPublicSSH().subarray(-32)).toEqual(point);
		const secret = ssh2.utils.parseKey(keys.private);
		if (secret instanceof Error) throw secret;
		expect(secret.getPublicSSH()).toEqual(parsed.getPublicSSH());
	});
});

describe('over ssh2', () => {
	test('several commands at once on one connection, on both hosts', async () => {
		for (const [client, name] of [
			[await head(), 'spark-1a32'],
			[await second(), 'spark-5be3'],
		] as const) {
			const lines = ['hostname', 'cat | wc -c; exit 3', 'echo "'];
			const outcomes = await Promise.all(lines.map((line) => exec(client, line, 'x'.repeat(100_000))));
			expect(outcomes[0]).toEqual({ code: 0, out: `${name}\n`, err: '' });
			expect(outcomes[1]).toEqual({ code: 3, out: '100000\n', err: '' });
			expect(outcomes[2]?.code).toBe(2);
		}
	});
	test.each([
		['another key', { key: newKey('intruder').private }],
		['another user', { user: 'root' }],
	])('%s is refused', async (_, options) => {
		await expect(connect(demo, options)).rejects.toThrow(/authentication methods failed/);
	});
	test('a password is not even offered', async () => {
		const client = new ssh2.Client();
		const failed = new Promise<string>((resolve) => {
			client.on('error', (error) => resolve(error.message));
		});
		client.connect({ host: '127.0.0.1', port: demo.port, username: 'spark', password: 'spark' });
		expect(await failed).toMatch(/authentication methods failed/);
	});
	test('a forward goes to spark-5be3:22 and nowhere else, which has no forwards of its own', async () => {
		const listening = createServer().listen(0, '127.0.0.1');
		await once(listening, 'listening');
		const { port } = listening.address() as { port: number };
		const near = await head();
		const far = await second();
		const forward = (client: Client, host: string, to: number): Promise<string> =>
			new Promise((resolve) =>
				client.forwardOut('127.0.0.1', 0, host, to, (error) => resolve(error?.message ?? 'open')),
			);
		expect(await forward(near, '127.0.0.1', port)).toMatch(/open failure/);
		expect(await forward(near, 'spark-5be3', 2222)).toMatch(/open failure/);
		expect(await forward(far, 'spark-1a32', 22)).toMatch(/open failure/);
		expect(await forward(near, 'spark-5be3', 22)).toBe('open');
		listening.close();
	});
	test('no shell and no sftp', async () => {
		const client = await head();
		const text = await new Promise<string>((resolve, reject) => {
			client.shell((error, channel) => {
				if (error) return reject(error);
				let out = '';
				channel.on('data', (chunk: Buffer) => {
					out += chunk;
				});
				channel.on('exit', (code: number) => {
					out += `rc ${code}`;
				});
				channel.on('close', () => resolve(out));
			});
		});
		expect(text).toMatch(/^(rc 1)?This is a simulated host .*\r\n(rc 1)?$/);
		const refused = await new Promise((resolve) => client.sftp((error) => resolve(error?.message)));
		expect(refused).toMatch(/subsystem|sftp/i);
	});
});

describe('knobs', () => {
	test.each([
		'',
		'frob spark-1a32',
		'freeze',
		'freeze nosuch',
		'freeze spark-1a32 x',
		'crash spark-1a32',
		'crash spark-1a32 nosuch.service',
		'constructor spark-1a32',
	])('%j is an error', (line) => expect(demo.control(line)).toMatch(/^error: /));
	test('freeze: nothing is answered on either way in, and after a thaw all of it', async () => {
		const near = await head();
		const far = await second();
		demo.control('freeze spark-5be3');
		let answered = false;
		const asked = exec(far, 'hostname').then((outcome) => {
			answered = true;
			return outcome;
		});
		// The other host goes on; by the time it has answered this, the frozen one would have too.
		expect((await exec(near, 'sleep 0.1; hostname')).out).toBe('spark-1a32\n');
		expect(answered).toBe(false);
		await expect(connect(demo, { through: near, timeoutMs: 200 })).rejects.toThrow();
		demo.control('thaw spark-5be3');
		expect((await asked).out).toBe('spark-5be3\n');
		demo.control('freeze spark-1a32');
		await expect(connect(demo, { timeoutMs: 200 })).rejects.toThrow(/timed out/i);
		demo.control('thaw spark-1a32');
		expect((await exec(await head(), 'hostname')).out).toBe('spark-1a32\n');
	});
	test('cut and heal: what was sent meanwhile arrives, new connections work again', async () => {
		const far = await second();
		demo.control('cut spark-5be3');
		const asked = exec(far, 'hostname');
		await expect(connect(demo, { through: await head(), timeoutMs: 200 })).rejects.toThrow();
		demo.control('heal spark-5be3');
		expect((await asked).out).toBe('spark-5be3\n');
		expect((await exec(await second(), 'hostname')).out).toBe('spark-5be3\n');
	});
	test('a connection that is given up during a cut is gone after it', async () => {
		demo.control('cut spark-1a32');
		await expect(connect(demo, { timeoutMs: 200 })).rejects.toThrow(/timed out/i);
		demo.control('heal spark-1a32');
		expect((await exec(await head(), 'hostname')).code).toBe(0);
	});
	test('drop ends the connections of that host, and only those', async () => {
		const near = await head();
		const far = await connect(demo, { through: near });
		const gone = closed(far.on('error', () => {}));
		demo.control('drop spark-5be3');
		await gone;
		expect((await exec(near, 'hostname')).code).toBe(0);
		const both = closed(near.on('error', () => {}));
		demo.control('drop spark-1a32');
		await both;
	});
	test('deny and allow', async () => {
		const client = await head();
		demo.control('deny spark-1a32');
		expect(await exec(client, 'sudo -n systemctl start vllm-proxy')).toEqual({
			code: 1,
			out: '',
			err: 'sudo: a password is required\n',
		});
		demo.control('allow spark-1a32');
		expect((await exec(client, 'sudo -n systemctl start vllm-proxy')).code).toBe(0);
	});
	test('stick: the GPU memory stays, with a process that no unit knows', async () => {
		const client = await second();
		demo.control('stick spark-5be3 vllm-embeddings.service');
		expect((await exec(client, 'systemctl --user stop vllm-embeddings')).code).toBe(0);
		const left = (
			await exec(client, 'nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv,noheader')
		).out;
		expect(left).toMatch(/^\d+, VLLM::EngineCore, 3789 MiB\n$/);
		expect((await exec(client, 'systemctl --user show -P ControlGroup vllm-embeddings')).out).toBe('\n');
	});
	test('crash: Restart= applies', async () => {
		const client = await head();
		const pid = async (): Promise<string> => (await exec(client, 'systemctl show -P MainPID vllm-proxy')).out;
		const before = await pid();
		expect(demo.control('crash spark-1a32 vllm-proxy.service')).toBe('ok: crash spark-1a32 vllm-proxy.service');
		await until(pid, (now) => now !== before && now !== '0\n');
		expect((await exec(client, 'systemctl show -P NRestarts vllm-proxy')).out).toBe('1\n');
	});
});

describe.skipIf(!has('ssh', '-V'))('over OpenSSH', () => {
	const ssh = (...args: string[]): Promise<{ code: number; out: string; err: string }> =>
		new Promise((resolve) => {
			const child = execFile(
				'ssh',
				['-F', join(demo.dir, 'ssh_config'), '-o', 'BatchMode=yes', ...args],
				{ timeout: 15_000 },
				(error, out, err) => resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err }),
			);
			child.stdin?.end();
		});
	test('both hosts, the second through the first', async () => {
		expect(await ssh('spark-1a32', 'hostname; exit 4')).toEqual({ code: 4, out: 'spark-1a32\n', err: '' });
		const units = await ssh('spark-5be3', 'systemctl', 'list-units');
		expect(units.code).toBe(0);
		expect(units.out).toMatch(/ssh\.service +loaded active running/);
	});
	test.each(['chacha20-poly1305@openssh.com', 'aes128-gcm@openssh.com', 'aes256-ctr'])(
		'%s, one inside the other',
		async (cipher) => {
			const outcome = await ssh('-c', cipher, 'spark-5be3', "systemctl show '*.service' | wc -l");
			expect(outcome).toMatchObject({ code: 0, err: '' });
			expect(Number(outcome.out)).toBeGreaterThan(1000);
		},
	);
	test('spark-5be3 can’t be reached directly', async () => {
		const direct = await ssh('-o', 'ProxyJump=none', '-o', 'ConnectTimeout=3', 'spark-5be3', 'true');
		expect(direct.code).toBe(255);
		// Nor by pretending that the head's port is it: another host key, so nothing is sent.
		const wrong = await ssh(
			'-o',
			'ProxyJump=none',
			'-o',
			'HostName=127.0.0.1',
			'-o',
			`Port=${demo.port}`,
			'spark-5be3',
			'true',
		);
		expect(wrong.code).toBe(255);
		expect(wrong.err).toMatch(/HOST IDENTIFICATION HAS CHANGED/);
	});
	test('another key is refused', async () => {
		const dir = mkdtempSync(join(tmpdir(), 'sparkdeck-demo-key-'));
		writeFileSync(join(dir, 'key'), newKey('intruder').private, { mode: 0o600 });
		const refused = await new Promise<string>((resolve) =>
			execFile(
				'ssh',
				[
					'-F',
					'/dev/null',
					'-o',
					'BatchMode=yes',
					'-o',
					'IdentitiesOnly=yes',
					'-i',
					join(dir, 'key'),
					'-o',
					`UserKnownHostsFile=${join(demo.dir, 'known_hosts')}`,
					'-o',
					'HostKeyAlias=spark-1a32',
					'-p',
					String(demo.port),
					'spark@127.0.0.1',
					'true',
				],
				(_, __, err) => resolve(err),
			),
		);
		rmSync(dir, { recursive: true });
		expect(refused).toMatch(/Permission denied \(publickey\)/);
	});
	// Without a jump: ssh itself hands the path of -F to its second self unquoted.
	test('a folder with a blank in its name', async () => {
		const dir = mkdtempSync(join(tmpdir(), 'sparkdeck demo '));
		const other = await startDemo({ dir, speed: 40 });
		const out = await new Promise<string>((resolve) =>
			execFile(
				'ssh',
				['-F', join(dir, 'ssh_config'), '-o', 'BatchMode=yes', 'spark-1a32', 'hostname'],
				(_, text, err) => resolve(text + err),
			),
		);
		await other.stop();
		rmSync(dir, { recursive: true });
		expect(out).toBe('spark-1a32\n');
	});
});

describe('serve', () => {
	const children: ChildProcess[] = [];
	// Also where a check failed: one that is left would hold whoever waits for our output.
	afterAll(() => {
		for (const child of children) child.kill('SIGKILL');
	});
	test('one line when ready, one for each knob, and it outlives its input', async () => {
		const dir = mkdtempSync(join(tmpdir(), 'sparkdeck-demo-serve-'));
		const module_ = new URL('../../src/demo/serve.ts', import.meta.url).href;
		const script = `const { serveDemo } = await import(${JSON.stringify(module_)}); await serveDemo({ dir: ${JSON.stringify(dir)}, speed: 40 });`;
		const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
			stdio: ['pipe', 'pipe', 'inherit'],
		});
		children.push(child);
		const lines: string[] = [];
		createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
		const line = async (at: number): Promise<Record<string, unknown>> =>
			JSON.parse(
				(await until(
					() => lines[at],
					(text) => text !== undefined,
				))!,
			);
		const ready = await line(0);
		expect(ready).toEqual({
			ready: true,
			dir,
			config: join(dir, 'config.yaml'),
			port: expect.any(Number),
			hosts: ['spark-1a32', 'spark-5be3'],
		});
		child.stdin.write('deny spark-1a32\nfrob\n');
		expect(await line(1)).toEqual({ ok: true, answer: 'ok: deny spark-1a32' });
		expect(await line(2)).toEqual({ ok: false, error: expect.stringContaining('unknown word "frob"') });
		child.stdin.end();
		const client = await connect({ ...demo, dir, port: ready['port'] as number } as Demo);
		expect((await exec(client, 'sudo -n systemctl start cron')).code).toBe(1);
		client.on('error', () => {});
		child.kill('SIGTERM');
		const [code] = await once(child, 'exit');
		expect(code).toBe(0);
		rmSync(dir, { recursive: true });
	});
});

test('nothing listens after stop, and connections are gone', async () => {
	const { demo: other, end: remove } = await demoIn(40);
	const client = await connect(other);
	const gone = closed(client.on('error', () => {}));
	await other.stop();
	await gone;
	await expect(connect({ ...other })).rejects.toThrow(/ECONNREFUSED/);
	await remove();
});
