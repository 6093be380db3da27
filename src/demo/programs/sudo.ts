import { readOptions } from '../options.ts';
import { type Call, type Input, OPERATOR, type Program } from '../program.ts';

/** What sudo takes where it wants a password at all. */
export const PASSWORD = 'demo';
/** passwd_tries */
const TRIES = 3;

const OPTIONS = {
	'-n': ['n', false],
	'--non-interactive': ['n', false],
	'-l': ['l', false],
	'--list': ['l', false],
	'-k': ['k', false],
	'--reset-timestamp': ['k', false],
	'-S': ['S', false],
	'--stdin': ['S', false],
	'-p': ['p', true],
	'--prompt': ['p', true],
} as const;

const USAGE = 'usage: sudo -h | -K | -k | -V\n';

/** What may be done as root, as a sudoers line would say: systemctl start, stop, restart. */
const allowed = (words: readonly string[]): boolean => {
	const [command = '', ...args] = words;
	const verb = args.find((arg) => !arg.startsWith('-'));
	return (
		/^(\/usr\/bin\/)?systemctl$/.test(command) &&
		!args.includes('--user') &&
		['start', 'stop', 'restart'].includes(verb ?? '')
	);
};

/** Asks as often as sudo does; the refusal is said here. */
const authenticate = async (call: Call, prompt: string): Promise<boolean> => {
	const readLine = lines(call.input);
	for (let tried = 0; tried < TRIES; tried += 1) {
		if (tried > 0) call.err('Sorry, try again.\n');
		call.err(prompt);
		const typed = await readLine();
		if (typed === null) {
			call.err(
				tried === 0
					? '\nsudo: no password was provided\nsudo: a password is required\n'
					: `\nsudo: no password was provided\nsudo: ${tried} incorrect password attempt${tried > 1 ? 's' : ''}\n`,
			);
			return false;
		}
		if (typed === PASSWORD) return true;
	}
	call.err(`sudo: ${TRIES} incorrect password attempts\n`);
	return false;
};

/** Lines of what is typed, without their ends; null at the end. */
const lines = (input: Input): (() => Promise<string | null>) => {
	let rest = '';
	return async () => {
		for (;;) {
			const end = rest.indexOf('\n');
			const more = end < 0 ? await input.next() : null;
			if (more !== null) {
				rest += more.toString();
				continue;
			}
			const line = end < 0 ? rest : rest.slice(0, end);
			rest = end < 0 ? '' : rest.slice(end + 1);
			return end < 0 && line === '' ? null : line;
		}
	};
};

export const sudo: Program = async (call) => {
	const read = readOptions(call.args, OPTIONS, true);
	if (!read.ok) {
		call.err(`sudo: ${read.fault}\n${USAGE}`);
		return 1;
	}
	const { options } = read;
	const words = options.rest;
	const list = options.has('l');
	if (words.length === 0 && !list) {
		call.err(`${USAGE}usage: sudo -v [-ABkNnS] [-g group] [-h host] [-p prompt] [-u user]\n`);
		return 1;
	}
	const { sudo: rule } = call.machine.see().faults;
	const free = rule === 'free' && (list || allowed(words));
	if (!free) {
		if (options.has('n')) {
			call.err('sudo: a password is required\n');
			return 1;
		}
		if (!options.has('S')) {
			call.err(
				'sudo: a terminal is required to read the password; either use the -S option to read from standard input or configure an askpass helper\nsudo: a password is required\n',
			);
			return 1;
		}
		if (!(await authenticate(call, options.value('p') ?? `[sudo] password for ${OPERATOR.name}: `))) return 1;
		if (rule === 'refuses' || (!list && !allowed(words))) {
			const command = [words[0]?.startsWith('/') ? words[0] : `/usr/bin/${words[0]}`, ...words.slice(1)].join(' ');
			call.err(
				`Sorry, user ${OPERATOR.name} is not allowed to execute '${command}' as root on ${call.machine.name}.\n`,
			);
			return 1;
		}
	}
	if (list) {
		const rules =
			'    (root) NOPASSWD: /usr/bin/systemctl start *, /usr/bin/systemctl stop *, /usr/bin/systemctl restart *\n';
		if (words.length > 0 && !allowed(words)) return 1;
		call.out(
			words.length > 0
				? `${['/usr/bin/systemctl', ...words.slice(1)].join(' ')}\n`
				: `User ${OPERATOR.name} may run the following commands on ${call.machine.name}:\n${rules}`,
		);
		return 0;
	}
	return call.run(words[0]!, words.slice(1), {
		root: true,
		env: new Map([...call.env].filter(([name]) => !name.startsWith('XDG_'))),
	});
};
