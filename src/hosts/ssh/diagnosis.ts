import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Reach } from '../../domain/host.ts';

export type { Reach };

/** The first bytes that a server says (RFC 4253, section 4.2), or that it says none in time. Ends the stream. */
export const readBanner = (stream: Duplex, timeoutMs: number): Promise<Reach> =>
	new Promise((resolve) => {
		const done = (reach: Reach): void => {
			clearTimeout(timer);
			stream.destroy();
			resolve(reach);
		};
		const timer = setTimeout(() => done('wedged'), timeoutMs);
		stream.on('error', () => {});
		stream.once('data', () => done('answers'));
		// Closed without a word: sshd is there and takes nobody (MaxStartups), or dies.
		stream.once('close', () => done('refused'));
		stream.once('end', () => done('refused'));
	});

/** One TCP connect, and what the server says first. */
export const diagnoseDirect = (host: string, port: number, timeoutMs: number): Promise<Reach> =>
	new Promise((resolve) => {
		const socket = connect({ host, port });
		const done = (reach: Reach): void => {
			clearTimeout(timer);
			socket.destroy();
			resolve(reach);
		};
		const timer = setTimeout(() => done('silent'), timeoutMs);
		socket.once('error', (error: NodeJS.ErrnoException) => done(error.code === 'ECONNREFUSED' ? 'refused' : 'silent'));
		socket.once('connect', () => {
			clearTimeout(timer);
			socket.removeAllListeners('error');
			void readBanner(socket, timeoutMs).then(resolve);
		});
	});
