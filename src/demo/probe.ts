import { hello, ownProcesses, tick, walk } from './probeMessages.ts';
import type { Call, Program } from './program.ts';
import { containerJson, listed } from './programs/docker.ts';
import { appRows, appsHeader, gpuHeader, gpuRow } from './programs/nvidiaSmi.ts';
import { showText } from './programs/systemctl.ts';
import { endProc } from './worldProcs.ts';
import type { Change, Manager, SimHost } from './worldTypes.ts';

/**
 * The probe of src/hosts/probe/probe.py, played: the same messages with the same fields at the same times, from the simulated
 * world. A real one would need a real Python here and would tell of this machine. Whatever is not exactly that program,
 * started in exactly that way, is refused, so that a change over there can't pass unseen here.
 */
const FIRST_LINE =
	"# sparkdeck's probe: reads facts on a host and forwards them, one JSON object a line. It knows nothing of their meaning.";
const BOOTSTRAP = [
	'import os,sys',
	'n=int(sys.argv.pop(1))',
	'b=bytearray()',
	'[b.extend(os.read(0,n-len(b)) or sys.exit(1)) for _ in iter(lambda:len(b)<n,False)]',
	'exec(bytes(b))',
].join(';');

/** Times of the probe, in real seconds: `speed` is of the world, not of who looks at it. */
const QUIET = 8;
const WALK = 5;
const REFRESH = 30;
const HUNG = 15;
const CONTAINERS = 10;

const SHOW =
	'Id,Description,LoadState,ActiveState,SubState,Type,MainPID,ControlGroup,InvocationID,Job,Result,Restart,NRestarts,UnitFileState,TriggeredBy,RequiredBy,RequisiteOf,BoundBy,ConsistsOf,PropagatesStopTo,UpheldBy,ExecStart,TimeoutStopUSec,ActiveEnterTimestampMonotonic';
const GPU =
	'index,uuid,name,driver_version,pstate,utilization.gpu,temperature.gpu,power.draw,clocks.current.graphics,clocks.max.graphics,memory.total,memory.used,memory.free';
const APPS = 'pid,used_memory,gpu_uuid,process_name';

const wanted = new Set(SHOW.split(','));

export const python3: Program = async (call) => {
	const [flags, bootstrap, length = '', period = '', nonce = '', ...more] = call.args;
	const shaped = flags === '-uc' && bootstrap === BOOTSTRAP && more.length === 0;
	if (!shaped || !/^[1-9]\d{0,6}$/.test(length) || !(Number(period) > 0) || !/^[\w-]+$/.test(nonce)) {
		call.err("python3: this simulated host runs nothing but sparkdeck's probe\n");
		return 1;
	}
	let read = Buffer.alloc(0);
	while (read.length < Number(length)) {
		const more = await call.input.next();
		if (more === null) return 1;
		read = Buffer.concat([read, more]);
	}
	const program = read.subarray(0, Number(length)).toString();
	if (program.split('\n')[0] !== FIRST_LINE) {
		call.err("python3: this simulated host runs nothing but sparkdeck's probe, and this is another program\n");
		return 1;
	}
	return play(call, Number(period), nonce, read.subarray(Number(length)).toString());
};

type Standing = { next: number; heard: number; wait: number; header: boolean };

