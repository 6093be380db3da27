import { isActive, type Service } from '../domain/service.ts';

/**
 * The services that systemd stops when it stops this one, over all steps: dependants, parts, and theirs. Only active ones
 * of the same manager, since only those stop. Without the service itself.
 */
export const stopsWith = (service: Service, all: readonly Service[]): readonly Service[] => {
	const reached = new Map<string, Service>();
	const visit = (one: Service): void => {
		for (const name of one.unit?.stopsWith ?? []) {
			const other = all.find((candidate) => candidate.unit?.name === name && candidate.manager === one.manager);
			if (!other || other.id === service.id || reached.has(other.id) || !isActive(other)) continue;
			reached.set(other.id, other);
			visit(other);
		}
	};
	visit(service);
	return [...reached.values()];
};

/** What stopping a service sets off: what stops with it, and who would start it again. Sentences for the screen. */
export const consequencesOf = (service: Service, also: readonly Service[]): string[] => {
	const { unit, container } = service;
	const sentences: string[] = [];
	if (also.length > 0)
		sentences.push(
			`${list(also.map((one) => one.name))} ${also.length > 1 ? 'depend on it and stop' : 'depends on it and stops'} with it.`,
		);
	if (unit) {
		if (unit.triggeredBy.length > 0) sentences.push(`${list(unit.triggeredBy)} would start it again.`);
		if (unit.upheldBy.length > 0)
			sentences.push(`${list(unit.upheldBy)} starts it again as long as it runs itself (Upholds=).`);
		if (/^(always|on-success|on-failure|on-abnormal)$/.test(unit.restart)) {
			sentences.push(`Restart=${unit.restart} does not undo a stop.`);
		}
	}
	if (!unit && container) {
		sentences.push(`Its restart policy in ${container.tool} does not undo a stop until the daemon restarts.`);
	}
	if (service.manager === 'process' && !service.guarded) {
		sentences.push('No unit and no container would start it again; it can’t be put back from here.');
	}
	return sentences;
};

const list = (names: readonly string[]): string =>
	names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '');
