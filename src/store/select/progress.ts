import { gib, size } from '../../domain/bytes.ts';
import { isMeasurable } from '../../operations/measure.ts';
import type { Operation } from '../../operations/operation.ts';
import { ageText, clockText, shortService } from './names.ts';

/** One line on an operation: what it does or came to. */
export type ProgressView = {
	readonly time: string;
	readonly host: string;
	readonly text: string;
	readonly mark: string;
	readonly token: string;
	/** For an operation that did not come out as meant: what to do. */
	readonly hint: string;
};

/** The short form for the state column of the table; null when the operation has ended. */
export const progressState = (operation: Operation, now: number): string | null => {
	const since = ageText(now - (operation.times.sent ?? operation.times.intended));
	const evict = operation.plan.kind === 'evict';
	switch (operation.phase) {
		case 'intended':
			return 'waiting';
		case 'sending':
			return 'sending';
		case 'changing':
			return `${evict ? 'stopping' : 'starting'} ${since}`;
		case 'measuring':
			return evict ? `returning ${since}` : `loading ${since}`;
		case 'ended':
			return null;
	}
};

export const progressView = (operation: Operation, now: number): ProgressView => {
	const { plan, times, outcome, failure } = operation;
	const name = shortService(plan.name);
	const common = { time: clockText(times.ended ?? times.intended), host: plan.host, hint: failure?.hint ?? '' };
	const again = operation.reopened ? ' (found in flight)' : '';
	if (operation.phase !== 'ended')
		return { ...common, text: `${name}: ${doing(operation, now)}${again}`, mark: '…', token: 'text' };
	switch (outcome) {
		case 'verified':
			return { ...common, text: `${name} ${done(operation)}${again}`, mark: '✓ verified', token: 'mark.ok' };
		case 'unverified':
			return { ...common, text: `${failure?.cause ?? name}${again}`, mark: '! unverified', token: 'mark.warn' };
		case 'refused':
			return { ...common, text: failure?.cause ?? name, mark: '! refused', token: 'mark.warn' };
		default:
			return { ...common, text: `${failure?.cause ?? name}${again}`, mark: '! failed', token: 'mark.bad' };
	}
};

const doing = (operation: Operation, now: number): string => {
	const { plan, last, gainedBytes } = operation;
	const since = ageText(now - (operation.times.sent ?? operation.times.intended));
	if (operation.phase === 'intended') return `waiting for its turn: another operation on ${plan.host} has not ended`;
	if (operation.phase === 'sending') return 'sending the command';
	if (operation.phase === 'changing') {
		const asked = operation.accepted ? '' : ', asking the host what became of it';
		return `${plan.kind === 'evict' ? 'stopping' : 'starting'} ${since}${asked}`;
	}
	if (plan.kind === 'evict') {
		return `stopped, memory coming back ${gib(Math.max(0, gainedBytes ?? 0))} of ${size(plan.predicted.totalBytes)}`;
	}
	return plan.expected.gpuBytes > 0
		? `running, loading ${gib(last?.gpuBytes ?? 0)} of ${size(plan.expected.gpuBytes)}`
		: `running ${since}`;
};

const done = (operation: Operation): string => {
	const { plan, times, gainedBytes, last } = operation;
	const took = ageText((times.ended ?? 0) - (times.sent ?? times.intended));
	if (plan.kind === 'evict' && !isMeasurable(plan.predicted.totalBytes)) {
		return `stopped after ${took}; the ${size(plan.predicted.totalBytes)} it held are too little to be measured`;
	}
	if (plan.kind === 'evict') {
		return `stopped: ${gib(Math.max(0, gainedBytes ?? 0))} of ${size(plan.predicted.totalBytes)} back in ${took}`;
	}
	return plan.expected.gpuBytes > 0
		? `runs again and holds ${size(last?.gpuBytes ?? 0)} of the GPU, after ${took}`
		: `runs again, after ${took}`;
};

/** Bytes measured to come back at earlier evictions of a service, newest first. */
export const learnedFor = (operations: readonly Operation[], service: string): readonly number[] =>
	operations
		.filter(
			(one) =>
				one.plan.kind === 'evict' &&
				one.plan.service === service &&
				one.outcome === 'verified' &&
				isMeasurable(one.plan.predicted.totalBytes),
		)
		.map((one) => one.gainedBytes ?? 0)
		.reverse();