const play = (call: Call, period: number, nonce: string, typed: string): Promise<number> =>
	new Promise((resolve) => {
		const { machine } = call;
		const own = machine.act((host) => ownProcesses(host, call.session));
		const start = machine.see().now;
		const standing = (): Standing => ({ next: start, heard: start, wait: 1, header: false });
		const state = {
			sequence: 0,
			heartbeat: start,
			nextTick: start,
			nextWalk: start,
			walked: start,
			containers: { next: start, asked: start - 10 },
			units: { system: follow(start), user: follow(start) },
			query: standing(),
			apps: standing(),
			held: new Map<number, number>(),
		};
		let timer: NodeJS.Timeout | undefined;
		let done = false;

		const send = (kind: string, fields: object): void => call.out(`${JSON.stringify({ ...fields, k: kind })}\n`);
		const end = (code: number): void => {
			if (done) return;
			done = true;
			clearTimeout(timer);
			machine.see().heard.delete(changed);
			call.signal.removeEventListener('abort', gone);
			machine.act((host) => {
				for (const pid of own) endProc(host, pid, 0.2);
			});
			resolve(code);
		};
		const gone = (): void => end(129);

		/** What starts or ends has processes and perhaps a container: look at both soon, but not in a storm. */
		const lookAgain = (now: number): void => {
			state.nextWalk = Math.min(state.nextWalk, Math.max(now + 0.2, state.walked + 1));
			state.containers.next = Math.min(state.containers.next, Math.max(now + 0.2, state.containers.asked + 1));
		};
		const changed = (change: Change): void => {
			if ('scope' in change) lookAgain(machine.see().now);
			else state.units[change.manager].dirty.add(change.unit);
			wake(30);
		};
		const show = (host: SimHost, manager: Manager): void => {
			const units = state.units[manager];
			const { now } = host;
			const full = now >= units.full;
			if (!full && (units.dirty.size === 0 || now - units.last <= 0.5)) return;
			const names = full ? ['*.service', ...[...units.watched].sort()] : [...units.dirty].sort().slice(0, 50);
			if (full) {
				units.full = now + REFRESH;
				units.dirty.clear();
			}
			for (const name of full ? [] : names) {
				units.watched.add(name);
				units.dirty.delete(name);
			}
			units.last = now;
			send('units', { mgr: manager, full, at: now, text: showText(host, manager, names, wanted) });
			if (!full) lookAgain(now);
		};
		const stand = (host: SimHost, what: 'query' | 'apps', header: string, rows: () => string[]): void => {
			const loop = state[what];
			const { now } = host;
			if (host.faults.gpuHung && loop.next <= now) {
				if (now - loop.heard <= HUNG) return;
				// Killed after its silence; the next one is tried after a pause that doubles.
				send('gpu', { what, error: `no answer for ${HUNG} s`, code: -9 });
				Object.assign(loop, {
					next: now + loop.wait,
					heard: now + loop.wait,
					wait: Math.min(loop.wait * 2, 60),
					header: false,
				});
				return;
			}
			if (now < loop.next) return;
			const lines = [...(loop.header ? [] : [header]), ...rows()];
			// In step with the second, but never a storm after a pause.
			Object.assign(loop, { next: Math.max(loop.next + 1, now), heard: now, wait: 1, header: true });
			if (lines.length > 0) send('gpu', { what, at: now, lines });
		};
		const ps = (host: SimHost): void => {
			const { now } = host;
			if (now < state.containers.next) return;
			state.containers = { next: now + CONTAINERS, asked: now };
			const text = listed(host, true)
				.map((one) => `${containerJson(host, one, true)}\n`)
				.join('');
			send('containers', { tool: 'docker', at: now, code: 0, text, error: '' });
		};
		const step = (): void => {
			if (done) return;
			const host = machine.see();
			const { now } = host;
			if (host.faults.frozen) {
				wake(500);
				return;
			}
			if (now - state.heartbeat > QUIET) {
				end(142);
				return;
			}
			show(host, 'system');
			show(host, 'user');
			ps(host);
			stand(host, 'query', gpuHeader(GPU.split(',')), () => [gpuRow(host, GPU.split(','))]);
			stand(host, 'apps', appsHeader(APPS.split(',')), () => {
				const rows = appRows(host, APPS.split(','));
				for (const row of rows) state.held.set(Number.parseInt(row, 10), now);
				return rows;
			});
			if (now >= state.nextWalk) {
				state.walked = now;
				state.nextWalk = now + WALK;
				send('walk', { at: now, ...walk(host) });
			}
			if (now >= state.nextTick) {
				send('tick', tick(host, state.sequence, state.held));
				state.sequence += 1;
				// Quick at first, as the real one.
				state.nextTick = Math.max(state.nextTick + (state.sequence > 6 ? period : Math.min(period, 0.25)), now);
			}
			const dirty = state.units.system.dirty.size + state.units.user.dirty.size > 0;
			// A loop that hangs is looked at with the rest; nothing of it is due.
			const rows = host.faults.gpuHung ? [] : [state.query.next, state.apps.next];
			const due = Math.min(state.nextTick, state.nextWalk, state.containers.next, ...rows);
			wake(Math.max(0, Math.min(due - now, dirty ? 0.25 : 1)) * 1000);
		};
		let wakeAt = Number.POSITIVE_INFINITY;
		const wake = (ms: number): void => {
			const at = performance.now() + ms;
			if (done || at >= wakeAt) return;
			wakeAt = at;
			clearTimeout(timer);
			timer = setTimeout(
				() => {
					wakeAt = Number.POSITIVE_INFINITY;
					step();
				},
				Math.max(5, ms),
			);
		};
		const typedIn = (text: string): void => {
			state.heartbeat = machine.see().now;
			for (const line of text.split('\n')) {
				const words = line.split(' ');
				if (words[0] === 'ping' && words.length === 2) send('pong', { n: words[1] });
				if (words.length !== 3 || words[0] !== 'watch' || words[2]!.startsWith('-')) continue;
				if (words[1] !== 'system' && words[1] !== 'user') continue;
				state.units[words[1]].watched.add(words[2]!);
				state.units[words[1]].dirty.add(words[2]!);
				wake(30);
			}
		};
		const listen = async (): Promise<void> => {
			for (;;) {
				const more = await call.input.next();
				if (done) return;
				if (more === null) {
					end(0);
					return;
				}
				typedIn(more.toString());
			}
		};

		call.out(`sparkdeck-probe 1 ${nonce}\n`);
		send('hello', hello(machine, own[0]!));
		machine.see().heard.add(changed);
		call.signal.addEventListener('abort', gone);
		if (typed !== '') typedIn(typed);
		step();
		void listen();
	});

const follow = (now: number) => ({ full: now, last: now - 10, dirty: new Set<string>(), watched: new Set<string>() });
