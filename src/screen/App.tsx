import { useInput, usePaste, useWindowSize } from 'ink';
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { startTyping, type Typing, typeChord, typePaste } from '../commands/answering.ts';
import { type Chord, chordOf } from '../commands/chord.ts';
import type { Intent } from '../commands/command.ts';
import { footerCommands, invoke } from '../commands/index.ts';
import { type Keymap, keysFor, step } from '../commands/keymap.ts';
import type { Question } from '../domain/question.ts';
import { dialogView } from '../store/select/dialog.ts';
import { hostViews } from '../store/select/host.ts';
import { clockText } from '../store/select/names.ts';
import { progressView } from '../store/select/progress.ts';
import { tableView } from '../store/select/table.ts';
import { whyView } from '../store/select/why.ts';
import type { State } from '../store/state.ts';
import type { Store } from '../store/store.ts';
import { line, text } from './frame/line.ts';
import { LEAST, layoutFor } from './layout.ts';
import { Pane } from './Pane.tsx';
import { type FooterKey, footer, header, tooSmall } from './panes/chrome.ts';
import { dialogPane } from './panes/dialog.ts';
import { columnsOfOwners, hostPanel, hostSummary } from './panes/hostPanel.ts';
import { questionPane } from './panes/question.ts';
import { reading } from './panes/reading.ts';
import { servicesPane } from './panes/services.ts';
import { progressLine, textPane, whyLines, whyPane } from './panes/text.ts';

export type AppProps = {
	readonly store: Store;
	readonly keymap: Keymap;
	/** Carries out what a command asks for. */
	readonly onIntent: (intent: Intent) => void;
	/** Called when the window has another size, before anything is drawn for it. */
	readonly onResize: (columns: number, rows: number) => void;
};

/** How long a notice stays (ms). */
const NOTICE = 12_000;

/** The whole screen: state to panes, keys to commands. Everything it shows is decided in the selectors and panes. */
export function App({ store, keymap, onIntent, onResize }: AppProps): ReactNode {
	const state = useStore(store.api);
	const { columns, rows } = useWindowSize();
	useLayoutEffect(() => onResize(columns, rows), [onResize, columns, rows]);
	const pending = useRef<readonly Chord[]>([]);
	const small = columns < LEAST.columns || rows < LEAST.rows;
	// What stood on the screen when the last key came: only that can be confirmed, and only where it could be read in full.
	const drawn = useRef<{ dialog: unknown; complete: boolean }>({ dialog: null, complete: true });

	// Answers are kept here only, never in the store.
	const [typing, setTyping] = useState<Typing | null>(null);
	const typed = useRef<Typing | null>(null);
	const keep = (next: Typing | null): void => {
		typed.current = next;
		setTyping(next);
	};
	const typeInto = (question: Question, chord: Chord): void => {
		const current = typed.current?.question === question.id ? typed.current : startTyping(question.id);
		const after = typeChord(current, chord, question.prompts.length);
		keep(after.kind === 'typing' ? after.typing : null);
		if (after.kind === 'typing') return;
		const answers = after.kind === 'answered' ? after.answers : null;
		onIntent({ type: 'event', event: { type: 'answeringClosed' } });
		onIntent({ type: 'answer', question: question.id, answers });
	};

	useInput((input, key) => {
		for (const chord of chordOf(input, key)) {
			const now = store.get();
			if (now.ui.answering) {
				if (chord === 'ctrl+l') onIntent({ type: 'redraw' });
				// Where the question can't be read in full, it can only be left.
				else if (drawn.current.complete || chord === 'esc') typeInto(now.ui.answering, chord);
				// What comes in one piece after the end of an answer was meant for it, not for the deck.
				if (store.get().ui.answering === null) break;
				continue;
			}
			const found = step(now.ui.dialog ? keymap.dialog : keymap.main, pending.current, chord);
			pending.current = found.kind === 'pending' ? found.pending : [];
			if (found.kind !== 'command') continue;
			const { dialog: asked } = now.ui;
			const { dialog: shownDialog, complete } = drawn.current;
			if (!complete && !['quit', 'back', 'redraw'].includes(found.command) && asked?.focus !== 0) continue;
			if (found.command === 'confirm.accept' && asked !== shownDialog) continue;
			for (const intent of invoke(found.command, now)) onIntent(intent);
			// Keys that came in one piece with the one that opened a dialog were not meant for it: nobody has read it yet.
			if ((store.get().ui.dialog !== null && asked === null) || store.get().ui.answering) break;
		}
	});
	// A paste is text: it goes into a field that is open, and never presses keys.
	usePaste((pasted) => {
		const { answering } = store.get().ui;
		if (!answering) return;
		keep(typePaste(typed.current?.question === answering.id ? typed.current : startTyping(answering.id), pasted));
	});

	const dialog = useMemo(() => {
		const { answering } = state.ui;
		if (answering) {
			const current = typing?.question === answering.id ? typing : startTyping(answering.id);
			const waiting = state.questions.some(({ id }) => id === answering.id);
			return questionPane(answering, current, waiting, columns, rows);
		}
		const view = dialogView(state);
		return view && dialogPane(view, columns, rows);
	}, [state, typing, columns, rows]);
	const complete = !small && dialog?.complete !== false;
	useEffect(() => {
		drawn.current = { dialog: state.ui.dialog, complete };
	}, [state.ui.dialog, complete]);

	if (small) {
		return <Pane id="small" x={0} y={0} width={columns} height={rows} lines={tooSmall(columns, rows, LEAST)} />;
	}
	return (
		<>
			{state.ui.view === 'deck' ? (
				<Deck state={state} columns={columns} rows={rows} />
			) : (
				<Reading state={state} keymap={keymap} columns={columns} rows={rows} />
			)}
			<Chrome state={state} keymap={keymap} columns={columns} rows={rows} />
			{dialog && (
				<Pane
					id="dialog"
					z={10}
					x={Math.floor((columns - dialog.width) / 2)}
					y={Math.max(0, Math.floor((rows - dialog.lines.length) / 2))}
					width={dialog.width}
					height={dialog.lines.length}
					lines={dialog.lines}
				/>
			)}
		</>
	);
}

