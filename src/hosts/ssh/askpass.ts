import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { quote } from '../../domain/commandLine.ts';
import type { Question } from '../../domain/question.ts';

/**
 * How the system's ssh asks us instead of a terminal: it starts SSH_ASKPASS with the prompt (ssh(1), ENVIRONMENT), and that
 * brings it here over a socket in a folder that only this user can enter. The answer goes back by socket and pipe: never
 * in an argument, the environment or a file.
 */
export type Askpass = { readonly env: Readonly<Record<string, string>>; readonly close: () => void };

/** `none`: ssh shows something (touch your key) and ends it by itself; there is nothing to answer. */
export type AskpassPrompt = { readonly text: string; readonly hint: 'answer' | 'none' };

/** Longest prompt and answer (bytes) that are read. */
const MOST = 64 * 1024;

/** Runs as a program of its own under the node that runs us; what it prints is the answer. */
const HELPER = `
const socket = require('node:net').connect(require('node:path').join(__dirname, 'ask'));
const said = [];
socket.on('connect', () => socket.write(JSON.stringify([process.argv[2], process.env.SSH_ASKPASS_PROMPT]) + '\\n'));
socket.on('data', (more) => said.push(more));
socket.on('error', () => process.exit(1));
socket.on('end', () => {
	const answer = JSON.parse(Buffer.concat(said).toString() || 'null');
	if (answer === null) process.exit(1);
	process.stdout.write(answer + '\\n', () => process.exit(0));
});
`;

/** `answer` resolves with null where nobody answers; `gone` tells it that ssh does not wait any more. */
export const startAskpass = async (
	folder: string,
	answer: (prompt: AskpassPrompt, gone: AbortSignal) => Promise<string | null>,
): Promise<Askpass> => {
	const helper = join(folder, 'askpass.cjs');
	const program = join(folder, 'askpass');
	await writeFile(helper, HELPER, { mode: 0o600 });
	await writeFile(program, `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(helper)} "$1"\n`, { mode: 0o700 });
	const server = createServer((socket) => {
		const gone = new AbortController();
		let said = '';
		socket.setEncoding('utf8');
		socket.on('error', () => {});
		socket.on('close', () => gone.abort());
		socket.on('data', (more: string) => {
			said += more;
			if (said.length > MOST) return socket.destroy();
			if (!said.endsWith('\n')) return;
			const prompt = readPrompt(said);
			if (!prompt) return socket.destroy();
			void answer(prompt, gone.signal).then((given) => socket.end(JSON.stringify(given)));
		});
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(join(folder, 'ask'), resolve);
	});
	server.unref();
	return {
		// DISPLAY: an OpenSSH before 8.4 asks this way only where there is one, and no terminal.
		env: { SSH_ASKPASS: program, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: process.env['DISPLAY'] || ':0' },
		close: () => {
			server.close();
		},
	};
};

const readPrompt = (said: string): AskpassPrompt | null => {
	try {
		const [text, hint] = JSON.parse(said) as unknown[];
		return typeof text === 'string' ? { text, hint: hint === 'none' ? 'none' : 'answer' } : null;
	} catch {
		return null;
	}
};

/** `keep`: the same prompt may be answered again with the same, for it asks for nothing that is used up (a code is). */
export type Asked = { readonly question: Omit<Question, 'id' | 'host'>; readonly keep: boolean };

/** A prompt of ssh (readpass.c, sshconnect.c, sshconnect2.c of OpenSSH) as a question of ours. */
export const questionOfPrompt = ({ text, hint }: AskpassPrompt, alias: string): Asked => {
	const lines = text.split('\n').map((line) => line.trim());
	const last = (lines.at(-1) || lines.findLast((line) => line !== '')) ?? '';
	const label = last.replace(/[:?]\s*$/, '');
	if (hint === 'none') {
		return { question: { about: 'touch', title: `Log in to ${alias}`, text: lines, prompts: [] }, keep: false };
	}
	const file = /^Enter passphrase for (?:key )?'?(.*?)'?:?\s*$/.exec(last)?.[1];
	if (file !== undefined) {
		const prompts = [{ text: `Passphrase for ${file}`, echo: false }];
		const about = [`${alias} may take this key; it is encrypted.`];
		return { question: { about: 'passphrase', title: `Key ${file}`, text: about, prompts }, keep: true };
	}
	if (/\(yes\/no|type 'yes'/i.test(text)) {
		const prompts = [{ text: 'Connect, and remember the key (yes/no)', echo: true }];
		const about = lines.filter((line) => line !== '' && !/\(yes\/no/.test(line));
		return { question: { about: 'host-key', title: `Is this ${alias}?`, text: about, prompts }, keep: false };
	}
	const isPassword = /password/i.test(label);
	return {
		question: {
			about: isPassword ? 'password' : 'challenge',
			title: `Log in to ${alias}`,
			text: lines.slice(0, -1).filter((line) => line !== ''),
			prompts: [{ text: label, echo: false }],
		},
		keep: isPassword,
	};
};
