import { gib } from '../../domain/bytes.ts';
import type { HostView, MeterView, PoolView, Segment } from '../../store/select/host.ts';
import { frameBox, insideOf } from '../frame/box.ts';
import { type Line, line, middle, padStart, type Span, text, widthOf, wrap } from '../frame/line.ts';
import { columnsOf } from '../frame/width.ts';
import { poolBar, sparkline } from './bar.ts';

/** One host with its pool, its owners and its meters, in a frame of exactly `width` × `height`. */
export const hostPanel = (view: HostView, width: number, height: number, selected: string | null): Line[] => {
	const inside = insideOf(width);
	const room = height - 2;
	const title = line(text(view.name, 'title'), ...(view.role ? [text(` · ${view.role}`, 'text.dim')] : []));
	const right = line(text(view.link.mark, view.link.token), text(` ${view.link.text}`.trimEnd(), 'text.dim'));
	return frameBox(title, hostLines(view, inside, room, selected), width, height, { right });
};

const hostLines = (view: HostView, width: number, room: number, selected: string | null): Line[] => {
	const trouble = view.link.hint ? wrap([text(view.link.hint, view.link.token)], width) : [];
	if (!view.pool) return trouble.length > 0 ? trouble : [line(text('reading …', 'text.dim'))];
	const head = [poolLine(view.pool, width), line(...poolBar(view.pool.segments, width, selected))];
	const meters = [...view.gpus.map((gpu) => meterLine(gpu, width)), ...(view.cpu ? [meterLine(view.cpu, width)] : [])];
	const warnings = view.warnings.map((warning) => line(text('! ', 'mark.warn'), text(warning, 'mark.warn')));
	// The bar, the meters and what is free, comes back or is unexplained always stay; owners that find no room are folded.
	const said = [...trouble.slice(0, 3), ...warnings.slice(0, 2)];
	const spare = room - head.length - meters.length - 1;
	const owners = ownerLines(view.pool, width, Math.max(1, spare - said.length));
	const lines = [...head, ...owners, restLine(view.pool, width), ...meters, ...said];
	return view.old ? lines.map(dimmed) : lines;
};

/** Old figures stay, and look old. */
const dimmed = (of: Line): Line => ({
	...of,
	spans: of.spans.map((span) => ({ ...span, token: span.token?.startsWith('state.') ? span.token : 'text.dim' })),
});

/** `left` at the left, `right` at the right edge; the right one gives way where both do not fit. */
const spread = (left: readonly Span[], right: readonly Span[], width: number): Line => {
	const gap = width - widthOf({ spans: left }) - widthOf({ spans: right });
	return gap >= 2 ? { spans: [...left, text(' '.repeat(gap)), ...right] } : { spans: left };
};

const poolLine = (pool: PoolView, width: number): Line =>
	spread(
		[text('pool '), text(pool.used, 'text.strong'), text(` of ${pool.total} GiB used`)],
		[text(pool.available, pool.availableToken), text(' GiB available')],
		width,
	);

const KEEP: Span = text(' ⚑ keep', 'mark.keep');

/** Owners in columns, in the order of their letters; what finds no room in `most` lines is folded into one entry. */
const ownerLines = (pool: PoolView, width: number, most: number): Line[] => {
	const all = pool.segments.filter((one) => !['cache', 'free', 'unexplained'].includes(one.kind) && one.bytes > 0);
	const columns = columnsOfOwners(width);
	const room = most * columns;
	const owners = all.length <= room ? all : [...all.slice(0, room - 1), folded(all.slice(room - 1))];
	const each = Math.floor((width + 2) / columns) - 2;
	const lines: Line[] = [];
	for (let at = 0; at < owners.length; at += columns) {
		const cells = owners.slice(at, at + columns).map((owner) => ownerCell(owner, each));
		lines.push({ spans: cells.flatMap((cell, index) => (index === 0 ? cell : [text('  '), ...cell])) });
	}
	return lines;
};

