import { gib } from '../../domain/bytes.ts';
import type { State } from '../state.ts';
import { hostViews, type Segment } from './host.ts';
import { ageText } from './names.ts';

/** Every figure of the statements with the rule it comes by and its age. */
export type SourcesView = readonly {
	readonly host: string;
	/** How the figures sum, and what else was read there. */
	readonly sum: string;
	readonly rows: readonly (Segment & { readonly age: string })[];
	readonly notes: readonly string[];
}[];

export const sourcesView = (state: State): SourcesView =>
	hostViews(state).map((view, index) => {
		const host = state.hosts[index];
		const { statement = null, seen = null } = host ?? {};
		const rows = (view.pool?.segments ?? []).filter((row) => row.bytes > 0 || row.kind === 'unexplained');
		const facts = [seen?.gpus, seen?.gpuProcesses, seen?.cgroups, seen?.units, seen?.containers].filter(
			(fact) => fact != null,
		);
		return {
			host: view.name,
			sum: statement
				? `${rows.length} rows sum to MemTotal, ${gib(statement.totalBytes)} GiB (${statement.totalBytes} bytes)`
				: 'not read yet',
			rows: rows.map((row) => ({ ...row, age: ageText(state.now - row.observedAt) })),
			notes: [
				...facts.map((fact) => `${fact.source}: read ${ageText(state.now - fact.observedAt)} ago`),
				...view.warnings.map((warning) => `! ${warning}`),
				...(seen?.failures ?? []).map((failure) => `${failure.cause}. ${failure.hint}`),
			],
		};
	});
