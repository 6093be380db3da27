import type { Asker } from '../hosts/asker.ts';
import { sanitize } from '../screen/frame/width.ts';

/** Keys of a line that is typed without an editor. */
const ENTER = /[\r\n]/;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
/** What a shell reports for a program that ctrl+c ended: 128 + SIGINT. */
const INTERRUPTED = 130;
const BACKSPACE = /[\u007f\b]/;

/**
 * Asks on the plain terminal, before the console takes it, as ssh does. What is typed is not shown unless the prompt says
 * so, and goes nowhere but into the answer: when nobody waits for it any more, it is still read up to the end of its line,
 * so that half a passphrase never becomes keys of the console. ctrl+d answers nothing, ctrl+c ends the program.
 */
export const askOnTerminal: Asker = async ({ title, text, prompts }, gone) => {
	const out = process.stderr;
	out.write(`\n${sanitize(title)}\n`);
	for (const line of text) out.write(`  ${sanitize(line)}\n`);
	const answers: string[] = [];
	for (const prompt of prompts) {
		out.write(`${sanitize(prompt.text)}: `);
		const answer = await readLine(prompt.echo, gone);
		out.write('\n');
		if (answer === null || gone.aborted) return null;
		answers.push(answer);
	}
	return answers;
};

const readLine = (echo: boolean, gone: AbortSignal): Promise<string | null> =>
	new Promise((resolve) => {
		const { stdin, stderr } = process;
		let typed = '';
		const late = (): void => {
			stderr.write('\nIt does not wait any longer. Press enter to go on: ');
		};
		const end = (answer: string | null): void => {
			gone.removeEventListener('abort', late);
			stdin.off('data', onData);
			stdin.setRawMode(false);
			stdin.pause();
			resolve(answer);
		};
		// What comes after the line end in the same piece was typed for nobody, and is dropped.
		const onData = (data: string): void => {
			for (const key of data) {
				if (ENTER.test(key) || key === CTRL_D || key === CTRL_C) {
					end(ENTER.test(key) && !gone.aborted ? typed : null);
					if (key === CTRL_C) process.exit(INTERRUPTED);
					return;
				}
				if (key === CTRL_U) typed = '';
				else if (BACKSPACE.test(key)) {
					if (echo && typed !== '') stderr.write('\b \b');
					typed = typed.slice(0, -1);
				} else if (key >= ' ') {
					typed += key;
					if (echo) stderr.write(sanitize(key));
				}
			}
		};
		if (gone.aborted) return resolve(null);
		gone.addEventListener('abort', late);
		stdin.setEncoding('utf8');
		stdin.setRawMode(true);
		stdin.on('data', onData);
		stdin.resume();
	});
