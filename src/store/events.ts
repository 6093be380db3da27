import type { Failure } from '../domain/failure.ts';
import type { Link } from '../domain/host.ts';
import type { Observation } from '../domain/observation.ts';
import type { Plan } from '../domain/plan.ts';
import type { Question } from '../domain/question.ts';
import type { Operation } from '../operations/operation.ts';
import type { View } from './state.ts';

/** Everything that can change the state. Times are the console's clock in ms. */
export type Event =
	/** `now` is steady and tells ages; `wall` is what a clock on the wall shows. */
	| { readonly type: 'clock'; readonly now: number; readonly wall?: number }
	| { readonly type: 'link'; readonly host: string; readonly link: Link }
	| { readonly type: 'observed'; readonly observation: Observation }
	| { readonly type: 'operation'; readonly operation: Operation }
	/** Nothing can be stopped or started from now on. */
	| { readonly type: 'readOnly'; readonly reason: string }
	| { readonly type: 'journalRead'; readonly operations: readonly Operation[] }
	/** A host's session needs an answer of the person; what is answered never comes here. */
	| { readonly type: 'asked'; readonly question: Question }
	/** Nobody waits for the answer any more: it was given, or it came too late. */
	| { readonly type: 'unasked'; readonly id: string }
	| { readonly type: 'answering'; readonly id: string }
	| { readonly type: 'answeringClosed' }
	| { readonly type: 'select'; readonly service: string | null }
	| { readonly type: 'view'; readonly view: View }
	| { readonly type: 'scroll'; readonly by: number }
	| { readonly type: 'dialog'; readonly plan: Plan; readonly changed: boolean }
	| { readonly type: 'dialogFocus'; readonly by: number }
	| { readonly type: 'dialogClosed' }
	| { readonly type: 'notice'; readonly text: string; readonly failure: Failure | null };
