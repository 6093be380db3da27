import type { Plan } from '../domain/plan.ts';
import type { Event } from '../store/events.ts';
import type { State } from '../store/state.ts';

/** What a command asks for. Data: who carries it out is decided in main. */
export type Intent =
	| { readonly type: 'event'; readonly event: Event }
	| { readonly type: 'execute'; readonly plan: Plan }
	/** Answers what a session asked; null: not to be answered. Carried by nothing that is kept. */
	| { readonly type: 'answer'; readonly question: string; readonly answers: readonly string[] | null }
	| { readonly type: 'retry'; readonly host: string }
	| { readonly type: 'redraw' }
	| { readonly type: 'quit' };

/** Something a person can ask for; footer, help and keymap are made from these records. */
export type Command = {
	readonly id: string;
	/** One or two words, for the footer. */
	readonly title: string;
	/** One sentence, for help. */
	readonly doc: string;
	/** Where it acts: on the deck, in a dialog, or in both. */
	readonly context: 'main' | 'dialog' | 'any';
	/** Acts on hosts (after a confirmation). */
	readonly danger: boolean;
	/** Shown in the footer, in this order; absent: found in help. */
	readonly footer?: number;
	/** When it is worth a place there, beside being able to act. */
	readonly footerWhen?: (state: State) => boolean;
	/** Why it can't act now, as a sentence; null when it can. */
	readonly disabledReason: (state: State) => string | null;
	readonly run: (state: State) => readonly Intent[];
};

export const emit = (event: Event): readonly Intent[] => [{ type: 'event', event }];

export const always = (): null => null;
