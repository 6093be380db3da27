/**
 * Options in the way of getopt_long: `--name=value`, `--name value`, `-n value`, `-nvalue`, clusters, operands in between,
 * `--`. What is not named in the specification is an error: a program that swallows what it does not know would let
 * commands pass here that fail on a real host.
 */
export type Options = {
	readonly has: (name: string) => boolean;
	readonly values: (name: string) => readonly string[];
	readonly value: (name: string) => string | undefined;
	readonly rest: readonly string[];
};

/** Name of an option (`-n`, `--lines`) to [its main name, whether it takes a value]. */
export type OptionTable = Readonly<Record<string, readonly [string, boolean]>>;

export const readOptions = (
	args: readonly string[],
	table: OptionTable,
	firstOperandEnds = false,
): { readonly ok: true; readonly options: Options } | { readonly ok: false; readonly fault: string } => {
	const found: [string, string][] = [];
	const rest: string[] = [];
	for (let at = 0; at < args.length; at += 1) {
		const word = args[at]!;
		if (word === '--') {
			rest.push(...args.slice(at + 1));
			break;
		}
		if (word.startsWith('--')) {
			const cut = word.indexOf('=');
			const name = cut < 0 ? word : word.slice(0, cut);
			const entry = table[name];
			if (!entry) return { ok: false, fault: `unrecognized option '${name}'` };
			const [main, takes] = entry;
			if (!takes && cut >= 0) return { ok: false, fault: `option '${name}' doesn't allow an argument` };
			if (!takes) found.push([main, '']);
			else if (cut >= 0) found.push([main, word.slice(cut + 1)]);
			else if (at + 1 < args.length) {
				at += 1;
				found.push([main, args[at]!]);
			} else return { ok: false, fault: `option '${name}' requires an argument` };
		} else if (word.startsWith('-') && word !== '-') {
			for (let letter = 1; letter < word.length; letter += 1) {
				const entry = table[`-${word[letter]}`];
				if (!entry) return { ok: false, fault: `invalid option -- '${word[letter]}'` };
				const [main, takes] = entry;
				if (!takes) {
					found.push([main, '']);
					continue;
				}
				const stuck = word.slice(letter + 1);
				if (stuck === '' && at + 1 >= args.length)
					return { ok: false, fault: `option requires an argument -- '${word[letter]}'` };
				if (stuck === '') at += 1;
				found.push([main, stuck === '' ? args[at]! : stuck]);
				break;
			}
		} else {
			rest.push(word);
			if (firstOperandEnds) {
				rest.push(...args.slice(at + 1));
				break;
			}
		}
	}
	const values = (name: string): string[] => found.filter(([main]) => main === name).map(([, value]) => value);
	return {
		ok: true,
		options: {
			has: (name) => found.some(([main]) => main === name),
			values,
			value: (name) => values(name).at(-1),
			rest,
		},
	};
};
