import { startUnit, stopUnit } from '../src/domain/commandLine.ts';
import { openHosts } from '../src/hosts/index.ts';
import { loadSettings } from '../src/main/files.ts';
import { attribute } from '../src/planning/attribution.ts';
import { closeStatement } from '../src/planning/ledger.ts';

const [config = '', seconds = '60', mode = 'look'] = process.argv.slice(2);
const loaded = loadSettings(config);
if (!loaded.ok || !loaded.value) throw new Error('no configuration');
const { settings } = loaded.value;

const count = { frames: 0, bad: 0, disagreements: 0, links: 0 };
const range = new Map<string, [number, number]>();
const hosts = openHosts(
	settings.hosts,
	{ sshConfig: settings.sshConfig, periodSeconds: settings.periodSeconds },
	{
		link: (host, link) => {
			if (link.state === 'up') return;
			count.links += 1;
			console.log(`${host} ${link.state} ${link.state === 'down' ? link.failure.cause : ''}`);
		},
		observed: (seen) => {
			const host = settings.hosts.find((one) => one.name === seen.host);
			if (!host) return;
			const statement = closeStatement(seen, attribute(seen, host));
			count.frames += 1;
			const sum = statement.rows.reduce((all, row) => all + row.bytes, 0);
			const whole = statement.rows.every((row) => Number.isInteger(row.bytes) && row.bytes >= 0);
			if (sum !== seen.memory.value.total || !whole) {
				count.bad += 1;
				console.log(`${seen.host} frame ${seen.sequence}: rows sum to ${sum}, MemTotal is ${seen.memory.value.total}`);
			}
			if (statement.disagreements.length > 0) count.disagreements += 1;
			const unexplained = statement.rows.find((row) => row.kind === 'unexplained')?.bytes ?? 0;
			const [least, most] = range.get(seen.host) ?? [unexplained, unexplained];
			range.set(seen.host, [Math.min(least, unexplained), Math.max(most, unexplained)]);
			if (mode === 'stir')
				stir(
					seen.host,
					seen.units?.value.find((unit) => unit.name === 'vllm-reranker.service')?.invocationId ?? '',
					seen.sequence,
				);
		},
	},
);

/** Stops and starts a service again and again, so that the frames are not all alike. */
const stir = (host: string, invocation: string, sequence: number): void => {
	if (invocation === '') return;
	if (sequence % 60 === 20)
		void hosts.exec(host, stopUnit('system', 1000, 'vllm-reranker.service', invocation).line, 10_000);
	if (sequence % 60 === 40) void hosts.exec(host, startUnit('system', 1000, 'vllm-reranker.service').line, 10_000);
};

await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
hosts.close();
const mib = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;
for (const [host, [least, most]] of range) console.log(`${host}: unexplained from ${mib(least)} to ${mib(most)}`);
console.log(
	`${count.frames} frames in ${seconds} s, ${count.bad} did not close, ${count.disagreements} with sources that disagree`,
);
process.exit(count.frames > 0 && count.bad === 0 ? 0 : 1);
