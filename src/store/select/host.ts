import { GiB, gib, gibCell, size } from '../../domain/bytes.ts';
import { STALE_AFTER } from '../../domain/fact.ts';
import type { FailureKind } from '../../domain/failure.ts';
import type { Gpu } from '../../domain/gpu.ts';
import { type Link, type Reach, SLOW_ROUND_TRIP } from '../../domain/host.ts';
import type { RowKind, StatementRow } from '../../domain/statement.ts';
import { isKept } from '../../planning/attribution.ts';
import type { HostState, State } from '../state.ts';
import { ageText, letterOf, shortService } from './names.ts';

/** A host as the screen shows it: words, figures and tokens, nothing left to decide. */
export type HostView = {
	readonly name: string;
	readonly role: string;
	readonly link: LinkView;
	/** True when the figures are old: they are shown, and shown as old. */
	readonly old: boolean;
	readonly pool: PoolView | null;
	readonly gpus: readonly MeterView[];
	readonly cpu: MeterView | null;
	/** What to look at: contradictions and parts that could not be read. */
	readonly warnings: readonly string[];
};

export type LinkView = { readonly mark: string; readonly token: string; readonly text: string; readonly hint: string };

export type PoolView = {
	readonly used: string;
	readonly total: string;
	readonly available: string;
	readonly availableToken: string;
	readonly segments: readonly Segment[];
};

export type Segment = {
	readonly owner: string;
	readonly kind: RowKind;
	readonly letter: string;
	readonly label: string;
	readonly bytes: number;
	readonly figure: string;
	readonly token: string;
	readonly keep: boolean;
	readonly source: string;
	readonly observedAt: number;
};

export type MeterView = {
	readonly label: string;
	readonly percent: string;
	/** 0 to 100, newest last; null where there was no figure. */
	readonly history: readonly (number | null)[];
	readonly parts: readonly { readonly text: string; readonly token: string }[];
};

/** Silence of nvidia-smi (ms) after which its figures count as old: five of its rounds. */
export const GPU_SILENT = STALE_AFTER + 2000;

export const hostView = (host: HostState, now: number): HostView => {
	const { settings, link, seen, statement } = host;
	const old = link.state !== 'up';
	const warnings: string[] = [];
	for (const { what, claimedBytes, roomBytes } of statement?.disagreements ?? []) {
		warnings.push(`sources disagree: ${what} ${size(claimedBytes)}, but only ${size(roomBytes)} is in use for it`);
	}
	const gpuAge = seen?.gpus ? now - seen.gpus.observedAt : 0;
	if (!old && gpuAge > GPU_SILENT)
		warnings.push(`nvidia-smi has not answered for ${ageText(gpuAge)}; its figures are that old`);
	for (const failure of seen?.failures ?? []) warnings.push(failure.cause);
	return {
		name: settings.name,
		role: settings.role ?? '',
		link: linkView(link, settings.name, now),
		old,
		pool: statement && {
			used: gib(statement.totalBytes - statement.availableBytes),
			total: gib(statement.totalBytes),
			available: gib(statement.availableBytes),
			availableToken: pressToken(statement.availableBytes, statement.totalBytes),
			segments: segments(statement.rows, host),
		},
		gpus: (seen?.gpus?.value ?? []).map((gpu) => gpuMeter(gpu, host)),
		cpu: seen && cpuMeter(host),
		warnings,
	};
};

export const hostViews = (state: State): readonly HostView[] => state.hosts.map((host) => hostView(host, state.now));

export const linkView = (link: Link, name: string, now: number): LinkView => {
	switch (link.state) {
		case 'up': {
			const { roundTripMs, via, carrier } = link;
			const slow = roundTripMs !== null && roundTripMs >= SLOW_ROUND_TRIP;
			const words = [
				...(slow ? ['slow'] : []),
				...(roundTripMs === null ? [] : [`${roundTripMs.toFixed(slow ? 0 : 1)} ms`]),
				...(via === null ? [] : [`via ${via}`]),
				...(carrier.transport === 'openssh' ? ['by ssh'] : []),
			];
			return { mark: slow ? '◕' : '●', token: slow ? 'state.stale' : 'state.up', text: words.join(' '), hint: '' };
		}
		case 'stale': {
			const { word, hint } = REACHED[link.reach ?? 'unknown'];
			const age = ageText(now - link.lastFrameAt);
			return { mark: '◐', token: 'state.stale', text: `${word} ${age}`, hint: hint.replace('%h', name) };
		}
		case 'connecting': {
			const to = link.to === name ? '' : ` to ${link.to}`;
			const text = `connecting${to}${link.attempt > 1 ? `, try ${link.attempt}` : ''}`;
			return { mark: '◌', token: 'state.connecting', text, hint: '' };
		}
		case 'down': {
			const word = DOWN[link.failure.kind] ?? 'down';
			const wait = link.nextTryAt === null ? '' : `, next try in ${ageText(link.nextTryAt - now)}`;
			const hint = `${link.failure.cause}. ${link.failure.hint}`;
			return { mark: '○', token: 'state.down', text: `${word}${wait}`, hint };
		}
	}
};

