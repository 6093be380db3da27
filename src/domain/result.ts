import type { Failure } from './failure.ts';

/** Outcome of anything that can go wrong without being a bug: parsers, readers, remote calls. Nothing here throws. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });
export const fail = <T>(failure: Failure): Result<T> => ({ ok: false, failure });
