import type { Failure } from '../../domain/failure.ts';
import { reasonsFor } from '../../planning/reasons.ts';
import type { State } from '../state.ts';
import { linkView } from './host.ts';
import { learnedFor, progressView } from './progress.ts';
import { owed, selectedService } from './rows.ts';

/** A sentence or more of one weight. */
export type Paragraph = {
	readonly text: string;
	readonly token: string;
	/** Stands before the text; lines after the first are indented by it. */
	readonly label?: string;
};

export type WhyView = { readonly title: string; readonly paragraphs: readonly Paragraph[] };

const TOKENS: Readonly<Record<string, string>> = {
	what: 'text',
	holds: 'text',
	frees: 'text.strong',
	after: 'text',
	comeback: 'text.dim',
	rights: 'text.dim',
	refusal: 'mark.keep',
};

/** The reasoning about what is selected; where nothing can be selected, what stands in the way. */
export const whyView = (state: State): WhyView => {
	const service = selectedService(state);
	const host = state.hosts.find((one) => one.settings.name === service?.host);
	if (!service || !host?.seen) return { title: '', paragraphs: waiting(state) };
	const paragraphs: Paragraph[] = [];
	if (host.link.state !== 'up') {
		const link = linkView(host.link, service.host, state.now);
		paragraphs.push({
			text: `${link.mark} ${service.host} ${link.text}: what follows is what it last said. ${link.hint}`,
			token: link.token,
		});
	}
	const operation = state.operations.findLast((one) => one.plan.service === service.id);
	if (operation) {
		const { text, mark, token, hint } = progressView(operation, state.now);
		paragraphs.push({ text: `${mark === '…' ? '' : `${mark}: `}${text}${hint ? `. ${hint}` : ''}`, token });
	}
	if (owed(state.operations).some((one) => one.plan.service === service.id)) {
		paragraphs.push({ text: 'It was stopped from here and is owed back: undo starts it again.', token: 'text' });
	}
	const learned = learnedFor(state.operations, service.id);
	for (const { topic, text } of reasonsFor(service, host.services, host.seen, learned, state.now)) {
		paragraphs.push({ text, token: TOKENS[topic] ?? 'text' });
	}
	return { title: service.name, paragraphs };
};

const waiting = (state: State): Paragraph[] => {
	const paragraphs: Paragraph[] = [];
	for (const host of state.hosts) {
		const { name } = host.settings;
		if (host.link.state === 'down')
			paragraphs.push({ text: `${name}: ${said(host.link.failure)}`, token: 'state.down' });
		else if (!host.seen)
			paragraphs.push({ text: `${name}: connecting, then reading what runs there.`, token: 'text.dim' });
	}
	if (paragraphs.length === 0)
		paragraphs.push({ text: 'No service holds memory worth a line on these hosts.', token: 'text.dim' });
	return paragraphs;
};

const said = (failure: Failure): string => `${failure.cause}. ${failure.hint}.`;
