import { size } from '../../domain/bytes.ts';
import { guardText, predictionText } from '../../planning/eviction.ts';
import type { State } from '../state.ts';

/** A confirmation as the screen shows it. Rows with `must` are never left out, however small the screen. */
export type DialogView = {
	readonly title: string;
	readonly rows: readonly {
		readonly label: string;
		readonly text: string;
		readonly token: string;
		readonly must: boolean;
	}[];
	readonly buttons: readonly string[];
	readonly focus: number;
};

export const dialogView = (state: State): DialogView | null => {
	const { dialog } = state.ui;
	if (!dialog) return null;
	const { plan, changed } = dialog;
	const now =
		state.hosts.find((host) => host.settings.name === plan.host)?.statement?.availableBytes ?? plan.availableBefore;
	const row = (label: string, text: string, token = 'text', must = false) => ({ label, text, token, must });
	const [command = '', ...fallbacks] = plan.command.shown;
	const commands = [
		row('command', command, 'code', true),
		...fallbacks.map((text) => row('or, if refused', text, 'code', true)),
	];
	const notice = changed
		? [row('look again', 'Things have changed since you read the plan: this is the plan now.', 'mark.warn', true)]
		: [];
	const consequences = plan.consequences.map((text, index) => row(index === 0 ? 'mind' : '', text, 'text'));
	if (plan.kind === 'evict') {
		const after = now + plan.predicted.totalBytes;
		return {
			title: `Evict ${plan.name} on ${plan.host}?`,
			rows: [
				...notice,
				row('frees', predictionText(plan.predicted), 'text.strong', true),
				row('available', `${size(now)} now, then about ${size(after)} on ${plan.host}`),
				...commands,
				row('guard', guardText(plan.target), 'text.dim'),
				...consequences,
				row('proof', 'inactive, processes gone, and the memory measured back', 'text.dim'),
				row('undo', 'starts it again and checks that it holds its memory', 'text.dim'),
			],
			buttons: ['Cancel', `Evict ${plan.name}`],
			focus: dialog.focus,
		};
	}
	return {
		title: `Start ${plan.name} again on ${plan.host}?`,
		rows: [
			...notice,
			row('takes', predictionText(plan.expected), 'text.strong', true),
			row('available', `${size(now)} now, then about ${size(now - plan.expected.totalBytes)}`),
			...commands,
			...consequences,
			row('proof', 'active, and it holds the memory it held before', 'text.dim'),
		],
		buttons: ['Cancel', `Start ${plan.name}`],
		focus: dialog.focus,
	};
};
