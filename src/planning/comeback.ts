import type { Service } from '../domain/service.ts';

/** What stopping a service sets off: who would start it again, and what stops with it. Sentences for the screen. */
export const consequencesOf = (service: Service): string[] => {
	const { unit, container, name } = service;
	const sentences: string[] = [];
	if (unit) {
		const triggers = unit.triggeredBy;
		if (triggers.length > 0) sentences.push(`${list(triggers)} would start it again.`);
		const dependants = unit.requiredBy.filter((other) => !other.endsWith('.target') && other !== name);
		if (dependants.length > 0)
			sentences.push(`${list(dependants)} ${dependants.length > 1 ? 'require' : 'requires'} it and stops with it.`);
		if (/^(always|on-success|on-failure|on-abnormal)$/.test(unit.restart)) {
			sentences.push(`Restart=${unit.restart} does not undo a stop.`);
		}
	}
	if (!unit && container)
		sentences.push(`Its restart policy in ${container.tool} does not undo a stop until the daemon restarts.`);
	if (service.manager === 'process')
		sentences.push('No unit and no container would start it again; it can’t be put back from here.');
	return sentences;
};

const list = (names: readonly string[]): string =>
	names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? '');
