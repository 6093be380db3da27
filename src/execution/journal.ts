import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failure } from '../domain/failure.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import type { OperationEvent } from '../operations/operation.ts';

/** Which run of the console wrote an entry: an operation in flight belongs to it as long as it lives. */
export type Writer = { readonly pid: number; readonly started: number };

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

/** Append-only JSON lines, mode 0600 in a folder of mode 0700. `append` returns after the line is on disk. */
export type Journal = {
	readonly append: (operation: string, event: OperationEvent) => Promise<Result<void>>;
	readonly close: () => Promise<void>;
	readonly path: string;
};

export const openJournal = async (folder: string, by: Writer, config: string): Promise<Result<Journal>> => {
	const path = join(folder, 'journal.jsonl');
	let file: FileHandle;
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 });
		// Append mode: two consoles may write at the same time, and each line goes out in one write.
		file = await open(path, 'a+', 0o600);
		await endLastLine(file);
	} catch (error) {
		return fail(unwritable(path, error));
	}
	let queue: Promise<unknown> = Promise.resolve();
	const append = async (operation: string, event: OperationEvent): Promise<Result<void>> => {
		const entry: Entry = { v: 1, time: new Date(event.at).toISOString(), operation, by, config, event };
		try {
			await file.appendFile(`${JSON.stringify(entry)}\n`);
			await file.datasync();
			return ok(undefined);
		} catch (error) {
			return fail(unwritable(path, error));
		}
	};
	return ok({
		path,
		append: (operation, event) => {
			const done = queue.then(() => append(operation, event));
			queue = done;
			return done;
		},
		close: async () => {
			await queue;
			await file.close();
		},
	});
};

/** A crash in the middle of a write leaves half a line; ours must not be glued to it. */
const endLastLine = async (file: FileHandle): Promise<void> => {
	const { size } = await file.stat();
	if (size === 0) return;
	const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
	if (buffer[0] !== 0x0a) await file.appendFile('\n');
};

const unwritable = (path: string, error: unknown) =>
	failure(
		'internal',
		`The journal ${path} can't be written: ${error instanceof Error ? error.message : error}`,
		'Nothing is done that is not written down first. Make room, or set XDG_STATE_HOME',
	);

/** All entries that can be read, oldest first, and how many lines could not. A missing journal is an empty one. */
export const readJournal = async (folder: string): Promise<{ entries: Entry[]; unreadable: number }> => {
	let text = '';
	try {
		text = await readFile(join(folder, 'journal.jsonl'), 'utf8');
	} catch {
		return { entries: [], unreadable: 0 };
	}
	return parseJournal(text);
};

export const parseJournal = (text: string): { entries: Entry[]; unreadable: number } => {
	const entries: Entry[] = [];
	let unreadable = 0;
	for (const line of text.split('\n')) {
		if (line === '') continue;
		const entry = parseEntry(line);
		if (entry) entries.push(entry);
		else unreadable += 1;
	}
	return { entries, unreadable };
};

const parseEntry = (line: string): Entry | null => {
	try {
		const value = JSON.parse(line) as Partial<Entry> | null;
		const known = value?.v === 1 && typeof value.operation === 'string' && typeof value.event?.type === 'string';
		return known && typeof value.event?.at === 'number' && typeof value.by?.pid === 'number' ? (value as Entry) : null;
	} catch {
		return null;
	}
};
