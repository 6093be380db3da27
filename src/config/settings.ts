import * as z from 'zod';
import type { HostSettings } from '../domain/host.ts';
import { type Parsed, parseYaml } from './yaml.ts';

/** What the operator configured, with every default filled in. */
export type Settings = {
	/** File for `ssh -F`, relative to the configuration's folder; null: the user's own. */
	readonly sshConfig: string | null;
	readonly hosts: readonly HostSettings[];
	readonly theme: string;
	readonly keymap: string;
	/** Seconds between two samples. */
	readonly periodSeconds: number;
};

/** An ssh alias or host name; nothing that ssh could take for an option. */
const hostName = z
	.string()
	.regex(/^[A-Za-z0-9_.:@%[\]-]+$/, 'is not a host name')
	.refine((name) => !name.startsWith('-'), 'must not start with a hyphen');

const host = z.union([
	hostName.transform((name): HostSettings => ({ name, role: null, keep: [] })),
	z
		.strictObject({
			name: hostName,
			role: z.string().max(40).optional(),
			keep: z.array(z.string()).optional(),
			transport: z.enum(['auto', 'ssh2', 'openssh']).optional(),
		})
		.transform(
			({ name, role, keep, transport }): HostSettings => ({
				name,
				role: role ?? null,
				keep: keep ?? [],
				...(transport !== undefined && { transport }),
			}),
		),
]);

const schema = z
	.strictObject({
		ssh: z.strictObject({ config: z.string().optional() }).optional(),
		hosts: z
			.array(host)
			.min(1, 'names no host')
			.refine((hosts) => new Set(hosts.map((one) => one.name)).size === hosts.length, 'names a host twice'),
		theme: z.string().default('dark'),
		keymap: z.string().default('default'),
		period: z.number().min(0.2).max(60).default(1),
	})
	.transform(
		({ ssh, hosts, theme, keymap, period }): Settings => ({
			sshConfig: ssh?.config ?? null,
			hosts,
			theme,
			keymap,
			periodSeconds: period,
		}),
	);

/** `config.yaml` as text to settings, or every problem with its line and column. */
export const parseSettings = (text: string, source: string): Parsed<Settings> =>
	parseYaml(text, schema as z.ZodType<Settings>, source);
