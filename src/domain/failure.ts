/** What went wrong, in a form that a program can branch on and a person can act on. */
export type Failure = {
	readonly kind: FailureKind;
	/** What was seen, in one sentence, with the host, file or unit it concerns. */
	readonly cause: string;
	/** What the person can do next. */
	readonly hint: string;
};

export type FailureKind =
	| 'config'
	| 'unreachable'
	| 'refused'
	| 'wedged'
	| 'jump-down'
	| 'algorithms'
	| 'host-key'
	| 'auth'
	| 'timeout'
	| 'lost'
	| 'missing-tool'
	| 'unreadable'
	| 'denied'
	| 'changed'
	| 'not-found'
	| 'kept'
	| 'internal';

export const failure = (kind: FailureKind, cause: string, hint: string): Failure => ({ kind, cause, hint });
