import { type Failure, failure } from '../domain/failure.ts';
import type { Observation } from '../domain/observation.ts';
import { ageText } from '../store/select/names.ts';
import type { HostState } from '../store/state.ts';

/** `sparkdeck status --json`: one observation of all hosts. Sizes in bytes, times in ISO 8601, unknown is null. */
export const statusJson = (hosts: readonly HostState[], now: number, patienceMs: number): unknown => ({
	version: 1,
	observedAt: iso(now),
	hosts: hosts.map((host) => hostJson(host, hostFailure(host, now, patienceMs))),
});

const iso = (ms: number): string => new Date(ms).toISOString();

const hostJson = ({ settings, link, seen, statement, services }: HostState, why: Failure | null): unknown => ({
	name: settings.name,
	role: settings.role,
	state: link.state,
	...(why && { failure: why }),
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

/** Whether all there is to tell of a host was read just now. */
const isWhole = ({ link, seen }: HostState): boolean => link.state === 'up' && seen?.complete === true;

/** 0 when every host was read completely, 3 when one was not. */
export const statusCode = (hosts: readonly HostState[]): 0 | 3 => (hosts.every(isWhole) ? 0 : 3);

/** Why a host was not read completely within the time that it had; null when it was. */
export const hostFailure = (host: HostState, now: number, patienceMs: number): Failure | null => {
	if (isWhole(host)) return null;
	const { link, seen } = host;
	const { name } = host.settings;
	const byHand = `try it by hand: ssh ${name} true`;
	const within = `within ${Math.round(patienceMs / 100) / 10} s`;
	switch (link.state) {
		case 'down':
			return link.failure;
		case 'stale': {
			const cause = `${name} has not answered for ${ageText(now - link.lastFrameAt)}`;
			return failure('lost', cause, `Its figures are that old; ${byHand}`);
		}
		case 'connecting':
			return failure('timeout', `${name} did not answer ${within}`, `Give it longer with --timeout, or ${byHand}`);
		case 'up': {
			const parts = missing(seen);
			const cause = `${name} was not read completely ${within}${parts.length > 0 ? `: no ${parts.join(', no ')}` : ''}`;
			return failure('timeout', cause, 'Give it longer with --timeout');
		}
	}
};

/** Parts of an observation that are not there, whether they failed or were not read yet. */
const missing = (seen: Observation | null): string[] =>
	(
		[
			['memory', seen?.memory],
			['GPUs', seen?.gpus],
			['GPU processes', seen?.gpuProcesses],
			['processes', seen?.cgroups],
			['units', seen?.units],
			['containers', seen?.containers],
		] as const
	)
		.filter(([, part]) => !part)
		.map(([word]) => word);
