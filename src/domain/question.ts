/** Something that only the person can answer, asked by a host's session: data, so that every surface can show it. */
export type Question = {
	readonly id: string;
	/** The host of the configuration on whose way it came up. */
	readonly host: string;
	readonly about: QuestionAbout;
	/** What it is and whom the answer goes to, in a few words. */
	readonly title: string;
	/** What to know before answering; may come from a server, so it is shown as text only. */
	readonly text: readonly string[];
	readonly prompts: readonly Prompt[];
};

/**
 * `host-key` is answered with `yes`; `touch` at the hardware key itself: it has no prompts, and is over when ssh says so;
 * everything else is a secret or may be one.
 */
export type QuestionAbout = 'touch' | 'passphrase' | 'password' | 'challenge' | 'host-key' | 'sudo';

export type Prompt = { readonly text: string; readonly echo: boolean };
