import { type Failure, failure } from '../domain/failure.ts';
import type { HostSettings } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import type { Plan } from '../domain/plan.ts';
import { type Journal, openJournal, readJournal } from '../execution/journal.ts';
import { createReplay } from '../execution/replay.ts';
import { createRunner, type HostPort, type Runner } from '../execution/runner.ts';
import { now } from '../hosts/now.ts';
import { isLive, type Operation } from '../operations/operation.ts';
import { attribute } from '../planning/attribution.ts';
import type { Event } from '../store/events.ts';
import { isAlive, thisWriter } from './writer.ts';

export type RecordsOptions = {
	readonly folder: string;
	readonly config: string;
	readonly hosts: HostPort;
	readonly changed: (operation: Operation) => void;
	readonly userOf: (host: string) => string;
	readonly newId: () => string;
};

export type Records = ReturnType<typeof openRecords>;

/** The journal and the operations of this run of the console, opened after the first frame. */
export const openRecords = (options: RecordsOptions) => {
	let journal: Journal | null = null;
	let runner: Runner | null = null;
	let abandoned: readonly Operation[] = [];

	return {
		/** Reads what earlier runs left, and opens the journal for writing. */
		open: async (): Promise<Event[]> => {
			const replay = createReplay(options.config, (writer) => isAlive(writer));
			const read = await readJournal(options.folder, replay.add);
			// Half a history would show what has ended as being under way.
			if (!read.ok) return onlyLooking(read.failure);
			const { operations, abandoned: left } = replay.done();
			const events = read.value > 0 ? [leftOut(read.value, options.folder)] : [];
			const opened = await openJournal(options.folder, thisWriter(), options.config);
			if (!opened.ok) {
				// Nobody looks at what was left in flight, so it is not shown as being under way either.
				const ended = operations.filter((operation) => !isLive(operation));
				return [{ type: 'journalRead', operations: ended }, ...events, ...onlyLooking(opened.failure)];
			}
			journal = opened.value;
			runner = createRunner({ ...options, journal, now });
			abandoned = left;
			return [{ type: 'journalRead', operations }, ...events];
		},
		adopt: async (): Promise<void> => {
			await runner?.adopt(abandoned);
		},
		run: async (plan: Plan): Promise<void> => {
			// Without a journal nothing is done, and no command offers it: the state says why.
			await runner?.run(plan);
		},
		observe: (seen: Observation, settings: readonly HostSettings[]): void => {
			const host = settings.find((one) => one.name === seen.host);
			if (host) runner?.observe(seen, () => attribute(seen, host).services);
		},
		close: async (): Promise<void> => {
			await journal?.close();
		},
	};
};

/** What is done must be written down: without a journal nothing is, and the person is told why. */
const onlyLooking = (why: Failure): Event[] => [
	{ type: 'readOnly', reason: why.cause },
	{ type: 'notice', text: why.cause, failure: why },
];

const leftOut = (lines: number, folder: string): Event => {
	const cause = `${lines} ${lines === 1 ? 'line' : 'lines'} of the journal can't be read and are left out`;
	return {
		type: 'notice',
		text: cause,
		failure: failure('unreadable', cause, `They stay in ${folder}/journal.jsonl`),
	};
};
