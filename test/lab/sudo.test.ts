import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lab } from '../support/lab.ts';
import { PROGRAM, scratch } from '../support/program.ts';
import { leave, select } from '../support/story.ts';
import { KEYS, launch, type Tui } from '../support/tui.ts';

let home: ReturnType<typeof scratch>;
let tui: Tui | null = null;
beforeEach(async () => {
	home = scratch();
	await lab.ssh('spark-a', 'sudo -n systemctl start vllm-cluster.service');
});
afterEach(() => {
	tui?.kill();
	home.remove();
});

const consoleAs = (user: string): Tui => {
	const at = (name: string): string => join(home.path, name);
	writeFileSync(at('ssh_config'), readFileSync(lab.sshConfig, 'utf8').replace('User spark', `User ${user}`));
	writeFileSync(at('config.yaml'), 'ssh:\n  config: ./ssh_config\nhosts: [spark-a, spark-b]\n');
	tui = launch(process.execPath, [PROGRAM, '--config', at('config.yaml')], { env: { XDG_STATE_HOME: home.path } });
	return tui;
};

const evict = async (on: Tui): Promise<void> => {
	await on.until((screen) => screen.includes('● spark-a') && screen.includes('vllm-cluster'));
	await select(on, 'vllm-cluster');
	await on.until('Stopping it frees');
	on.press('e');
	await on.until('▸ [ Cancel ]');
	on.press(KEYS.right);
	await on.until('▸ [ Evict vllm-cluster.service ]');
	on.press(KEYS.enter);
};

const isActive = (): Promise<string> => lab.ssh('spark-a', 'systemctl is-active vllm-cluster.service || true');

test('a sudo password: asked when it is needed, once for a host, and kept nowhere', async () => {
	const password = 'lab-maint';
	const on = consoleAs('maint');
	await evict(on);
	await on.until(/\? sudo on spark-a: Your password there\. a answers/);
	// It waits for its key: what is typed meanwhile means what it always means.
	expect(on.screen()).not.toContain('does not answer');
	on.press('a');
	await on.until('sudo wants your password');
	on.press(...'wrong');
	await on.until('Your password there: •••••');
	on.press(KEYS.enter);
	await on.until(/\? sudo on spark-a/);
	on.press('a');
	await on.until('That was refused');
	on.press(...password);
	await on.until('•'.repeat(password.length));
	// What comes in the same piece as the end of the answer is for nobody.
	on.press(`${KEYS.enter}q`);
	await on.until('✓ verified', 60_000);
	expect((await isActive()).trim()).toBe('inactive');

	on.press('u');
	await on.until('Start vllm-cluster.service again on');
	on.press(KEYS.tab);
	await on.until('▸ [ Start vllm-cluster.service ]');
	on.press(KEYS.enter);
	await on.until('vllm-cluster runs again and holds', 60_000);

	const places = [
		on.raw(),
		readFileSync(`/proc/${on.pid}/environ`, 'utf8'),
		execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }),
		await lab.ssh('spark-a', 'journalctl --no-pager -n 200; cat ~/.*history 2>/dev/null; ls -la ~ /tmp'),
	];
	await leave(on);
	for (const entry of readdirSync(home.path, { recursive: true, withFileTypes: true })) {
		if (entry.isFile()) places.push(readFileSync(join(entry.parentPath, entry.name), 'utf8'));
	}
	for (const text of places) expect(text).not.toContain(password);
});

test('a question that is not answered: nothing is touched, and what would help is said', async () => {
	const on = consoleAs('maint');
	await evict(on);
	await on.until(/\? sudo on spark-a/);
	on.press('a');
	await on.until('sudo wants your password');
	on.press(...'half', KEYS.esc);
	await on.until('sudo wants a password, and none that is right was given');
	expect((await isActive()).trim()).toBe('active');
	await leave(on);
});

test('a user whom sudo does not know: said when sudo says it, with the line that would allow it', async () => {
	const on = consoleAs('viewer');
	await evict(on);
	// sudo itself says who may not only after the password.
	await on.until(/\? sudo on spark-a/);
	on.press('a');
	await on.until('sudo wants your password');
	on.press(...'lab-viewer', KEYS.enter);
	await on.until('viewer may not do this with sudo, and polkit does not allow it either');
	await on.until(
		/this line in \/etc\/sudoers\.d on spark-a: viewer[\s\S]*ALL=\(root\) NOPASSWD: \/usr\/bin\/systemctl stop/,
	);
	expect((await isActive()).trim()).toBe('active');
	await leave(on);
});
