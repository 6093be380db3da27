import { createServer, type Socket } from 'node:net';
import ssh2, { type Connection, type Server, type ServerChannel } from 'ssh2';
import { runOnChannel } from './exec.ts';
import type { Machine } from './machine.ts';
import { OPERATOR } from './program.ts';
import type { Valve } from './valve.ts';

/** The SSH server of one simulated host; it has no port, sockets are given to it. */
export type HostServer = { readonly accept: (socket: Socket) => void };

export type ServerOptions = {
	readonly machine: Machine;
	readonly hostKey: string;
	/** The one key that gets in, as a public key line. */
	readonly allowed: string;
	/** Where forwards may go: name:port to whoever takes the connection. */
	readonly forwards: ReadonlyMap<string, (channel: ServerChannel) => void>;
	/** The valve that a forward has to pass before it is answered. */
	readonly far: ReadonlyMap<string, Valve>;
};

const NOTICE = 'This is a simulated host of sparkdeck demo: it runs single commands and has no interactive shell.\r\n';

export const createHostServer = (options: ServerOptions): HostServer => {
	const allowed = ssh2.utils.parseKey(options.allowed);
	if (allowed instanceof Error) throw allowed;
	const server: Server = new ssh2.Server({ hostKeys: [options.hostKey], ident: 'OpenSSH_9.6p1 Ubuntu-3ubuntu13.5' });
	server.on('connection', (client) => serve(client, options, allowed));
	return { accept: (socket) => server.injectSocket(socket) };
};

const serve = (client: Connection, { machine, forwards, far }: ServerOptions, allowed: ssh2.ParsedKey): void => {
	// For good: a connection may fail more than once, and none of it is ours to handle.
	client.on('error', () => {});
	client.on('authentication', (asked) => {
		const right =
			asked.method === 'publickey' &&
			asked.username === OPERATOR.name &&
			asked.key.algo === allowed.type &&
			asked.key.data.equals(allowed.getPublicSSH()) &&
			(asked.signature === undefined || allowed.verify(asked.blob!, asked.signature, asked.hashAlgo) === true);
		if (right) asked.accept();
		else asked.reject(['publickey']);
	});
	client.on('session', (accept) => {
		const session = accept();
		session.on('env', (ok) => ok?.());
		session.on('pty', (ok) => ok?.());
		session.on('window-change', (ok) => ok?.());
		session.on('exec', (ok, _refuse, { command }) => void runOnChannel(machine, ok(), command));
		session.on('shell', (ok) => {
			const channel = ok();
			channel.write(NOTICE);
			channel.exit(1);
			channel.end();
		});
		session.on('subsystem', (_ok, refuse) => refuse?.());
		session.on('sftp', (_ok, refuse) => refuse?.());
	});
	client.on('tcpip', (accept, reject, { destIP, destPort }) => {
		const to = `${destIP}:${destPort}`;
		const take = forwards.get(to);
		if (!take) {
			reject();
			return;
		}
		let gone = false;
		client.once('close', () => {
			gone = true;
		});
		// Behind a cut nobody answers: the client waits, as for a host whose packets are lost.
		const answer = (): void => {
			if (!gone) take(accept());
		};
		const valve = far.get(to);
		if (valve) valve.whenOpen(answer);
		else answer();
	});
};

/** Listens on a loopback port for the one host that has one. */
export const listen = (accept: (socket: Socket) => void): Promise<{ port: number; close: () => Promise<void> }> =>
	new Promise((resolve, reject) => {
		const sockets = new Set<Socket>();
		const listener = createServer((socket) => {
			sockets.add(socket);
			socket.setNoDelay(true);
			socket.on('close', () => sockets.delete(socket));
			socket.on('error', () => {});
			accept(socket);
		});
		listener.once('error', reject);
		listener.listen(0, '127.0.0.1', () => {
			const address = listener.address();
			resolve({
				port: typeof address === 'object' && address ? address.port : 0,
				close: () =>
					new Promise((closed) => {
						listener.close(() => closed());
						for (const socket of sockets) socket.destroy();
					}),
			});
		});
	});
