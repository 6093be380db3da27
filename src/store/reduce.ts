import { STALE_AFTER } from '../domain/fact.ts';
import type { Observation } from '../domain/observation.ts';
import { isLive, type Operation } from '../operations/operation.ts';
import { attribute } from '../planning/attribution.ts';
import { closeStatement } from '../planning/ledger.ts';
import type { Event } from './events.ts';
import { owed, rows } from './select/rows.ts';
import { HISTORY, type HostState, type State, type UiState } from './state.ts';

/** Buttons of a confirmation: Cancel and the act. */
const BUTTONS = 2;
/** Operations of earlier runs that are kept in memory: enough for what was learned from them. */
const KEPT = 300;

/** The state after an event. Pure and exhaustive: an event that is not handled does not compile. */
export const reduce = (state: State, event: Event): State => {
	switch (event.type) {
		case 'clock':
			return { ...state, now: event.now, wall: event.wall ?? event.now };
		case 'link':
			return onHost(state, event.host, (host) => ({ ...host, link: event.link }));
		case 'observed':
			return withSelection(
				state,
				onHost(state, event.observation.host, (host) => observed(host, event.observation)),
			);
		case 'operation':
			return { ...state, operations: withOperation(state.operations, event.operation) };
		case 'journalRead':
			return { ...state, operations: recent(event.operations) };
		case 'readOnly':
			// What the person asked for comes first: the other reason would change nothing.
			return { ...state, readOnly: state.readOnly ?? event.reason };
		case 'asked':
			return { ...state, questions: [...state.questions, event.question] };
		case 'unasked': {
			const left = { ...state, questions: state.questions.filter((question) => question.id !== event.id) };
			// One that has nothing to type closes by itself: no key is on its way to it.
			const { answering } = state.ui;
			return answering?.id === event.id && answering.prompts.length === 0 ? ui(left, { answering: null }) : left;
		}
		case 'answering': {
			const question = state.questions.find((one) => one.id === event.id);
			return question && !state.ui.dialog ? ui(state, { answering: question, notice: null }) : state;
		}
		case 'answeringClosed':
			return ui(state, { answering: null });
		case 'select':
			return ui(state, {
				selected: event.service,
				chosen: true,
				notice: null,
				...(state.ui.view === 'details' && { scroll: 0 }),
			});
		case 'view':
			return ui(state, { view: event.view, scroll: 0, notice: null });
		case 'scroll':
			return ui(state, { scroll: Math.max(0, state.ui.scroll + event.by) });
		case 'dialog':
			return ui(state, { dialog: { plan: event.plan, focus: 0, changed: event.changed }, notice: null });
		case 'dialogFocus': {
			const { dialog } = state.ui;
			if (!dialog) return state;
			return ui(state, { dialog: { ...dialog, focus: (dialog.focus + event.by + BUTTONS) % BUTTONS } });
		}
		case 'dialogClosed':
			return ui(state, { dialog: null });
		case 'notice':
			return ui(state, { notice: { at: state.now, text: event.text, failure: event.failure } });
	}
};

const ui = (state: State, change: Partial<UiState>): State => ({ ...state, ui: { ...state.ui, ...change } });

const onHost = (state: State, name: string, change: (host: HostState) => HostState): State => ({
	...state,
	hosts: state.hosts.map((host) => (host.settings.name === name ? change(host) : host)),
});

const observed = (host: HostState, seen: Observation): HostState => {
	// A frame that was held up on the way is older than what is shown already.
	if (host.seen && seen.at < host.seen.at) return host;
	const attribution = attribute(seen, host.settings);
	const statement = closeStatement(seen, attribution);
	const owners = statement.rows.filter((row) => row.kind === 'service').map((row) => row.owner);
	const unlettered = owners.filter((owner) => !host.lettered.includes(owner));
	// What is old is no measurement of now: a gap, not the last figure again.
	const fresh = seen.gpus !== null && seen.at - seen.gpus.observedAt < STALE_AFTER;
	const gpu = fresh ? (seen.gpus?.value[0]?.utilisationPercent ?? null) : null;
	return {
		...host,
		seen,
		services: attribution.services,
		statement,
		// Before the first complete look the order would be that of whatever came first.
		lettered: seen.complete && unlettered.length > 0 ? [...host.lettered, ...unlettered] : host.lettered,
		history: {
			gpu: [...host.history.gpu, gpu].slice(-HISTORY),
			cpu: [...host.history.cpu, seen.cpuBusy === null ? null : seen.cpuBusy * 100].slice(-HISTORY),
		},
	};
};

/**
 * The first row is selected by itself, so that a person sees reasons before pressing a key; where the selected one has gone,
 * the row that took its place is, and that is said.
 */
const withSelection = (before: State, state: State): State => {
	const { selected, dialog } = state.ui;
	if (dialog) return state;
	const now = rows(state);
	const reading = before.hosts.some((host) => !host.seen?.complete && host.link.state !== 'down');
	if (!state.ui.chosen && (selected === null || reading)) return ui(state, { selected: now[0]?.id ?? null });
	if (selected !== null && now.some((service) => service.id === selected)) return state;
	const at = Math.max(
		0,
		rows(before).findIndex((service) => service.id === selected),
	);
	const next = now[Math.min(at, now.length - 1)];
	if (selected === null) return next ? ui(state, { selected: next.id }) : state;
	const text = `${selected.split('/').slice(2).join('/')} is not there any more`;
	return ui(state, { selected: next?.id ?? null, notice: { at: state.now, text, failure: null } });
};

/** Of a long journal what still matters: what is in flight or owed back, and the newest of the rest. */
const recent = (operations: readonly Operation[]): readonly Operation[] => {
	const open = new Set(owed(operations));
	return operations.filter((one, index) => index >= operations.length - KEPT || isLive(one) || open.has(one));
};

const withOperation = (operations: readonly Operation[], changed: Operation): readonly Operation[] => {
	const at = operations.findIndex((one) => one.id === changed.id);
	return at < 0 ? [...operations, changed] : operations.with(at, changed);
};
