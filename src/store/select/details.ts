import type { State } from '../state.ts';
import { clockText } from './names.ts';
import { progressView } from './progress.ts';
import { selectedService } from './rows.ts';
import { type Paragraph, whyView } from './why.ts';

export type DetailsView = { readonly title: string; readonly paragraphs: readonly Paragraph[] };

/** Everything known of the selected service: the reasoning, then the facts behind it, then what was done with it. */
export const detailsView = (state: State): DetailsView => {
	const service = selectedService(state);
	if (!service) return { title: 'details', paragraphs: whyView(state).paragraphs };
	const host = state.hosts.find((one) => one.settings.name === service.host);
	const facts: [string, string][] = [];
	const { unit, container } = service;
	if (unit) {
		facts.push(
			['unit', `${unit.name} (${unit.manager} manager, ${unit.unitFileState || 'no unit file state'})`],
			[
				'state',
				`${unit.activeState} (${unit.subState}), result ${unit.result || '–'}, restarted ${unit.restarts} times`,
			],
			['invocation', unit.invocationId || '–'],
			['cgroup', unit.cgroup || '–'],
			['restart', unit.restart || '–'],
			['stop timeout', unit.stopTimeoutMs === null ? 'none' : `${Math.round(unit.stopTimeoutMs / 1000)} s`],
			['triggered by', unit.triggeredBy.join(', ') || 'nothing'],
			['stops with it', unit.stopsWith.join(', ') || 'nothing'],
			['starts', unit.execStart.map((words) => words.join(' ')).join(' ; ') || '–'],
		);
	}
	if (container) {
		facts.push([
			'container',
			`${container.name} ${container.id.slice(0, 12)} of ${container.image}, ${container.status}`,
		]);
	}
	for (const process of service.processes) {
		const gpu = host?.seen?.gpuProcesses?.value.find((one) => one.pid === process.pid);
		const gpuText = gpu?.bytes == null ? '' : `, GPU ${Math.round(gpu.bytes / 1024 ** 2)} MiB`;
		facts.push([
			'process',
			`${process.pid} ${process.name}, anonymous ${Math.round(process.anonBytes / 1024 ** 2)} MiB${gpuText}, ${process.cgroup}`,
		]);
	}
	const done = state.operations
		.filter((one) => one.plan.service === service.id)
		.slice(-20)
		.reverse();
	return {
		title: `${service.name} on ${service.host}`,
		paragraphs: [
			...whyView(state).paragraphs,
			{ text: '', token: 'text' },
			...facts.map(([label, text]) => ({ label: label.padEnd(14), text, token: 'text.dim' })),
			{ text: '', token: 'text' },
			...done.flatMap((operation) => {
				const { text, mark, token } = progressView(operation, state.now);
				const at = clockText(operation.times.intended);
				return [
					{ label: `${at}  `, text: `${mark}  ${text}`, token },
					{ label: ' '.repeat(10), text: operation.plan.command.shown.join('  or  '), token: 'text.dim' },
				];
			}),
		],
	};
};
