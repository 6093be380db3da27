/** A value together with where and when it was read: what lets every figure answer "why". */
export type Fact<T> = {
	readonly value: T;
	/** The file or command on the host, as a person would type it. */
	readonly source: string;
	/** When it was read, in milliseconds since the epoch by the console's clock. */
	readonly observedAt: number;
};

/** Age in milliseconds from which a figure counts as old: three missed samples at the default rate. */
export const STALE_AFTER = 3000;
