import * as z from 'zod';
import type { FailureKind } from '../domain/failure.ts';
import type { Plan } from '../domain/plan.ts';
import type { OperationEvent, Sight } from '../operations/operation.ts';

/** Which run of the console wrote an entry: an operation in flight belongs to it as long as it lives. */
export type Writer = {
	readonly pid: number;
	/** When it started, ms since the epoch. */
	readonly started: number;
	/** What a later process with the same pid does not share; null where the system does not tell. */
	readonly run: string | null;
};

export type Entry = {
	readonly v: 1;
	/** ISO 8601, for people. */
	readonly time: string;
	readonly operation: string;
	readonly by: Writer;
	/** The configuration it was done under: host names mean nothing without it. */
	readonly config: string;
	readonly event: OperationEvent;
};

// What a line must have for all that is made of it later, on the screen too. Defaults are for entries of versions that
// did not have the field yet. The types at the left make a field that is new in a plan a compile error here.

const text = z.string();
const number = z.number();
/** What a Date can hold. */
const at = number.min(-8.64e15).max(8.64e15);

const target = z.discriminatedUnion('kind', [
	z.object({ kind: z.literal('unit'), manager: z.enum(['system', 'user']), unit: text, invocationId: text }),
	z.object({ kind: z.literal('container'), tool: text, containerId: text }),
	z.object({ kind: z.literal('process'), pid: number, startTicks: number, bootId: text }),
]);

const prediction = z.object({
	gpuBytes: number,
	hostBytes: number,
	totalBytes: number,
	atLeast: z.boolean(),
	doubtfulBytes: number.default(0),
});

const common = {
	service: text,
	host: text,
	name: text,
	target,
	command: z.object({ line: text, shown: z.array(text) }),
	bootId: text.default(''),
	also: z.array(z.object({ service: text, name: text })).default([]),
	patienceMs: number,
	memoryPatienceMs: number,
	availableBefore: number,
	consequences: z.array(text),
};

const plan: z.ZodType<Plan> = z.discriminatedUnion('kind', [
	z.object({
		...common,
		kind: z.literal('evict'),
		predicted: prediction,
		processes: z.array(z.object({ pid: number, startTicks: number, name: text })),
	}),
	z.object({ ...common, kind: z.literal('restore'), undoes: text, expected: prediction }),
]);

const sight: z.ZodType<Sight> = z.object({
	at,
	bootId: text,
	state: z.enum(['active', 'activating', 'deactivating', 'inactive', 'failed', 'absent']),
	hasJob: z.boolean(),
	fresh: z.boolean().default(true),
	run: text,
	survivors: z.array(text),
	availableBytes: number,
	gpuBytes: number.nullable(),
});

/** Of any version: nothing is decided by the kind of a failure that is history. */
const failureKind = z.custom<FailureKind>((value) => typeof value === 'string');

const event: z.ZodType<OperationEvent> = z.discriminatedUnion('type', [
	z.object({ type: z.literal('intended'), at, id: text, plan }),
	z.object({ type: z.literal('sending'), at, availableBefore: number.nullable().default(null) }),
	z.object({ type: z.literal('answered'), at, code: number.nullable(), stderr: text, user: text }),
	z.object({ type: z.literal('notSent'), at, failure: z.object({ kind: failureKind, cause: text, hint: text }) }),
	z.object({ type: z.literal('seen'), at, sight }),
	z.object({ type: z.literal('reopened'), at }),
]);

const entry: z.ZodType<Entry> = z.object({
	v: z.literal(1),
	time: text.default(''),
	operation: text,
	by: z.object({ pid: number, started: number.default(0), run: text.nullable().default(null) }),
	config: text,
	event,
});

/** One line of the journal; null if it is not one that this version understands. */
export const parseEntry = (line: string): Entry | null => {
	try {
		return entry.safeParse(JSON.parse(line)).data ?? null;
	} catch {
		return null;
	}
};
