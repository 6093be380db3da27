import { Duplex } from 'node:stream';

/** Holds the traffic of all connections to one host: open, or stalled as behind a cut cable. */
export type Valve = {
	readonly isOpen: () => boolean;
	readonly set: (open: boolean) => void;
	/** A stream over `under` that the valve holds. */
	readonly through: (under: Duplex) => Duplex;
	/** Runs when the valve is open: now, or after it was opened. */
	readonly whenOpen: (act: () => void) => void;
	/** Ends all connections at once, as a reset does. */
	readonly drop: () => void;
};

export const createValve = (): Valve => {
	let open = true;
	const gates = new Set<Gate>();
	const waiting: (() => void)[] = [];
	return {
		isOpen: () => open,
		set: (to) => {
			open = to;
			for (const gate of [...gates]) gate.turn();
			if (open) for (const act of waiting.splice(0)) act();
		},
		through: (under) => {
			const gate = new Gate(under, () => open);
			gates.add(gate);
			gate.once('close', () => gates.delete(gate));
			return gate;
		},
		whenOpen: (act) => {
			if (open) act();
			else waiting.push(act);
		},
		drop: () => {
			for (const gate of [...gates]) gate.destroy();
		},
	};
};

type Done = (error?: Error | null) => void;

/**
 * Nothing passes while it is shut, in either direction and not even an end: what is underneath is left unread, as the
 * buffers of a cut connection are. Opened again, it all goes on where it was.
 *
 * Both directions are handed on in a turn of their own: where one SSH connection runs inside another, ssh2's
 * chacha20-poly1305 in JavaScript would otherwise be entered again in the middle of a packet, and it keeps that packet's
 * counter in a buffer that all connections share.
 */
class Gate extends Duplex {
	readonly #under: Duplex;
	readonly #isOpen: () => boolean;
	#held: { chunk: Buffer; done: Done } | null = null;
	#ending: (() => void) | null = null;
	#ended: 'end' | 'close' | null = null;

	constructor(under: Duplex, isOpen: () => boolean) {
		super({ allowHalfOpen: true });
		this.#under = under;
		this.#isOpen = isOpen;
		under.on('data', (chunk: Buffer) =>
			process.nextTick(() => {
				if (!this.destroyed && !this.push(chunk)) under.pause();
			}),
		);
		under.on('end', () => process.nextTick(() => this.#over('end')));
		under.on('close', () => process.nextTick(() => this.#over('close')));
		under.on('error', () => process.nextTick(() => this.#over('close')));
		if (!isOpen()) under.pause();
	}

	turn(): void {
		if (!this.#isOpen()) {
			this.#under.pause();
			return;
		}
		this.#send();
		this.#ending?.();
		if (this.#ended) this.#over(this.#ended);
		else this.#under.resume();
	}

	#send(): void {
		const held = this.#held;
		if (!held || !this.#isOpen()) return;
		this.#held = null;
		this.#under.write(held.chunk, held.done);
	}

	#over(how: 'end' | 'close'): void {
		if (this.#ended === how && this.readableEnded) return;
		this.#ended = how;
		if (!this.#isOpen() || this.destroyed) return;
		if (how === 'close') this.destroy();
		else this.push(null);
	}

	override _read(): void {
		if (this.#isOpen()) this.#under.resume();
	}

	override _write(chunk: Buffer, _encoding: string, done: Done): void {
		this.#held = { chunk, done };
		process.nextTick(() => this.#send());
	}

	override _writev(chunks: { chunk: Buffer }[], done: Done): void {
		this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), '', done);
	}

	override _final(done: Done): void {
		this.#ending = () => {
			this.#ending = null;
			this.#under.end();
			done();
		};
		if (this.#isOpen()) this.#ending();
	}

	override _destroy(error: Error | null, done: Done): void {
		this.#under.destroy();
		// A write that waits for ever would keep whoever wrote it.
		this.#held?.done();
		this.#held = null;
		done(error);
	}
}
