import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lab } from '../support/lab.ts';
import { PROGRAM, scratch } from '../support/program.ts';
import { leave } from '../support/story.ts';
import { KEYS, launch, type Tui } from '../support/tui.ts';

const keys = join(dirname(lab.config), 'keys');
const PASSPHRASE = 'lab-passphrase';
let home: ReturnType<typeof scratch>;
let tui: Tui | null = null;

/** Both hosts by an encrypted key, and nothing known of them. */
beforeEach(() => {
	home = scratch();
	const at = (name: string): string => join(home.path, name);
	const config = readFileSync(lab.sshConfig, 'utf8')
		.replace(/IdentityFile .*/, `IdentityFile ${keys}/id_ed25519_enc`)
		.replace(/UserKnownHostsFile .*/, `UserKnownHostsFile ${at('known_hosts')}`)
		.replace('StrictHostKeyChecking yes', 'StrictHostKeyChecking ask');
	writeFileSync(at('ssh_config'), config);
	writeFileSync(at('known_hosts'), '');
	writeFileSync(at('config.yaml'), 'ssh:\n  config: ./ssh_config\nhosts: [spark-a, spark-b]\n');
});
afterEach(() => {
	tui?.kill();
	home.remove();
});

const start = (): Tui => {
	tui = launch(process.execPath, [PROGRAM, '--config', join(home.path, 'config.yaml')], {
		env: { XDG_STATE_HOME: home.path },
	});
	return tui;
};

test('host keys and one passphrase, asked on the terminal before the console; nothing secret is kept', async () => {
	const console_ = start();
	const printed = execFileSync('ssh-keygen', ['-l', '-f', join(keys, 'host_spark-a.pub')], { encoding: 'utf8' });
	await console_.until(/Is this spark-a\?/);
	await console_.until(printed.split(' ')[1] ?? '');
	expect(console_.buffer()).toBe('normal');
	console_.press(...'yes', KEYS.enter);
	await console_.until(/Passphrase for .*id_ed25519_enc/);
	console_.press(...'wrong', KEYS.enter);
	await console_.until(/That was not it/);
	// What comes in the same piece after the line end is for nobody: it must not become keys of the console.
	console_.press(`${PASSPHRASE}${KEYS.enter}qqq`);
	// The second host, through the first, by the key that is open already.
	await console_.until(/Is this spark-b\?/);
	console_.press(...'yes', KEYS.enter);
	await console_.until(/● spark-a .*● spark-b .*via spark-a/, 15_000);
	expect(console_.buffer()).toBe('alternate');
	const environment = readFileSync(`/proc/${console_.pid}/environ`, 'utf8');
	const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
	await leave(console_);
	const kept = readdirSync(home.path, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
	for (const text of [console_.raw(), environment, processes, ...kept]) expect(text).not.toContain(PASSPHRASE);
	expect(readFileSync(join(home.path, 'known_hosts'), 'utf8').trim().split('\n')).toHaveLength(2);
});

test('a host key that is not accepted: the console says so, and how to accept it', async () => {
	const console_ = start();
	await console_.until(/Is this spark-a\?/);
	console_.press(...'no', KEYS.enter);
	// The second host is behind the first one; a person who has said no is not asked again.
	await console_.until(/○ spark-a host key!.*○ spark-b host key!/, 15_000);
	await console_.until(/StrictHostKeyChecking=ask/);
	expect(console_.raw().split('Is this spark-a?')).toHaveLength(2);
	// Unless by the key that tries again; there it can still be accepted.
	console_.press('r');
	await console_.until(/\? Is this spark-a\?: Connect, and remember the key \(yes\/no\)\. a answers/);
	console_.press('a');
	await console_.until(/enter answers/);
	console_.press(...'no', KEYS.enter);
	await console_.until(/○ spark-a host key!/, 15_000);
	expect(readFileSync(join(home.path, 'known_hosts'), 'utf8')).toBe('');
});

test('ctrl+c at a question ends the program and leaves the terminal as it was', async () => {
	const console_ = start();
	await console_.until(/Is this spark-a\?/);
	console_.press(KEYS.ctrlC);
	expect((await console_.exited).code).toBe(130);
	expect(console_.buffer()).toBe('normal');
});
