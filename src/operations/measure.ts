import { MiB } from '../domain/bytes.ts';
import type { Operation, Sight } from './operation.ts';

/** How far a measured figure may be from a predicted one and still count as it: a tenth, at least 128 MiB. */
const tolerance = (bytes: number): number => Math.max(128 * MiB, bytes / 10);

/** Whether the return of so much memory can be told from noise at all. */
export const isMeasurable = (bytes: number): boolean => bytes >= 1.5 * tolerance(bytes);

/** How long (ms) a service without GPU memory must run before it counts as back. */
const STEADY = 3000;

/** Whether the facts prove the end of an operation: memory back after a stop, memory taken again after a start. */
export const measured = (operation: Operation, sight: Sight): boolean => {
	const { plan, times } = operation;
	if (plan.kind === 'evict') {
		const stopped = sight.state === 'inactive' || sight.state === 'failed' || sight.state === 'absent';
		if (!stopped || sight.survivors.length > 0 || (sight.gpuBytes ?? 0) > 0) return false;
		const { totalBytes, doubtfulBytes } = plan.predicted;
		// What is too little to be told from the coming and going of a host is not measured, and `progress` does not say it is.
		if (!isMeasurable(totalBytes)) return true;
		return sight.availableBytes - operation.availableBefore >= totalBytes - doubtfulBytes - tolerance(totalBytes);
	}
	if (sight.state !== 'active' || sight.hasJob) return false;
	const { gpuBytes } = plan.expected;
	if (gpuBytes > 0 && sight.gpuBytes !== null) return sight.gpuBytes >= gpuBytes - tolerance(gpuBytes);
	return sight.at - (times.changed ?? sight.at) >= STEADY;
};
