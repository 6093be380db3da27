import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { failure } from '../domain/failure.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import type { OperationEvent } from '../operations/operation.ts';
import { type Entry, parseEntry, type Writer } from './entry.ts';

/** Append-only JSON lines, mode 0600 in a folder of mode 0700. `append` returns after the line is on disk. */
export type Journal = {
	readonly append: (operation: string, event: OperationEvent) => Promise<Result<void>>;
	readonly close: () => Promise<void>;
	readonly path: string;
};

const NEWLINE = 0x0a;
/** Bytes of the longest line that is read. Ours have a few thousand; a crash of the system may leave a file of zeros. */
const LONGEST = 4 * 1024 * 1024;

const pathIn = (folder: string): string => join(folder, 'journal.jsonl');

export const openJournal = async (folder: string, by: Writer, config: string): Promise<Result<Journal>> => {
	const path = pathIn(folder);
	let file: FileHandle;
	try {
		await mkdir(folder, { recursive: true, mode: 0o700 });
		// Append mode: two consoles may write at the same time, and each line goes out in one write.
		file = await open(path, 'a+', 0o600);
	} catch (error) {
		return fail(unwritable(path, error));
	}
	let queue: Promise<unknown> = Promise.resolve();
	const append = async (operation: string, event: OperationEvent): Promise<Result<void>> => {
		try {
			const entry: Entry = { v: 1, time: new Date(event.at).toISOString(), operation, by, config, event };
			const line = `${JSON.stringify(entry)}\n`;
			await file.appendFile((await endsInLine(file)) ? `\n${line}` : line);
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

/**
 * Whether the file ends within a line: a crash or a full disk in the middle of a write leaves half of one, ours or that
 * of another console, and the next line must not be glued to it. So the file is asked, and not our memory.
 */
const endsInLine = async (file: FileHandle): Promise<boolean> => {
	const { size } = await file.stat();
	if (size === 0) return false;
	const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
	return bytesRead === 1 && buffer[0] !== NEWLINE;
};

/** Without the name of the system call and the path, which the sentence around it has. */
const told = (error: unknown): string => (error instanceof Error ? error.message.split(', ')[0]! : String(error));

const unwritable = (path: string, error: unknown) =>
	failure(
		'internal',
		`The journal ${path} can't be written: ${told(error)}`,
		'Nothing is done that is not written down first. Make room, or set XDG_STATE_HOME',
	);

const unreadable = (path: string, error: unknown) =>
	failure(
		'unreadable',
		`The journal ${path} can't be read: ${told(error)}`,
		'Nothing is done while it is not known what was done before. Make it readable, or move it away',
	);

/**
 * Gives every entry that can be read to `each`, oldest first, and returns how many lines could not. A missing journal is
 * an empty one. Read as a stream: a journal of years may be larger than the longest string.
 */
export const readJournal = async (folder: string, each: (entry: Entry) => void): Promise<Result<number>> => {
	let bad = 0;
	const lines = lineSplitter((line) => {
		if (line === '') return;
		const entry = line === null ? null : parseEntry(line);
		if (entry) each(entry);
		else bad += 1;
	});
	try {
		for await (const chunk of createReadStream(pathIn(folder))) lines.push(chunk as Buffer);
	} catch (error) {
		const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
		return missing ? ok(0) : fail(unreadable(pathIn(folder), error));
	}
	lines.end();
	return ok(bad);
};

/** Cuts bytes into lines; null stands for a line that is too long to be one of ours, which is not kept in memory. */
const lineSplitter = (each: (line: string | null) => void) => {
	let parts: Buffer[] = [];
	let length = 0;
	const put = (part: Buffer): void => {
		length += part.length;
		if (length > LONGEST) parts = [];
		else parts.push(part);
	};
	const end = (): void => {
		each(length > LONGEST ? null : Buffer.concat(parts).toString('utf8'));
		parts = [];
		length = 0;
	};
	const push = (chunk: Buffer): void => {
		let from = 0;
		for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
			put(chunk.subarray(from, to));
			end();
			from = to + 1;
		}
		put(chunk.subarray(from));
	};
	return { push, end };
};
