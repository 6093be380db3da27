/** How names are shortened on the screen: always the same way, and never a figure. */

/** `vllm-proxy.service` -> `vllm-proxy`: the suffix is the same for all and says nothing. */
export const shortService = (name: string): string => name.replace(/\.service$/, '');

/** What tells hosts apart: `spark-1a32`, `spark-5be3` -> `1a32`, `5be3`. Names without a common start stay whole. */
export const shortHosts = (names: readonly string[]): ReadonlyMap<string, string> => {
	const first = names[0] ?? '';
	let common = names.length > 1 ? first.lastIndexOf('-') + 1 : 0;
	while (common > 0 && !names.every((name) => name.startsWith(first.slice(0, common)) && name.length > common)) {
		common = first.lastIndexOf('-', common - 2) + 1;
	}
	return new Map(names.map((name) => [name, name.slice(common)]));
};

/** Letters by which owners are told apart in the bar, the list and the table. Some small letters name other rows. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
export const letterOf = (index: number): string => LETTERS[index] ?? '+';

/** `14:02:31`, in the time zone of the console. */
export const clockText = (ms: number): string => new Date(ms).toTimeString().slice(0, 8);

/** `7 s`, `3 min`, `2 h`. */
export const ageText = (ms: number): string => {
	const seconds = Math.max(0, Math.round(ms / 1000));
	if (seconds < 120) return `${seconds} s`;
	const minutes = Math.round(seconds / 60);
	return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
};
