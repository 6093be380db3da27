import type { Container } from '../../domain/unit.ts';

/** `docker ps -a --no-trunc --format '{{json .}}'`, one object a line; podman prints the same names or lists of them. */
export const parseContainers = (text: string, tool: string): Container[] => {
	const containers: Container[] = [];
	for (const line of text.split('\n')) {
		const value = object(line);
		const id = string(value?.['ID'] ?? value?.['Id']);
		if (!value || !/^[0-9a-f]{12,64}$/.test(id)) continue;
		const names = value['Names'];
		const name = Array.isArray(names) ? string(names[0]) : string(names).split(',')[0]!;
		containers.push({
			id,
			name,
			image: string(value['Image']),
			running: string(value['State']).toLowerCase() === 'running',
			status: string(value['Status']),
			tool,
		});
	}
	return containers;
};

const string = (value: unknown): string => (typeof value === 'string' ? value : '');

const object = (line: string): Record<string, unknown> | null => {
	if (!line.startsWith('{')) return null;
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
	} catch {
		return null;
	}
};
