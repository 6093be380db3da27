/** What a row of the memory statement stands for, in the order in which they are drawn. */
export type RowKind = 'service' | 'desktop' | 'other' | 'kernel' | 'unexplained' | 'cache' | 'free';

export type StatementRow = {
	/** Service id for `service`, else the kind. */
	readonly owner: string;
	readonly kind: RowKind;
	readonly label: string;
	/** Integer bytes, never negative. */
	readonly bytes: number;
	readonly source: string;
	readonly observedAt: number;
};

/** Sources that contradict each other, with both figures. */
export type Disagreement = {
	readonly what: string;
	readonly claimedBytes: number;
	readonly roomBytes: number;
};

/** Whose memory is whose on one host. The rows' bytes sum to `totalBytes` exactly. */
export type Statement = {
	readonly host: string;
	readonly totalBytes: number;
	readonly availableBytes: number;
	readonly rows: readonly StatementRow[];
	readonly disagreements: readonly Disagreement[];
	readonly observedAt: number;
};
