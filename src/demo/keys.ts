import { generateKeyPairSync, randomBytes } from 'node:crypto';

/** An ed25519 key pair in OpenSSH's forms: a file for IdentityFile, and `TYPE BASE64 COMMENT`. */
export type Keys = { readonly private: string; readonly public: string };

const TYPE = 'ssh-ed25519';

const uint32 = (value: number): Buffer => {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value);
	return bytes;
};

const field = (value: Buffer | string): Buffer => {
	const bytes = Buffer.from(value);
	return Buffer.concat([uint32(bytes.length), bytes]);
};

/**
 * A fresh key. Not by ssh2's generateKeyPairSync: in 1.17 it cuts a leading zero byte off the public key, so that one
 * key in 256 can't be read by anybody. The format is OpenSSH's PROTOCOL.key.
 */
export const newKey = (comment: string): Keys => {
	const { privateKey } = generateKeyPairSync('ed25519');
	const { x = '', d = '' } = privateKey.export({ format: 'jwk' });
	return encodeKey(Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url'), comment);
};

/** `seed` and `point` are the 32 bytes each of RFC 8032. */
export const encodeKey = (seed: Buffer, point: Buffer, comment: string): Keys => {
	const blob = Buffer.concat([field(TYPE), field(point)]);
	const check = randomBytes(4);
	const secret = [check, check, field(TYPE), field(point), field(Buffer.concat([seed, point])), field(comment)];
	const length = secret.reduce((sum, part) => sum + part.length, 0);
	// Padded with 1, 2, 3, … to the block size of "no cipher".
	const padding = Buffer.from(Array.from({ length: (8 - (length % 8)) % 8 }, (_, at) => at + 1));
	const body = Buffer.concat([
		Buffer.from('openssh-key-v1\0'),
		field('none'),
		field('none'),
		field(''),
		uint32(1),
		field(blob),
		field(Buffer.concat([...secret, padding])),
	]);
	const lines = body.toString('base64').replace(/.{70}(?=.)/g, '$&\n');
	return {
		private: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`,
		public: `${TYPE} ${blob.toString('base64')} ${comment}`,
	};
};
