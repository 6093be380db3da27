/** What `ssh -G` printed, by keyword in lower case; some come several times. */
export type Fields = ReadonlyMap<string, readonly string[]>;

export const parseSshG = (text: string): Fields => {
	const fields = new Map<string, string[]>();
	for (const line of text.split('\n')) {
		const at = line.indexOf(' ');
		if (at <= 0) continue;
		const key = line.slice(0, at);
		fields.set(key, [...(fields.get(key) ?? []), line.slice(at + 1).trim()]);
	}
	return fields;
};

export const first = (fields: Fields, key: string): string => fields.get(key)?.[0] ?? '';

/** A value that says something. */
export const given = (value: string): string | null => (value === '' || value === 'none' ? null : value);

/** Flags come as yes, true or a word, by keyword and version. */
export const isOn = (fields: Fields, key: string): boolean => {
	const value = first(fields, key).toLowerCase();
	return value !== '' && !['no', 'false', 'none', 'off'].includes(value);
};
