import { Box, render, Text } from 'ink';
import { Table } from 'ink-table';
import { gib } from '../domain/bytes.ts';
import { hostViews } from '../store/select/host.ts';
import { tableView } from '../store/select/table.ts';
import type { State } from '../store/state.ts';
import { sanitize } from './frame/width.ts';

/** `sparkdeck status` for people: the statement of each host, then the services, as inline tables. */
export const printStatus = async (state: State): Promise<void> => {
	const app = render(<Status state={state} />, { patchConsole: false });
	await app.waitUntilRenderFlush();
	app.unmount();
	await app.waitUntilExit();
};

function Status({ state }: { readonly state: State }) {
	const services = tableView(state).rows.map((row) => ({
		host: sanitize(row.host),
		service: sanitize(row.name),
		manager: row.manager,
		state: row.state,
		'GPU GiB': row.gpu,
		'host GiB': row.memory,
		keep: row.keep ? 'keep' : '',
	}));
	return (
		<Box flexDirection="column">
			{hostViews(state).map((host) => (
				<Box key={host.name} flexDirection="column">
					<Text>
						{`${host.link.mark} ${host.name} ${host.link.text}`.trimEnd()}
						{host.pool ? `: ${host.pool.used} of ${host.pool.total} GiB used, ${host.pool.available} available` : ''}
					</Text>
					{host.link.hint !== '' && <Text>{sanitize(`  ${host.link.hint}`)}</Text>}
					{host.pool && (
						<Table
							data={host.pool.segments
								.filter((one) => one.bytes > 0 || one.kind === 'unexplained')
								.map((one) => ({
									owner: sanitize(one.label),
									GiB: gib(one.bytes).padStart(6),
									source: sanitize(one.source),
								}))}
						/>
					)}
				</Box>
			))}
			{services.length > 0 && <Table data={services} />}
		</Box>
	);
}
