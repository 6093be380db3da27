import { GiB, MiB, size } from '../domain/bytes.ts';
import { type CommandLine, stopContainer, stopUnit, terminateProcess } from '../domain/commandLine.ts';
import { failure } from '../domain/failure.ts';
import { type Observation, sharesOnePool } from '../domain/observation.ts';
import type { EvictionPlan, Prediction, Target } from '../domain/plan.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import { isActive, type Service } from '../domain/service.ts';
import { consequencesOf, stopsWith } from './comeback.ts';

/** systemd's DefaultTimeoutStopSec, where the unit does not say. */
const DEFAULT_STOP_MS = 90_000;
/** A container's own stop timeout is 10 s by default and may be set to more; it is not read. */
const CONTAINER_STOP_MS = 120_000;

/**
 * Memory of a large engine is seen to come back minutes after its exit (facts: "memory returns late"): 15 s and 3 s for
 * each GiB. It bounds only how long we wait before we say "unverified", never how soon "verified" is said.
 */
export const memoryPatience = (bytes: number): number => 15_000 + Math.round((3000 * bytes) / GiB);

/**
 * The plan to stop one service, or why it can't be stopped. Pure: nothing is done, and planning again from later facts
 * tells whether it still holds.
 */
export const planEviction = (service: Service, all: readonly Service[], seen: Observation): Result<EvictionPlan> => {
	const { name, host } = service;
	if (service.keep) {
		return fail(
			failure('kept', `${name} on ${host} is kept: your configuration says so`, 'Take it out of `keep` there'),
		);
	}
	if (service.guarded) {
		return fail(
			failure('denied', `${name} is never stopped from here: ${service.guarded}`, 'Do it by hand, if it must be'),
		);
	}
	if (!isActive(service)) {
		return fail(failure('not-found', `${name} on ${host} is not running`, 'There is nothing to stop'));
	}
	const also = stopsWith(service, all);
	const spared = also.find((one) => one.keep || one.guarded !== null);
	if (spared) {
		const why = spared.keep ? 'you said keep' : spared.guarded;
		return fail(
			failure(
				'kept',
				`${name} can’t be stopped alone: ${spared.name} depends on it and would stop too, and ${why}`,
				'Take that out of the way first',
			),
		);
	}
	const target = targetOf(service, seen);
	if (!target.ok) return target;
	const predicted = predict([service, ...also], seen);
	const patienceMs =
		service.manager === 'container' ? CONTAINER_STOP_MS : (service.unit?.stopTimeoutMs ?? DEFAULT_STOP_MS) + 10_000;
	return ok({
		kind: 'evict',
		service: service.id,
		host,
		name,
		target: target.value,
		command: stopCommand(target.value, seen.identity.uid),
		patienceMs,
		memoryPatienceMs: memoryPatience(predicted.totalBytes),
		predicted,
		availableBefore: seen.memory.value.available,
		bootId: seen.identity.bootId,
		also: also.map((one) => ({ service: one.id, name: one.name })),
		processes: [service, ...also].flatMap((one) =>
			one.processes.map(({ pid, startTicks, name: comm }) => ({ pid, startTicks, name: comm })),
		),
		consequences: consequencesOf(service, also),
	});
};

export const predict = (services: readonly Service[], seen: Observation): Prediction => {
	const sum = (of: (service: Service) => number): number => services.reduce((all, one) => all + of(one), 0);
	const gpuBytes = sum((one) => one.gpuBytes ?? 0);
	const hostBytes = sum((one) => one.hostBytes);
	return {
		gpuBytes,
		hostBytes,
		totalBytes: hostBytes + (sharesOnePool(seen) ? gpuBytes : 0),
		atLeast: services.some((one) => one.gpuBytes === null || one.gpuAtLeast) || isOld(seen),
		doubtfulBytes: sum((one) => one.doubtfulBytes),
	};
};

/** nvidia-smi has not answered for a while: the figure is that of then. */
const isOld = (seen: Observation): boolean =>
	seen.gpuProcesses !== null && seen.at - seen.gpuProcesses.observedAt > 5000;

const targetOf = (service: Service, seen: Observation): Result<Target> => {
	const { unit, container, name } = service;
	if (unit) {
		if (unit.invocationId === '') {
			return fail(failure('unreadable', `${name} has no invocation id to guard it by`, 'Needs systemd 232 or newer'));
		}
		return ok({ kind: 'unit', manager: unit.manager, unit: unit.name, invocationId: unit.invocationId });
	}
	if (container) return ok({ kind: 'container', tool: container.tool, containerId: container.id });
	const process = service.processes[0];
	if (!process) return fail(failure('not-found', `${name} has no process left`, 'There is nothing to stop'));
	const { pid, startTicks } = process;
	return ok({ kind: 'process', pid, startTicks, bootId: seen.identity.bootId });
};

const stopCommand = (target: Target, uid: number): CommandLine => {
	switch (target.kind) {
		case 'unit':
			return stopUnit(target.manager, uid, target.unit, target.invocationId);
		case 'container':
			return stopContainer(target.tool, target.containerId);
		case 'process':
			return terminateProcess(target.pid, target.startTicks, target.bootId);
	}
};

/** How the guard of a target reads on the screen. */
export const guardText = (target: Target): string => {
	switch (target.kind) {
		case 'unit':
			return `InvocationID ${target.invocationId.slice(0, 12)}…, checked on the host in the same command`;
		case 'container':
			return `container id ${target.containerId.slice(0, 12)}…`;
		case 'process':
			return `pid ${target.pid} started at tick ${target.startTicks}, boot ${target.bootId.slice(0, 8)}…`;
	}
};

/**
 * Whether a plan made now is the one that the operator saw: same target, same commands, same consequences, and a
 * prediction that did not move by more than a tenth (or 256 MiB).
 */
export const samePlan = (seen: EvictionPlan, now: EvictionPlan): boolean =>
	JSON.stringify([seen.target, seen.command, seen.also, seen.consequences]) ===
		JSON.stringify([now.target, now.command, now.also, now.consequences]) &&
	Math.abs(seen.predicted.totalBytes - now.predicted.totalBytes) <= Math.max(256 * MiB, seen.predicted.totalBytes / 10);

export const predictionText = ({ gpuBytes, hostBytes, totalBytes, atLeast, doubtfulBytes }: Prediction): string => {
	const doubtful = doubtfulBytes > totalBytes / 20;
	const mark = atLeast ? 'at least ' : doubtful ? 'up to ' : 'about ';
	if (gpuBytes > 0 && totalBytes === hostBytes)
		return `${mark}${size(totalBytes)} of host memory, and ${size(gpuBytes)} of the GPU’s own`;
	if (gpuBytes > 0)
		return `${mark}${size(totalBytes)}: ${size(gpuBytes)} of the GPU and ${size(hostBytes)} of host memory`;
	return `${mark}${size(totalBytes)} of host memory`;
};
