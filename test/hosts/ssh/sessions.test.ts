import { describe, expect, test } from 'vitest';
import { withinSessions } from '../../../src/hosts/ssh/sessions.ts';
import type { ChannelEnd, ChannelEvents, OpenChannel } from '../../../src/hosts/ssh/transport.ts';

/** A host that allows `most` sessions, played: what is open, what was written to it, and its end. */
const host = (most: number) => {
	const open: {
		command: string;
		written: string;
		ended: boolean;
		on: ChannelEvents;
		done: (end: ChannelEnd) => void;
	}[] = [];
	const seen: string[] = [];
	const raw: OpenChannel = (command, on) => {
		seen.push(command);
		if (open.length >= most) {
			queueMicrotask(() => on.closed({ kind: 'refused', why: 'open failed', full: true }));
			return { write: () => {}, end: () => {}, close: () => {} };
		}
		const one = {
			command,
			written: '',
			ended: false,
			on,
			done: (end: ChannelEnd) => {
				open.splice(open.indexOf(one), 1);
				on.closed(end);
			},
		};
		open.push(one);
		return {
			write: (data) => {
				one.written += data;
			},
			end: () => {
				one.ended = true;
			},
			close: () => one.done({ kind: 'unknown' }),
		};
	};
	return { raw, open, seen };
};

const events = (): ChannelEvents & { ends: ChannelEnd[] } => {
	const ends: ChannelEnd[] = [];
	return { stdout: () => {}, stderr: () => {}, closed: (end) => ends.push(end), ends };
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('sessions of one connection', () => {
	test('the eleventh command waits until one has ended, with what was written to it', async () => {
		const { raw, open, seen } = host(10);
		const budget = withinSessions(raw);
		for (let at = 0; at < 10; at += 1) budget.open(`c${at}`, events());
		const last = budget.open('late', events());
		last.write('input');
		last.end();
		expect(seen).not.toContain('late');
		open[0]?.done({ kind: 'exited', code: 0 });
		await turn();
		expect(open.find((one) => one.command === 'late')).toMatchObject({ written: 'input', ended: true });
	});
	test('a smaller MaxSessions is learned from a refusal, and the refused command runs later', async () => {
		const { raw, open } = host(2);
		const budget = withinSessions(raw);
		const third = events();
		budget.open('probe', events());
		budget.open('second', events());
		budget.open('third', third).write('x');
		await turn();
		expect(budget.limit()).toBe(2);
		expect(third.ends).toEqual([]);
		open.find((one) => one.command === 'second')?.done({ kind: 'exited', code: 0 });
		await turn();
		expect(open.find((one) => one.command === 'third')?.written).toBe('x');
	});
	test('with one session nothing waits behind the probe: it is refused, and nothing was sent', async () => {
		const { raw } = host(1);
		const budget = withinSessions(raw);
		budget.open('probe', events());
		const first = events();
		budget.open('stop', first);
		await turn();
		const second = events();
		budget.open('stop again', second);
		expect(budget.limit()).toBe(1);
		expect([first.ends[0], second.ends[0]]).toMatchObject([{ kind: 'refused' }, { kind: 'refused' }]);
	});
	test('a refusal with nothing else open is not about the number of sessions', async () => {
		const { raw } = host(0);
		const budget = withinSessions(raw);
		const on = events();
		budget.open('probe', on);
		await turn();
		expect(on.ends).toMatchObject([{ kind: 'refused' }]);
		expect(budget.limit()).toBe(null);
	});
	test('what waits and is given up was not sent', () => {
		const { raw, seen } = host(10);
		const budget = withinSessions(raw);
		for (let at = 0; at < 10; at += 1) budget.open(`c${at}`, events());
		const on = events();
		budget.open('late', on).close();
		expect(on.ends).toMatchObject([{ kind: 'refused' }]);
		expect(seen).not.toContain('late');
	});
	test('a queue that grows without end is a fault, and refused', () => {
		const { raw } = host(10);
		const budget = withinSessions(raw);
		const all = Array.from({ length: 60 }, () => {
			const on = events();
			budget.open('c', on);
			return on;
		});
		expect(all.filter((on) => on.ends.length > 0)).toHaveLength(60 - 10 - 32);
	});
});