type Part = { readonly state: State; readonly columns: number; readonly rows: number };

const placesFor = ({ state, columns, rows }: Part) => {
	const perLine = columnsOfOwners(Math.floor(columns / Math.max(1, Math.min(2, state.hosts.length))) - 4);
	const lines = state.hosts.map((host) => {
		const owners = (host.statement?.rows ?? []).filter(
			(row) => row.bytes > 0 && !['cache', 'free', 'unexplained'].includes(row.kind),
		);
		return (
			Math.ceil(owners.length / perLine) +
			(host.statement?.disagreements.length ?? 0) +
			(host.seen?.failures.length ? 1 : 0)
		);
	});
	return layoutFor(columns, rows, state.hosts.length, Math.max(3, ...lines), state.operations.length);
};

function Deck(part: Part): ReactNode {
	const { state } = part;
	const places = placesFor(part);
	const { selected } = state.ui;
	const why = whyView(state);
	const { services, why: whyPlace } = places;
	return (
		<>
			{hostViews(state).map((view, index) => {
				const place = places.hosts[index];
				if (!place || place.height === 0) return null;
				const lines =
					places.hostStyle === 'panel'
						? hostPanel(view, place.width, place.height, selected)
						: hostSummary(view, place.width, selected);
				return <Pane key={view.name} id={`host:${view.name}`} {...place} lines={lines} />;
			})}
			<Pane id="services" {...services} lines={servicesPane(tableView(state), services.width, services.height)} />
			<Pane
				id="why"
				{...whyPlace}
				lines={(places.whyStyle === 'pane' ? whyPane : whyLines)(why, whyPlace.width, whyPlace.height)}
			/>
		</>
	);
}

/** Views that are read over the whole screen. */
function Reading(part: Part & { readonly keymap: Keymap }): ReactNode {
	const { state, keymap } = part;
	const { body } = placesFor(part);
	const { title, lines } = reading(state, keymap, body.width - 4);
	return <Pane id="reading" {...body} lines={textPane(title, lines, state.ui.scroll, body.width, body.height)} />;
}

/** Header, what was done last, and the keys that act now. */
function Chrome(part: Part & { readonly keymap: Keymap }): ReactNode {
	const { state, keymap, columns } = part;
	const places = placesFor(part);
	const table = state.ui.dialog ? keymap.dialog : keymap.main;
	// What a question takes stands in it.
	const keys: FooterKey[] = state.ui.answering
		? []
		: state.ui.dialog
			? [
					{ keys: shown(table, 'confirm.next'), title: 'other button' },
					{ keys: shown(table, 'confirm.accept'), title: 'press it' },
					{ keys: shown(table, 'back'), title: 'cancel' },
				]
			: footerCommands(state)
					.map((command) => ({ keys: shown(table, command.id), title: command.title }))
					.filter((one) => one.keys !== '');
	const { notice } = state.ui;
	const fresh = notice && state.now - notice.at < NOTICE ? notice : null;
	const operations = state.operations.slice(-places.progress.height);
	const progress = operations.map((operation) => progressLine(progressView(operation, state.now), columns));
	const [question] = state.questions;
	if (question && !state.ui.answering) {
		const key = shown(keymap.main, 'answer');
		progress.splice(
			-1,
			1,
			line(text(' ? ', 'mark.warn'), text(`${question.title}: ${asks(question)}. ${key} answers`, 'text')),
		);
	} else if (fresh) {
		const hint = fresh.failure?.hint ? `. ${fresh.failure.hint}` : '';
		progress.splice(-1, 1, line(text(' ! ', 'mark.warn'), text(`${fresh.text}${hint}`, 'text')));
	}
	return (
		<>
			<Pane
				id="header"
				{...places.header}
				lines={[header(state.title, hostViews(state), clockText(state.wall), columns)]}
			/>
			<Pane id="progress" {...places.progress} lines={progress} />
			<Pane id="footer" {...places.footer} lines={[footer(keys, columns)]} />
		</>
	);
}

/** What is asked for, in few words; the prompts may be the server's own. */
const asks = ({ prompts, text: said }: Question): string =>
	prompts.length > 0 ? prompts.map((prompt) => prompt.text).join(', ') : said.join(' ');

/** The first key of a command; several would crowd the footer. */
const shown = (table: Keymap['main'], command: string): string => keysFor(table, command)[0] ?? '';
