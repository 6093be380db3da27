import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { isAlive, type ProcessTable, runFrom, thisWriter } from '../../src/main/writer.ts';

const AT = 1_700_000_000_000;
const system = (run: string | null, exists = true): ProcessTable => ({
	exists: () => exists,
	runOf: () => run,
	bootedAt: () => AT,
});
const writer = { pid: 4_000_000, started: AT + 1000, run: 'boot:10' };

test('a pid that another program got since is not the console that wrote', () => {
	expect(isAlive(writer, system('boot:10'))).toBe(true);
	expect(isAlive(writer, system('boot:11'))).toBe(false);
	expect(isAlive(writer, system('other boot:10'))).toBe(false);
	expect(isAlive(writer, system('boot:10', false))).toBe(false);
	expect(isAlive({ ...writer, pid: process.pid }, system('boot:10'))).toBe(false);
});
test('where the system does not tell, or the entry is old, the pid decides, but not over a restart', () => {
	expect(isAlive(writer, system(null))).toBe(true);
	expect(isAlive({ ...writer, run: null }, system('boot:11'))).toBe(true);
	expect(isAlive({ ...writer, run: null, started: AT - 3_600_000 }, system('boot:11'))).toBe(false);
});
test('reads /proc/PID/stat, whatever the name of the program is', () => {
	const stat = (name: string, state: string) =>
		`77 (${name}) ${state} 1 77 77 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 11 0 8823 1000 200 x`;
	expect(runFrom(stat('node', 'S'), 'boot\n')).toBe('boot:8823');
	expect(runFrom(stat('a) Z 1 (b', 'R'), 'boot')).toBe('boot:8823');
	expect(runFrom(stat('node', 'Z'), 'boot')).toBe('');
	expect(runFrom('', 'boot')).toBe(null);
	expect(runFrom('77 (node) S', 'boot')).toBe(null);
});
test('on this system: a child is alive under its own identity until it ends', async () => {
	const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
	const of = { ...thisWriter(), pid: child.pid! };
	expect(thisWriter().pid).toBe(process.pid);
	expect(isAlive({ ...of, run: null })).toBe(true);
	if (process.platform === 'linux') {
		expect(of.run).toMatch(/^[0-9a-f-]{36}:\d+$/);
		// Ours under the pid of the child is what a reused pid looks like.
		expect(isAlive(of)).toBe(false);
	}
	const ended = new Promise((resolve) => child.on('exit', resolve));
	child.stdin.end();
	await ended;
	expect(isAlive({ ...of, run: null })).toBe(false);
	expect(isAlive({ ...of, pid: 0 })).toBe(false);
	expect(isAlive({ ...of, pid: -1 })).toBe(false);
	expect(isAlive({ ...of, pid: 1.5 })).toBe(false);
});
