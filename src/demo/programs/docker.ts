import { readOptions } from '../options.ts';
import type { Call, Program } from '../program.ts';
import { startContainer, stopContainer } from '../world.ts';
import type { Container, SimHost } from '../worldTypes.ts';
import { roughly, wallAt } from './time.ts';

export const docker: Program = async (call) => {
	const [verb = '', ...args] = call.args;
	switch (verb) {
		case 'ps':
			return ps(call, args);
		case 'stop':
		case 'start':
			return change(call, verb, args);
		case 'inspect':
			return inspect(call, args);
		default:
			call.err(`docker: '${verb}' is not a docker command.\nSee 'docker --help'\n`);
			return 1;
	}
};

const usage = (call: Call, verb: string, fault: string): number => {
	const said = fault
		.replace(/^unrecognized option '(.*)'$/, 'unknown flag: $1')
		.replace(/^invalid option -- '(.)'$/, "unknown shorthand flag: '$1' in -$1");
	call.err(`${said}\nSee 'docker ${verb} --help'.\n`);
	return 125;
};

/** `docker ps --format json`, one object for each container, the newest first. */
export const containerJson = (host: SimHost, container: Container, full: boolean): string => {
	const { spec, id, running } = container;
	const created = `${wallAt(host, container.createdAt).toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`;
	const command = full || spec.command.length <= 20 ? spec.command : `${spec.command.slice(0, 19)}…`;
	return JSON.stringify({
		Command: `"${command}"`,
		CreatedAt: created,
		ID: full ? id : id.slice(0, 12),
		Image: spec.image,
		Labels: '',
		LocalVolumes: '0',
		Mounts: '',
		Names: spec.name,
		Networks: 'host',
		Ports: '',
		RunningFor: `${roughly(host.now - container.createdAt)} ago`,
		Size: '0B',
		State: running ? 'running' : 'exited',
		Status: statusOf(host, container),
	});
};

const statusOf = (host: SimHost, { running, startedAt, endedAt, exitCode }: Container): string =>
	running ? `Up ${roughly(host.now - startedAt)}` : `Exited (${exitCode}) ${roughly(host.now - endedAt)} ago`;

export const listed = (host: SimHost, all: boolean): Container[] =>
	[...host.containers.values()].filter((one) => all || one.running).sort((a, b) => b.createdAt - a.createdAt);

const ps = (call: Call, args: readonly string[]): number => {
	const read = readOptions(args, {
		'-a': ['all', false],
		'--all': ['all', false],
		'--no-trunc': ['full', false],
		'-q': ['quiet', false],
		'--quiet': ['quiet', false],
		'--format': ['format', true],
	});
	if (!read.ok) return usage(call, 'ps', read.fault);
	const { options } = read;
	if (options.rest.length > 0) {
		call.err(`docker: 'docker ps' accepts no arguments\n\nUsage:  docker ps [OPTIONS]\n`);
		return 1;
	}
	const host = call.machine.see();
	const full = options.has('full');
	const containers = listed(host, options.has('all'));
	const format = options.value('format');
	if (format !== undefined && format !== 'json' && format !== '{{json .}}') {
		call.err(`template parsing error: this simulated docker only knows json: ${format}\n`);
		return 64;
	}
	if (options.has('quiet')) call.out(containers.map(({ id }) => `${full ? id : id.slice(0, 12)}\n`).join(''));
	else if (format !== undefined) call.out(containers.map((one) => `${containerJson(host, one, full)}\n`).join(''));
	else {
		const rows = containers.map((one) => [
			full ? one.id : one.id.slice(0, 12),
			one.spec.image,
			`"${one.spec.command.slice(0, 19)}…"`,
			`${roughly(host.now - one.createdAt)} ago`,
			statusOf(host, one),
			'',
			one.spec.name,
		]);
		rows.unshift(['CONTAINER ID', 'IMAGE', 'COMMAND', 'CREATED', 'STATUS', 'PORTS', 'NAMES']);
		const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
		call.out(
			rows.map((row) => `${row.map((cell, at) => (at < 6 ? cell.padEnd(widths[at]! + 3) : cell)).join('')}\n`).join(''),
		);
	}
	return 0;
};

const find = (host: SimHost, name: string): Container | undefined =>
	[...host.containers.values()].find((one) => one.spec.name === name || (name.length >= 3 && one.id.startsWith(name)));

const change = async (call: Call, verb: 'start' | 'stop', args: readonly string[]): Promise<number> => {
	const read = readOptions(args, verb === 'stop' ? { '-t': ['time', true], '--time': ['time', true] } : {});
	if (!read.ok) return usage(call, verb, read.fault);
	const names = read.options.rest;
	if (names.length === 0) {
		call.err(
			`docker: 'docker ${verb}' requires at least 1 argument\n\nUsage:  docker ${verb} [OPTIONS] CONTAINER [CONTAINER...]\n`,
		);
		return 1;
	}
	let code = 0;
	for (const name of names) {
		const container = find(call.machine.see(), name);
		if (!container) {
			call.err(`Error response from daemon: No such container: ${name}\n`);
			code = 1;
			continue;
		}
		if (verb === 'start') call.machine.act((host) => startContainer(host, container));
		else if (container.running) {
			call.machine.act((host) => stopContainer(host, container));
			if (!(await call.machine.until(() => !container.running, call.signal))) return 130;
		}
		call.out(`${name}\n`);
	}
	return code;
};

const inspect = (call: Call, args: readonly string[]): number => {
	const read = readOptions(args, { '-f': ['format', true], '--format': ['format', true] });
	if (!read.ok) return usage(call, 'inspect', read.fault);
	const [name] = read.options.rest;
	const format = read.options.value('format');
	if (name === undefined || format !== '{{.State.Running}}') {
		call.err("docker: this simulated docker only knows: docker inspect -f '{{.State.Running}}' CONTAINER\n");
		return 1;
	}
	const container = find(call.machine.see(), name);
	if (!container) {
		call.out('\n');
		call.err(`Error: No such object: ${name}\n`);
		return 1;
	}
	call.out(`${container.running}\n`);
	return 0;
};
