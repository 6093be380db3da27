import type { Failure } from '../domain/failure.ts';
import type { HostSettings, Link } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import type { Plan } from '../domain/plan.ts';
import type { Question } from '../domain/question.ts';
import type { Service } from '../domain/service.ts';
import type { Statement } from '../domain/statement.ts';
import type { Operation } from '../operations/operation.ts';

/** Everything that is known now. Plain data, changed only by `reduce`. */
export type State = {
	/** The console's steady clock, ms since the epoch; ages are told from it. */
	readonly now: number;
	/** The time of day, for the header. */
	readonly wall: number;
	/** Shown in the header, such as `demo pair`. */
	readonly title: string;
	/** Why nothing can be stopped or started; null when it can. */
	readonly readOnly: string | null;
	readonly hosts: readonly HostState[];
	readonly operations: readonly Operation[];
	/** What the sessions wait for, the oldest first. */
	readonly questions: readonly Question[];
	readonly ui: UiState;
};

export type HostState = {
	readonly settings: HostSettings;
	readonly link: Link;
	/** The last observation, also of a host that does not answer any more. */
	readonly seen: Observation | null;
	readonly services: readonly Service[];
	readonly statement: Statement | null;
	/**
	 * Service ids in the order in which they got their letters: largest first at the first sight, later ones after them.
	 * A letter stays with its service as long as the console runs, so that the eye can hold on to it.
	 */
	readonly lettered: readonly string[];
	/** Newest last; null where there was no figure. */
	readonly history: { readonly gpu: readonly (number | null)[]; readonly cpu: readonly (number | null)[] };
};

/** `deck` is home; the others are read over the whole screen. */
export type View = 'deck' | 'details' | 'sources' | 'help';

export type UiState = {
	readonly selected: string | null;
	/** A person has chosen: the selection stays where it is. Before that it is the first row, while hosts are still being read. */
	readonly chosen: boolean;
	readonly view: View;
	/** First line shown of the view that can be longer than the screen. */
	readonly scroll: number;
	readonly dialog: Dialog | null;
	/** The question that is open for an answer, also when nobody waits for it any more: it closes by the person's key only. */
	readonly answering: Question | null;
	readonly notice: Notice | null;
};

export type Dialog = {
	readonly plan: Plan;
	/** 0 is Cancel, always first and always where the cursor is. */
	readonly focus: number;
	/** Set when the plan was made again at confirmation and came out different. */
	readonly changed: boolean;
};

export type Notice = {
	readonly at: number;
	readonly failure: Failure | null;
	readonly text: string;
};

export const HISTORY = 60;

export const initialState = (
	hosts: readonly HostSettings[],
	title: string,
	now: number,
	readOnly: string | null = null,
): State => ({
	now,
	wall: now,
	title,
	readOnly,
	hosts: hosts.map((settings) => ({
		settings,
		link: { state: 'connecting', since: now, attempt: 1, to: settings.name },
		seen: null,
		services: [],
		statement: null,
		lettered: [],
		history: { gpu: [], cpu: [] },
	})),
	operations: [],
	questions: [],
	ui: { selected: null, chosen: false, view: 'deck', scroll: 0, dialog: null, answering: null, notice: null },
});
