// Figures, not tests: start to first frame, CPU at 1 Hz with two demo hosts in another process, bytes to the terminal.
// Everything is measured in one run on one machine beside a bare `node -e 0`, because absolute times here are noisy.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pty from '@lydell/node-pty';

const PROGRAM = new URL('../dist/sparkdeck.mjs', import.meta.url).pathname;
const [COLUMNS, ROWS] = [120, 35];
const RUNS = Number(process.env.RUNS ?? 12);
const SECONDS = Number(process.env.SECONDS_ ?? 30);
const folder = mkdtempSync(join(tmpdir(), 'sparkdeck-bench-'));

const env = { ...process.env, COLORTERM: 'truecolor', XDG_STATE_HOME: folder };
delete env.CI;
delete env.NO_COLOR;
const open = (args) => pty.spawn(process.execPath, args, { name: 'xterm-256color', cols: COLUMNS, rows: ROWS, env });

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** A program that has not shown its text by then (ms) never will: the run ends with what it did show. */
const PATIENCE = 20_000;

/** Milliseconds from spawn until the terminal was sent a text, or until the end of the program. */
const timeUntil = (args, text) =>
	new Promise((resolve, reject) => {
		const start = performance.now();
		const child = open(args);
		let seen = '';
		let answer = null;
		const timer = setTimeout(() => {
			process.kill(child.pid, 'SIGKILL');
			reject(
				new Error(`no ${JSON.stringify(text)} within ${PATIENCE / 1000} s; last: ${JSON.stringify(seen.slice(-400))}`),
			);
		}, PATIENCE);
		child.onData((data) => {
			seen += data;
			if (answer === null && text !== null && seen.includes(text)) {
				answer = performance.now() - start;
				process.kill(child.pid, 'SIGKILL');
			}
		});
		child.onExit(() => {
			clearTimeout(timer);
			resolve(answer ?? performance.now() - start);
		});
	});

/** CPU seconds (user + system) a process has used. Linux. */
const cpuOf = (pid) => {
	const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ');
	return (Number(fields[11]) + Number(fields[12])) / 100;
};
const rssOf = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const demo = spawn(process.execPath, [PROGRAM, 'demo', '--serve', folder], { stdio: ['pipe', 'pipe', 'inherit'] });
let measuring = true;
demo.once('exit', (code, signal) => {
	if (!measuring) return;
	console.error(`the demo pair ended by itself (${signal ?? code}); nothing was measured`);
	process.exit(1);
});
await new Promise((resolve) => createInterface({ input: demo.stdout }).once('line', resolve));
const config = ['--config', join(folder, 'config.yaml')];

const first = [];
const bare = [];
const live = [];
for (let run = 0; run < RUNS; run += 1) {
	bare.push(await timeUntil(['-e', '0'], null));
	first.push(await timeUntil([PROGRAM, ...config], 'quit'));
	live.push(await timeUntil([PROGRAM, ...config], 'vllm-reranker'));
}
const child = open([PROGRAM, ...config]);
let bytes = 0;
let frames = 0;
child.onData((data) => {
	bytes += data.length;
	frames += data.split('\u001b[?2026h').length - 1;
});
await sleep(8000);
const [cpu, sent, drawn, demoCpu] = [cpuOf(child.pid), bytes, frames, cpuOf(demo.pid)];
await sleep(SECONDS * 1000);
const used = ((cpuOf(child.pid) - cpu) / SECONDS) * 100;
const demoUsed = ((cpuOf(demo.pid) - demoCpu) / SECONDS) * 100;
const rss = rssOf(child.pid);
const [perSecond, framesPerSecond] = [(bytes - sent) / SECONDS, (frames - drawn) / SECONDS];
const latencies = [];
for (let key = 0; key < 40; key += 1) {
	const start = performance.now();
	const answered = new Promise((resolve) => {
		const once = child.onData(() => {
			once.dispose();
			resolve(performance.now() - start);
		});
	});
	child.write(key % 2 === 0 ? '\u001b[B' : '\u001b[A');
	latencies.push(await answered);
	await sleep(30);
}
process.kill(child.pid, 'SIGTERM');
measuring = false;
demo.kill('SIGTERM');
rmSync(folder, { recursive: true, force: true });

const ms = (list) => `${median(list).toFixed(0)} ms (least ${Math.min(...list).toFixed(0)})`;
console.log(`node ${process.version}, ${COLUMNS}x${ROWS}, ${RUNS} runs, medians`);
console.log(`bare node             ${ms(bare)}`);
console.log(`first frame           ${ms(first)}, ${(median(first) / median(bare)).toFixed(1)} x bare node`);
console.log(`live figures          ${ms(live)}`);
console.log(
	`console at 1 Hz       ${used.toFixed(2)} % of a core, ${rss.toFixed(0)} MB, ${perSecond.toFixed(0)} bytes/s in ${framesPerSecond.toFixed(1)} frames/s`,
);
console.log(`demo pair             ${demoUsed.toFixed(2)} % of a core`);
console.log(`key to first byte     ${median(latencies).toFixed(1)} ms (most ${Math.max(...latencies).toFixed(1)})`);
process.exit(0);
