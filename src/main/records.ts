import { failure } from '../domain/failure.ts';
import type { HostSettings } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import type { Plan } from '../domain/plan.ts';
import { type Journal, openJournal, readJournal, type Writer } from '../execution/journal.ts';
import { replay } from '../execution/replay.ts';
import { createRunner, type HostPort, type Runner } from '../execution/runner.ts';
import type { Operation } from '../operations/operation.ts';
import { attribute } from '../planning/attribution.ts';
import type { Event } from '../store/events.ts';

export type RecordsOptions = {
	readonly folder: string;
	readonly config: string;
	readonly hosts: HostPort;
	readonly changed: (operation: Operation) => void;
	readonly userOf: (host: string) => string;
	readonly newId: () => string;
};

/** The journal and the operations of this run of the console, opened after the first frame. */
export const openRecords = (options: RecordsOptions) => {
	const by: Writer = { pid: process.pid, started: Date.now() };
	let journal: Journal | null = null;
	let runner: Runner | null = null;
	let abandoned: readonly Operation[] = [];

	return {
		/** Reads what earlier runs left, and opens the journal for writing. */
		open: async (): Promise<Event[]> => {
			const { entries, unreadable } = await readJournal(options.folder);
			const replayed = replay(entries, options.config, (writer) => isAlive(writer));
			abandoned = replayed.abandoned;
			const events: Event[] = [{ type: 'journalRead', operations: replayed.operations }];
			const opened = await openJournal(options.folder, by, options.config);
			if (opened.ok) {
				journal = opened.value;
				runner = createRunner({ ...options, journal, now: Date.now });
			} else events.push({ type: 'notice', text: opened.failure.cause, failure: opened.failure });
			if (unreadable > 0) {
				const cause = `${unreadable} lines of the journal can't be read and are left out`;
				events.push({
					type: 'notice',
					text: cause,
					failure: failure('unreadable', cause, `They stay in ${options.folder}/journal.jsonl`),
				});
			}
			return events;
		},
		adopt: async (): Promise<void> => {
			await runner?.adopt(abandoned);
		},
		run: async (plan: Plan): Promise<void> => {
			// Without a journal nothing is done: the notice at the start has said why.
			await runner?.run(plan);
		},
		observe: (seen: Observation, settings: readonly HostSettings[]): void => {
			const host = settings.find((one) => one.name === seen.host);
			if (host && runner?.isBusy(seen.host)) runner.observe(seen, attribute(seen, host).services);
		},
		close: async (): Promise<void> => {
			await journal?.close();
		},
	};
};

/** Whether the console that wrote an entry still runs. Signal 0 only asks (kill(2)). */
const isAlive = ({ pid }: Writer): boolean => {
	if (pid === process.pid) return false;
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
};
