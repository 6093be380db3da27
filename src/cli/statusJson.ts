import type { HostState } from '../store/state.ts';

/** `sparkdeck status --json`: one observation of all hosts. Sizes in bytes, times in ISO 8601, unknown is null. */
export const statusJson = (hosts: readonly HostState[], now: number): unknown => ({
	version: 1,
	observedAt: iso(now),
	hosts: hosts.map(hostJson),
});

const iso = (ms: number): string => new Date(ms).toISOString();

const hostJson = ({ settings, link, seen, statement, services }: HostState): unknown => ({
	name: settings.name,
	role: settings.role,
	state: link.state,
	...(link.state === 'down' && { failure: link.failure }),
	...(link.state === 'up' && { roundTripMs: link.roundTripMs, via: link.via }),
	observedAt: seen ? iso(seen.at) : null,
	complete: seen?.complete ?? false,
	identity: seen?.identity ?? null,
	memory: statement && {
		totalBytes: statement.totalBytes,
		availableBytes: statement.availableBytes,
		rows: statement.rows.map(({ owner, kind, label, bytes, source, observedAt }) => ({
			owner,
			kind,
			label,
			bytes,
			source,
			observedAt: iso(observedAt),
		})),
		disagreements: statement.disagreements,
		pressure: seen?.pressure?.value ?? null,
	},
	gpus: (seen?.gpus?.value ?? []).map((gpu) => ({ ...gpu, observedAt: iso(seen?.gpus?.observedAt ?? 0) })),
	services: services.map((service) => ({
		id: service.id,
		name: service.name,
		manager: service.manager,
		state: service.state,
		description: service.description,
		gpuBytes: service.gpuBytes,
		gpuAtLeast: service.gpuAtLeast,
		hostBytes: service.hostBytes,
		keep: service.keep,
		container: service.container && { id: service.container.id, name: service.container.name },
		processes: service.processes.map(({ pid, name, anonBytes }) => ({ pid, name, anonBytes })),
	})),
	failures: seen?.failures ?? [],
});

/** 0 when every host answered, 3 when one did not. */
export const statusCode = (hosts: readonly HostState[]): 0 | 3 =>
	hosts.every((host) => host.link.state === 'up' && host.seen !== null) ? 0 : 3;
