/**
 * Milliseconds since the epoch that never jump: wall time at the start of the program plus what a steady clock has counted
 * since. Ages and orders are told from it; a clock that is set must not make figures old or new.
 */
export const now = (): number => Math.round(performance.timeOrigin + performance.now());
