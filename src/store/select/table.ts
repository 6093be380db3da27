import { gibCell } from '../../domain/bytes.ts';
import { isLive } from '../../operations/operation.ts';
import type { State } from '../state.ts';
import { GPU_SILENT, lettersOf, ownerToken } from './host.ts';
import { shortHosts, shortService } from './names.ts';
import { progressState } from './progress.ts';
import { rows } from './rows.ts';

export type TableView = {
	readonly rows: readonly RowView[];
	/** All services that the managers list, shown or not. */
	readonly total: number;
	readonly selected: number;
};

export type RowView = {
	readonly id: string;
	readonly letter: string;
	readonly letterToken: string;
	readonly host: string;
	readonly name: string;
	readonly manager: string;
	readonly state: string;
	readonly stateToken: string;
	readonly gpu: string;
	readonly memory: string;
	readonly keep: boolean;
	/** Figures are old. */
	readonly old: boolean;
	/** Only the GPU's are: nvidia-smi has not answered for a while. */
	readonly gpuOld: boolean;
};

const STATE_TOKENS: Readonly<Record<string, string>> = {
	running: 'text',
	exited: 'text.dim',
	starting: 'state.connecting',
	stopping: 'state.stale',
	stopped: 'text.dim',
	failed: 'mark.bad',
};

export const tableView = (state: State): TableView => {
	const short = shortHosts(state.hosts.map((host) => host.settings.name));
	const letters = new Map(state.hosts.flatMap((host) => [...lettersOf(host)]));
	const old = new Set(state.hosts.filter((host) => host.link.state !== 'up').map((host) => host.settings.name));
	const gpuOld = new Set(
		state.hosts
			.filter(({ seen }) => seen?.gpuProcesses && state.now - seen.gpuProcesses.observedAt > GPU_SILENT)
			.map((host) => host.settings.name),
	);
	const all = rows(state);
	const figure = (bytes: number | null): string => (bytes === null ? 'n/a' : bytes === 0 ? '–' : gibCell(bytes));
	return {
		total: state.hosts.reduce((sum, host) => sum + host.services.length, 0),
		selected: all.findIndex((service) => service.id === state.ui.selected),
		rows: all.map((service): RowView => {
			const operation = state.operations.findLast((one) => one.plan.service === service.id && isLive(one));
			const progress = operation ? progressState(operation, state.now) : null;
			const letter = letters.get(service.id) ?? ' ';
			return {
				id: service.id,
				letter,
				letterToken: ownerToken(letter),
				host: short.get(service.host) ?? service.host,
				name: shortService(service.name),
				manager: service.manager,
				state: progress ?? service.state,
				stateToken: progress ? 'state.connecting' : (STATE_TOKENS[service.state] ?? 'text'),
				gpu: (service.gpuAtLeast ? '≥' : '') + figure(service.gpuBytes),
				memory: figure(service.hostBytes),
				keep: service.keep,
				old: old.has(service.host),
				gpuOld: gpuOld.has(service.host),
			};
		}),
	};
};