/** What a silent session is called, by what answers beside it, and what there is to know. */
const REACHED: Readonly<Record<Reach, { readonly word: string; readonly hint: string }>> = {
	unknown: { word: 'stale', hint: '' },
	answers: { word: 'stale', hint: '%h: its sshd answers, the session does not: it is about to be opened again' },
	wedged: {
		word: 'wedged?',
		hint: '%h answers the network, but its sshd says nothing: the mark of a Spark out of memory. The session is kept: it may come back by itself; else power-cycle it',
	},
	refused: { word: 'stale', hint: '' },
	silent: { word: 'stale', hint: '' },
	jump: { word: 'jump silent', hint: '%h is behind a host that does not answer: nothing can be said of it' },
};

/** How a host is down, in two words; everything else is `down`. */
const DOWN: Readonly<Partial<Record<FailureKind, string>>> = {
	'jump-down': 'jump host down',
	unreachable: 'unreachable',
	refused: 'refused',
	auth: 'auth failed',
	'host-key': 'host key!',
	wedged: 'wedged?',
};

/** Letters of a host's services, by id: the same in its bar, its list and the table. */
export const lettersOf = (host: HostState): ReadonlyMap<string, string> =>
	new Map(host.lettered.map((owner, index) => [owner, letterOf(index)]));

const MARKS: Readonly<Record<Exclude<RowKind, 'service'>, string>> = {
	desktop: 'd',
	other: 'o',
	kernel: 'k',
	unexplained: '?',
	cache: '░',
	free: '·',
};

const COLOURS = 'abcdefgh';

/** Token of a service by its place among the host's: the same in the bar, the list and the table. */
export const ownerToken = (letter: string): string => {
	const index = letter.charCodeAt(0) - 65;
	return index >= 0 && index < 26 ? `pool.owner.${COLOURS[index % COLOURS.length]}` : 'pool.other';
};

const segments = (rows: readonly StatementRow[], host: HostState): Segment[] => {
	const letters = lettersOf(host);
	// Services in the order of their letters, so that they keep their place in the bar while their sizes change.
	const place = (row: StatementRow): number => (row.kind === 'service' ? host.lettered.indexOf(row.owner) : 1e6);
	return rows
		.toSorted((a, b) => place(a) - place(b))
		.map((row) => {
			const letter = row.kind === 'service' ? (letters.get(row.owner) ?? '+') : MARKS[row.kind];
			return {
				owner: row.owner,
				kind: row.kind,
				letter,
				label: row.kind === 'service' ? shortService(row.label) : row.label,
				bytes: row.bytes,
				figure: gibCell(row.bytes),
				observedAt: row.observedAt,
				token: row.kind === 'service' ? ownerToken(letter) : `pool.${row.kind}`,
				keep: row.kind === 'service' && isKept(host.settings.keep, row.label),
				source: row.source,
			};
		});
};

/** Available memory below which a host is pressed; operators here alarm at 12 and 8 GiB (facts: hardware, section 2). */
const pressToken = (available: number, total: number): string => {
	if (available < Math.min(8 * GiB, total / 10)) return 'value.hot';
	return available < Math.min(12 * GiB, total / 5) ? 'value.warm' : 'value.cold';
};

const HOT_C = 85;
const WARM_C = 75;

const gpuMeter = (gpu: Gpu, host: HostState): MeterView => {
	const { utilisationPercent, temperatureC, powerW, clockMhz } = gpu;
	const heat =
		temperatureC === null
			? 'text.dim'
			: temperatureC >= HOT_C
				? 'value.hot'
				: temperatureC >= WARM_C
					? 'value.warm'
					: 'text';
	return {
		label: host.seen && (host.seen.gpus?.value.length ?? 0) > 1 ? `gpu${gpu.index}` : 'gpu',
		percent: utilisationPercent === null ? 'n/a' : `${Math.round(utilisationPercent)} %`,
		history: gpu.index === host.seen?.gpus?.value[0]?.index ? host.history.gpu : [],
		parts: [
			{ text: temperatureC === null ? 'n/a °C' : `${Math.round(temperatureC)} °C`, token: heat },
			{ text: powerW === null ? 'n/a W' : `${powerW.toFixed(0)} W`, token: powerW === null ? 'text.dim' : 'text' },
			{
				text: clockMhz === null ? 'n/a GHz' : `${(clockMhz / 1000).toFixed(2)} GHz`,
				token: clockMhz === null ? 'text.dim' : 'text',
			},
		],
	};
};

const cpuMeter = (host: HostState): MeterView => {
	const { seen } = host;
	const { swapTotal, swapFree } = seen?.memory.value ?? { swapTotal: null, swapFree: null };
	const stall = seen?.pressure?.value.full10 ?? null;
	const parts = [];
	if (swapTotal !== null && swapFree !== null) {
		const used = swapTotal - swapFree;
		parts.push({
			text: `swap ${gib(used)} of ${Math.round(swapTotal / GiB)}`,
			token: used > GiB ? 'value.warm' : 'text',
		});
	}
	const token = stall === null ? 'text.dim' : stall >= 10 ? 'value.hot' : stall >= 1 ? 'value.warm' : 'text';
	parts.push({ text: stall === null ? 'stall n/a' : `stall ${stall.toFixed(1)} %`, token });
	return {
		label: 'cpu',
		percent: seen?.cpuBusy == null ? 'n/a' : `${Math.round(seen.cpuBusy * 100)} %`,
		history: host.history.cpu,
		parts,
	};
};
