import { MiB } from '../domain/bytes.ts';
import type { Operation, Sight } from './operation.ts';

/** How far a measured figure may be from a predicted one and still count as it: a tenth, at least 128 MiB. */
const tolerance = (bytes: number): number => Math.max(128 * MiB, bytes / 10);

/** How long (ms) a service without GPU memory must run before it counts as back. */
const STEADY = 3000;

/** Whether the facts prove the end of an operation: memory back after a stop, memory taken again after a start. */
export const measured = (operation: Operation, sight: Sight): boolean => {
	const { plan, times } = operation;
	if (plan.kind === 'evict') {
		const stopped = sight.state === 'inactive' || sight.state === 'failed' || sight.state === 'absent';
		if (!stopped || sight.survivors.length > 0) return false;
		const { totalBytes } = plan.predicted;
		return sight.availableBytes - plan.availableBefore >= totalBytes - tolerance(totalBytes);
	}
	if (sight.state !== 'active' || sight.hasJob) return false;
	const { gpuBytes } = plan.expected;
	if (gpuBytes > 0 && sight.gpuBytes !== null) return sight.gpuBytes >= gpuBytes - tolerance(gpuBytes);
	return sight.at - (times.changed ?? sight.at) >= STEADY;
};
