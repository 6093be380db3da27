/** Sizes are integer bytes everywhere; these are the units in which people read them (powers of two). */
export const KiB = 1024;
export const MiB = 1024 ** 2;
export const GiB = 1024 ** 3;

/** `7.9`, one decimal, without its unit: for columns that name the unit in their heading. */
export const gib = (bytes: number): string => {
	const text = (bytes / GiB).toFixed(1);
	return text === '-0.0' ? '0.0' : text;
};

/** As `gib`, for columns: what is there but rounds to nothing is `<0.1`, and only nothing is 0.0. */
export const gibCell = (bytes: number): string => (bytes > 0 && bytes < 0.05 * GiB ? '<0.1' : gib(bytes));

/** `7.9 GiB`, or MiB below a tenth of a GiB, so that a small figure is not shown as 0.0. */
export const size = (bytes: number): string =>
	Math.abs(bytes) >= 0.1 * GiB || bytes === 0 ? `${gib(bytes)} GiB` : `${Math.round(bytes / MiB)} MiB`;
