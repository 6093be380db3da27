import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parseSettings, type Settings } from '../config/settings.ts';
import { formatProblem } from '../config/yaml.ts';
import { failure } from '../domain/failure.ts';
import { fail, ok, type Result } from '../domain/result.ts';

/** Where the console's own files are (XDG Base Directory Specification). */
export const configFolder = (): string =>
	join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'sparkdeck');
export const stateFolder = (): string =>
	join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'sparkdeck');

export type Loaded = { readonly settings: Settings; readonly file: string };

const WHY_NOT: Readonly<Record<string, string>> = {
	ENOENT: 'there is no such file',
	ENOTDIR: 'there is no such file',
	EACCES: 'it may not be read',
	EISDIR: 'it is a folder, not a file',
};

/** Reads a configuration; with `file` null the default one, and then a missing file is null, not a failure. */
export const loadSettings = (file: string | null): Result<Loaded | null> => {
	const path = resolve(file ?? join(configFolder(), 'config.yaml'));
	let text: string;
	try {
		text = readFileSync(path, 'utf8');
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code;
		if (file === null && code === 'ENOENT') return ok(null);
		const why = WHY_NOT[code ?? ''] ?? `it can’t be read (${code ?? error})`;
		return fail(failure('config', `${path}: ${why}`, 'Name a configuration with --config FILE'));
	}
	const parsed = parseSettings(text, path);
	if (!parsed.ok) {
		return fail(
			failure('config', parsed.problems.map(formatProblem).join('\n'), 'Correct the file; nothing was started'),
		);
	}
	const { sshConfig } = parsed.value;
	const absolute = sshConfig === null || isAbsolute(sshConfig) ? sshConfig : join(dirname(path), sshConfig);
	return ok({ settings: { ...parsed.value, sshConfig: absolute }, file: path });
};

/** The user's own YAML files of one kind, by name: `themes/NAME.yaml`. They win over those that ship. */
export const userFiles = (kind: 'themes' | 'keymaps'): Record<string, string> => {
	const folder = join(configFolder(), kind);
	const found: Record<string, string> = {};
	let names: string[] = [];
	try {
		names = readdirSync(folder);
	} catch {
		return found;
	}
	for (const name of names) {
		if (!name.endsWith('.yaml')) continue;
		try {
			found[name.slice(0, -'.yaml'.length)] = readFileSync(join(folder, name), 'utf8');
		} catch {
			// A file that can't be read is as if it were not there; asked for by name, it is told as missing.
		}
	}
	return found;
};
