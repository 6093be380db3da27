import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const folder =
	process.env['LAB_DIR'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sparkdeck-lab');
const script = (name: string): string => new URL(`../lab/${name}`, import.meta.url).pathname;

export const lab = {
	config: join(folder, 'config.yaml'),
	sshConfig: join(folder, 'ssh_config'),
	isUp: (): boolean => existsSync('/run/netns/spark-a') && existsSync(join(folder, 'config.yaml')),
	fault: (...args: string[]): string => execFileSync('bash', [script('fault.sh'), ...args], { encoding: 'utf8' }),
	/** Runs a command on a host by the system's own ssh. */
	ssh: async (host: string, command: string): Promise<string> => {
		const args = ['-F', join(folder, 'ssh_config'), '-o', 'BatchMode=yes', '-o', 'ConnectTimeout=5', host, command];
		return (await promisify(execFile)('ssh', args)).stdout;
	},
};
