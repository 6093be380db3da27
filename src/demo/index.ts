import type { Socket } from 'node:net';
import type { ServerChannel } from 'ssh2';
import { type Knobs, turnKnob } from './control.ts';
import { writeFolder } from './files.ts';
import { newKey } from './keys.ts';
import { createMachine, type Machine } from './machine.ts';
import { createHostServer, listen } from './server.ts';
import { createValve } from './valve.ts';
import { createWorld } from './world.ts';

export type Demo = {
	readonly dir: string;
	readonly configFile: string;
	readonly port: number;
	readonly hosts: readonly string[];
	/** Turns a knob of the simulation, such as `freeze spark-5be3`; returns what came of it. */
	readonly control: (line: string) => string;
	readonly stop: () => Promise<void>;
};

export type DemoOptions = {
	/** Where keys and configuration are written; made if it is not there. */
	readonly dir: string;
	/** How many times faster than in life things happen; clocks run as ever. */
	readonly speed?: number;
	/** Wall clock in ms. */
	readonly now?: () => number;
	/** Of pids, ids and small movements; without it every run has its own. */
	readonly seed?: number;
};

/** Two simulated Sparks behind a real SSH server of this process: one on a loopback port, the other only through it. */
export const startDemo = async ({ dir, speed = 1, now = Date.now, seed }: DemoOptions): Promise<Demo> => {
	if (!(speed > 0)) throw new RangeError(`speed must be above 0, not ${speed}`);
	const wallMs = now();
	const machines = createWorld({ speed, wallMs, seed: seed ?? wallMs | 0 }).map((host) => createMachine(host, now));
	const [head, secondary] = machines as [Machine, Machine];
	const client = newKey('sparkdeck demo');
	const hostKeys = { [head.name]: newKey(head.name), [secondary.name]: newKey(secondary.name) };
	const valves = { [head.name]: createValve(), [secondary.name]: createValve() };

	const far = createHostServer({
		machine: secondary,
		hostKey: hostKeys[secondary.name]!.private,
		allowed: client.public,
		forwards: new Map(),
		far: new Map(),
	});
	const way = `${secondary.name}:22`;
	const near = createHostServer({
		machine: head,
		hostKey: hostKeys[head.name]!.private,
		allowed: client.public,
		// ssh2 asks of a socket only what every duplex stream can do.
		forwards: new Map([
			[way, (channel: ServerChannel) => far.accept(valves[secondary.name]!.through(channel) as Socket)],
		]),
		far: new Map([[way, valves[secondary.name]!]]),
	});
	const port = await listen((socket) => near.accept(valves[head.name]!.through(socket) as Socket));
	const files = writeFolder(dir, port.port, { client, hosts: hostKeys });

	const knobs: Knobs = new Map(
		machines.map((machine) => [machine.name, { machine, valve: valves[machine.name]!, cut: false }]),
	);
	let stopped: Promise<void> | null = null;
	return {
		...files,
		port: port.port,
		hosts: machines.map((machine) => machine.name),
		control: (line) => turnKnob(knobs, line),
		stop: () => {
			stopped ??= (async () => {
				valves[secondary.name]!.drop();
				valves[head.name]!.drop();
				await port.close();
				for (const machine of machines) machine.stop();
			})();
			return stopped;
		},
	};
};
