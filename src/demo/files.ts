import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Keys } from './keys.ts';

const CONFIG = `# written by sparkdeck demo
ssh:
  config: ./ssh_config
hosts:
  - name: spark-1a32
    role: head
  - name: spark-5be3
    role: secondary
    keep:
      - vllm-embeddings.service
`;

/** OpenSSH reads a word with blanks in it only where it is quoted. */
const quoted = (path: string): string => (/[\s"]/.test(path) ? `"${path}"` : path);

/** What a client needs to reach the pair. HostKeyAlias: the port changes with every run, the names do not. */
const sshConfig = (dir: string, port: number): string => `# written by sparkdeck demo
Host spark-1a32
  HostName 127.0.0.1
  Port ${port}
  HostKeyAlias spark-1a32
Host spark-5be3
  HostName spark-5be3
  HostKeyAlias spark-5be3
  ProxyJump spark-1a32
Host *
  User spark
  IdentityFile ${quoted(join(dir, 'id_ed25519'))}
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile ${quoted(join(dir, 'known_hosts'))}
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
`;

/** Writes the folder; returns the path of config.yaml. */
export const writeFolder = (
	folder: string,
	port: number,
	keys: { readonly client: Keys; readonly hosts: Readonly<Record<string, Keys>> },
): { dir: string; configFile: string } => {
	const dir = resolve(folder);
	mkdirSync(dir, { recursive: true, mode: 0o700 });
	// An existing folder keeps its mode otherwise, and a key must not be readable by others.
	chmodSync(dir, 0o700);
	const write = (name: string, text: string, mode: number): void => {
		writeFileSync(join(dir, name), text, { mode });
		chmodSync(join(dir, name), mode);
	};
	write('id_ed25519', keys.client.private, 0o600);
	write('id_ed25519.pub', `${keys.client.public}\n`, 0o600);
	const known = Object.entries(keys.hosts).map(
		([name, key]) => `${name} ${key.public.split(' ').slice(0, 2).join(' ')}\n`,
	);
	write('known_hosts', known.join(''), 0o600);
	write('ssh_config', sshConfig(dir, port), 0o600);
	write('config.yaml', CONFIG, 0o600);
	return { dir, configFile: join(dir, 'config.yaml') };
};