/** How many owners stand in one line. */
export const columnsOfOwners = (inside: number): number => Math.max(1, Math.floor(inside / 27));

const folded = (owners: readonly Segment[]): Segment => {
	const bytes = owners.reduce((sum, one) => sum + one.bytes, 0);
	return {
		...owners[0]!,
		letter: '+',
		label: `${owners.length} more`,
		bytes,
		figure: gib(bytes),
		token: 'pool.other',
		keep: false,
	};
};

const ownerCell = (owner: Segment, width: number): Span[] => {
	const keep = owner.keep ? [KEEP] : [];
	const nameRoom = width - 2 - 7 - (owner.keep ? columnsOf(KEEP.text) : 0);
	const name = middle(owner.label, Math.max(4, nameRoom));
	const spans = [text(`${owner.letter} `, owner.token), text(name), ...keep];
	return [...spans, text(padStart(owner.figure, Math.max(0, width - widthOf({ spans }))))];
};

const restLine = (pool: PoolView, width: number): Line => {
	const of = (kind: string): Segment | undefined => pool.segments.find((one) => one.kind === kind);
	const [free, cache, unexplained] = [of('free'), of('cache'), of('unexplained')];
	const part = (segment: Segment | undefined, name: string): Span[] =>
		segment ? [text(`${segment.letter} `, segment.token), text(`${name} `), text(segment.figure)] : [];
	const gap = text('  ');
	const wide = [
		...part(cache, 'cache, comes back'),
		gap,
		...part(free, 'free'),
		gap,
		...part(unexplained, 'unexplained'),
	];
	const narrow = [...part(cache, 'cache'), gap, ...part(free, 'free'), gap, ...part(unexplained, 'unexpl.')];
	return { spans: widthOf({ spans: wide }) <= width ? wide : narrow };
};

const meterLine = (meter: MeterView, width: number): Line => {
	const head = [text(`${meter.label.padEnd(4)}${meter.percent.padStart(6)} `)];
	const parts = meter.parts.flatMap((part) => [text('   '), text(part.text, part.token)]);
	const room = width - widthOf({ spans: head }) - widthOf({ spans: parts });
	const chart = Math.min(60, room);
	return { spans: [...head, ...(chart >= 4 ? [text(sparkline(meter.history, chart), 'spark')] : []), ...parts] };
};

/** A host in two lines, for screens without room for panels. */
export const hostSummary = (view: HostView, width: number, selected: string | null): Line[] => {
	const head = [text(`${view.link.mark} `, view.link.token), text(view.name, 'title')];
	if (!view.pool) {
		const said = view.link.hint || view.link.text;
		return [{ spans: [...head, text(` ${said}`, 'text.dim')] }, line()];
	}
	const gpu = view.gpus[0];
	const meter = gpu
		? [text('  gpu '), text(gpu.percent), text(` ${gpu.parts[0]?.text ?? ''}`, gpu.parts[0]?.token)]
		: [];
	const state = view.old ? [text(` ${view.link.text}`, view.link.token)] : [];
	const room = width - 2;
	const available = [text(view.pool.available, view.pool.availableToken), text(' GiB avail.')];
	const used = [text(`${view.pool.used} of ${view.pool.total} used  `)];
	// Figures of the pool are the last to give way.
	const choices = [
		[
			[...head, ...state, ...meter],
			[...used, ...available],
		],
		[
			[...head, ...state],
			[...used, ...available],
		],
		[[...head, ...state], available],
	] as const;
	const columnsIn = (spans: readonly Span[]): number => widthOf({ spans });
	const [left, right] = choices.find(([a, b]) => columnsIn(a) + columnsIn(b) + 2 <= room) ?? [head, available];
	const first = spread(left, right, room);
	const lines = [first, line(...poolBar(view.pool.segments, room, selected))].map(
		(of): Line => ({ ...of, spans: [text(' '), ...of.spans] }),
	);
	return view.old ? lines.map(dimmed) : lines;
};
