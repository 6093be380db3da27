import { Box, renderToString, Text } from 'ink';
import { Table } from 'ink-table';
import { gibCell } from '../domain/bytes.ts';
import type { Failure } from '../domain/failure.ts';
import type { RowKind } from '../domain/statement.ts';
import { type HostView, hostViews, type Segment } from '../store/select/host.ts';
import { type TableView, tableView } from '../store/select/table.ts';
import type { State } from '../store/state.ts';
import { graphemes } from './frame/width.ts';

type Row = Readonly<Record<string, string>>;
type Sheet = { readonly rows: readonly Row[]; readonly columns: readonly string[] };

/**
 * `sparkdeck status` for people: the statement of each host, then the services, as inline tables. `room`: columns of the
 * terminal, or Infinity in a pipe, where nothing is left out. `failures`: why a host's part is not whole, by its name.
 */
export const statusText = (state: State, failures: ReadonlyMap<string, Failure>, room: number): string => {
	const blocks = hostViews(state).map((host) => ({
		lines: hostLines(host, failures.get(host.name) ?? null),
		sheet: host.pool && poolSheet(host.pool.segments, room),
	}));
	const services = serviceSheet(tableView(state), room);
	// Ink shrinks cells to make a table fit, and breaks them; it is never given less than all of them need.
	const columns = Math.max(
		Number.isFinite(room) ? room : Math.max(...blocks.flatMap(({ lines }) => lines.map((line) => line.length)), 1),
		...blocks.map(({ sheet }) => (sheet ? widthOf(sheet) : 0)),
		widthOf(services),
	);
	return renderToString(
		<Box flexDirection="column" rowGap={1}>
			{blocks.map(({ lines, sheet }) => (
				<Box key={lines[0]} flexDirection="column">
					<Text>{lines.join('\n')}</Text>
					{sheet && <SheetTable sheet={sheet} />}
				</Box>
			))}
			{services.rows.length > 0 && <SheetTable sheet={services} />}
		</Box>,
		{ columns },
	);
};

const SheetTable = ({ sheet: { rows, columns } }: { readonly sheet: Sheet }) => (
	<Table data={[...rows]} columns={columns.map((key) => ({ key, align: key.includes('GiB') ? 'right' : 'left' }))} />
);

const hostLines = (host: HostView, failure: Failure | null): string[] => {
	const pool = host.pool ? `: ${host.pool.used} of ${host.pool.total} GiB used, ${host.pool.available} available` : '';
	const told = failure ? [failure.cause, failure.hint] : [];
	return [
		`${`${host.link.mark} ${host.name} ${host.link.text}`.trimEnd()}${pool}`,
		...[...told, ...host.warnings].map((line) => `  ${line}`),
	].map(plain);
};

const poolSheet = (segments: readonly Segment[], room: number): Sheet =>
	fitted(
		{
			columns: ['owner', 'GiB', 'source'],
			rows: segments
				.filter((one) => one.bytes > 0 || one.kind === 'unexplained')
				.map((one) => ({ owner: plain(one.label), GiB: gibCell(one.bytes), source: shortSource(one) })),
		},
		['source'],
		'owner',
		room,
	);

const serviceSheet = ({ rows }: TableView, room: number): Sheet =>
	fitted(
		{
			columns: ['host', 'service', 'manager', 'state', 'GPU GiB', 'host GiB', 'keep'].filter(
				(key) => key !== 'keep' || rows.some((row) => row.keep),
			),
			rows: rows.map((row) => ({
				host: plain(row.host),
				service: plain(row.name),
				manager: row.manager,
				state: row.state,
				'GPU GiB': row.gpu,
				'host GiB': row.memory,
				keep: row.keep ? 'keep' : '',
			})),
		},
		['manager', 'keep', 'host GiB', 'state'],
		'service',
		room,
	);

/** A few words; `--json` and the console have the whole of it. */
const SOURCES: Readonly<Record<Exclude<RowKind, 'service'>, string>> = {
	desktop: 'processes by cgroup',
	other: 'meminfo, less the above',
	kernel: 'meminfo: kernel tables',
	unexplained: 'meminfo, less all above',
	cache: 'meminfo: comes back',
	free: 'meminfo: MemFree',
};

const shortSource = ({ kind, source }: Segment): string => {
	if (kind !== 'service') return SOURCES[kind];
	return source.includes('nvidia-smi') ? 'nvidia-smi and cgroup' : 'processes by cgroup';
};

/** Text that takes as many columns as it has code units, which is how ink-table counts. */
const plain = (text: string): string =>
	graphemes(text)
		.map((cluster) => (cluster.text.length === cluster.width ? cluster.text : '?'.repeat(cluster.width)))
		.join('');

const widest = (rows: readonly Row[], key: string): number =>
	Math.max(key.length, ...rows.map((row) => row[key]?.length ?? 0));

/** Columns of the terminal that ink-table takes: a blank at both sides of each cell, a line before each and at the end. */
const widthOf = ({ rows, columns }: Sheet): number => columns.reduce((sum, key) => sum + widest(rows, key) + 3, 1);

/** The sheet in so much room: the columns in `spare` go first, one after the other; then the names are cut. */
const fitted = (sheet: Sheet, spare: readonly string[], name: string, room: number): Sheet => {
	let { columns } = sheet;
	for (const key of spare) {
		if (widthOf({ ...sheet, columns }) <= room) break;
		columns = columns.filter((one) => one !== key);
	}
	const over = widthOf({ ...sheet, columns }) - room;
	if (over <= 0) return { ...sheet, columns };
	const most = Math.max(name.length, widest(sheet.rows, name) - over);
	const cut = (text: string): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
	return { columns, rows: sheet.rows.map((row) => ({ ...row, [name]: cut(row[name] ?? '') })) };
};
