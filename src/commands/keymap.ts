// Keymaps are data: which keys mean which command. A context (a dialog is open, or not) has a table of its own.
import * as z from 'zod';
import { readInherited } from '../config/inherited.ts';
import { didYouMean, type Problem } from '../config/yaml.ts';
import { type Chord, KEY_NAMES, parseChord } from './chord.ts';

export const CONTEXTS = ['main', 'dialog'] as const;
export type Context = (typeof CONTEXTS)[number];

/** Key sequences, chords joined by spaces, and their commands, in the order of the files. */
export type KeyTable = ReadonlyMap<string, string>;

export type Keymap = { readonly name: string } & { readonly [context in Context]: KeyTable };

export type LoadedKeymap =
	| { readonly ok: true; readonly keymap: Keymap }
	| { readonly ok: false; readonly problems: readonly Problem[] };

export type Step =
	| { readonly kind: 'command'; readonly command: string }
	/** The beginning of a sequence: to be passed to the next step. */
	| { readonly kind: 'pending'; readonly pending: readonly Chord[] }
	| { readonly kind: 'none' };

const table = z.record(z.string(), z.union([z.string(), z.null()])).optional();
const schema = z.strictObject({
	name: z.string().min(1),
	inherits: z.string().optional(),
	keys: z.strictObject({ main: table, dialog: table }).optional(),
});

type Binding = { readonly command: string | null; readonly problem: (message: string) => Problem };

export function loadKeymap(
	name: string,
	sources: Readonly<Record<string, string>>,
	knownCommands: Iterable<string>,
): LoadedKeymap {
	const read = readInherited(name, 'keymaps', sources, schema);
	if (!read.ok) return read;
	const commands = new Set(knownCommands);
	const problems: Problem[] = [];
	const tables: Record<Context, Map<string, Binding>> = { main: new Map(), dialog: new Map() };
	for (const { source, value, locate } of read.layers) {
		for (const context of CONTEXTS) {
			const inThisFile = new Set<string>();
			for (const [written, command] of Object.entries(value.keys?.[context] ?? {})) {
				const path = ['keys', context, written];
				const problemAt = (part: 'key' | 'value') => (message: string) => ({
					source,
					...locate(path, part),
					path: path.join('.'),
					message,
				});
				const sequence = parseSequence(written);
				if (!sequence.ok) {
					problems.push(problemAt('key')(`bad key ${JSON.stringify(written)}: ${sequence.message}`));
					continue;
				}
				if (command !== null && !commands.has(command)) {
					problems.push(
						problemAt('value')(`unknown command ${JSON.stringify(command)}${didYouMean(command, commands)}`),
					);
				}
				if (inThisFile.has(sequence.chords)) problems.push(problemAt('key')(`${sequence.chords} is bound twice`));
				inThisFile.add(sequence.chords);
				// Deleted first, so that a rebound key stands where the heir wrote it: the footer shows the last one said.
				tables[context].delete(sequence.chords);
				tables[context].set(sequence.chords, { command, problem: problemAt('key') });
			}
		}
	}
	for (const context of CONTEXTS) problems.push(...conflicts(tables[context]));
	if (problems.length > 0) return { ok: false, problems };
	return {
		ok: true,
		keymap: { name: read.layers.at(-1)?.value.name ?? name, main: bound(tables.main), dialog: bound(tables.dialog) },
	};
}

function parseSequence(written: string): { ok: true; chords: string } | { ok: false; message: string } {
	const chords: Chord[] = [];
	for (const part of written.split(' ')) {
		if (part === '') return { ok: false, message: 'chords are joined by one space; the space bar is called "space"' };
		const parsed = parseChord(part);
		if (!parsed.ok) return { ok: false, message: parsed.message + didYouMean(part, KEY_NAMES) };
		chords.push(parsed.chord);
	}
	return { ok: true, chords: chords.join(' ') };
}

/** If `g` does something at once, `g g` can never be typed. */
function conflicts(bindings: ReadonlyMap<string, Binding>): Problem[] {
	const problems: Problem[] = [];
	for (const [sequence, { command, problem }] of bindings) {
		const chords = sequence.split(' ');
		for (let length = 1; command !== null && length < chords.length; length++) {
			const start = chords.slice(0, length).join(' ');
			const shorter = bindings.get(start)?.command;
			if (shorter) problems.push(problem(`${sequence} can never be typed, because ${start} already means ${shorter}`));
		}
	}
	return problems;
}

function bound(bindings: ReadonlyMap<string, Binding>): KeyTable {
	const result = new Map<string, string>();
	for (const [sequence, { command }] of bindings) if (command !== null) result.set(sequence, command);
	return result;
}

/** What a chord means after the pending ones. A sequence that leads nowhere is dropped whole: its rest means nothing. */
export function step(keys: KeyTable, pending: readonly Chord[], chord: Chord): Step {
	const typed = [...pending, chord];
	const sequence = typed.join(' ');
	const command = keys.get(sequence);
	if (command !== undefined) return { kind: 'command', command };
	for (const longer of keys.keys()) if (longer.startsWith(`${sequence} `)) return { kind: 'pending', pending: typed };
	return { kind: 'none' };
}

/** All keys of a command, for footer and help. */
export function keysFor(keys: KeyTable, command: string): string[] {
	return [...keys].filter(([, each]) => each === command).map(([sequence]) => sequence);
}
