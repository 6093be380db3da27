// What is typed into a question. Pure; kept by the screen only while the question is open, and by nothing else.

export type Typing = {
	readonly question: string;
	/** Prompts that were answered. */
	readonly answers: readonly string[];
	readonly text: string;
};

export type Typed =
	| { readonly kind: 'typing'; readonly typing: Typing }
	| { readonly kind: 'answered'; readonly answers: readonly string[] }
	| { readonly kind: 'declined' };

export const startTyping = (question: string): Typing => ({ question, answers: [], text: '' });

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

/** Types one chord, or a character of a paste, into the prompt; `prompts` is how many there are. */
export const typeChord = (typing: Typing, chord: string, prompts: number): Typed => {
	const { answers, text } = typing;
	const now = (changed: Partial<Typing>): Typed => ({ kind: 'typing', typing: { ...typing, ...changed } });
	switch (chord) {
		case 'enter': {
			const all = [...answers, text];
			return all.length >= prompts ? { kind: 'answered', answers: all } : now({ answers: all, text: '' });
		}
		case 'esc':
		case 'ctrl+c':
		case 'ctrl+d':
			return { kind: 'declined' };
		case 'ctrl+u':
			return now({ text: '' });
		case 'backspace':
			return now({ text: [...text].slice(0, -1).join('') });
		case 'space':
			return now({ text: `${text} ` });
		default:
			// A named key (`up`, `alt+x`) is longer than the character that it might be taken for.
			return [...chord].length === 1 ? now({ text: text + chord }) : now({});
	}
};

/** A paste is text up to its first line end; it never answers by itself. */
export const typePaste = (typing: Typing, pasted: string): Typing => ({
	...typing,
	text: typing.text + (pasted.split(/[\r\n]/)[0] ?? '').replaceAll(CONTROL, ''),
});
