/** The public half of a key, as it travels: base64 of its blob, and the type at the blob's head. */
export type PublicKey = { readonly type: string; readonly blob: Buffer };

/** The type name at the head of a key's blob (RFC 4253, section 6.6); `?` where there is none. */
export const keyType = (blob: Buffer): string => {
	if (blob.length < 4) return '?';
	const length = blob.readUInt32BE(0);
	return length > 0 && length < 64 && blob.length >= 4 + length ? blob.toString('latin1', 4, 4 + length) : '?';
};

/** One line of a `.pub` file, `ssh-add -L` or authorized_keys: `TYPE BASE64 [COMMENT]`. */
export const parsePublicLine = (line: string): (PublicKey & { readonly comment: string }) | null => {
	const [type, base64, ...comment] = line.trim().split(/\s+/);
	if (!type || !base64 || type.startsWith('#')) return null;
	const blob = Buffer.from(base64, 'base64');
	return keyType(blob) === type ? { type, blob, comment: comment.join(' ') } : null;
};

const MAGIC = 'openssh-key-v1\0';

/** What a private key file tells without a passphrase. */
export type PrivateKeyFile = {
	readonly encrypted: boolean;
	/** The OpenSSH format has it in the clear; the older formats do not. */
	readonly public: PublicKey | null;
};

/** Reads the head of a private key file (OpenSSH's PROTOCOL.key, or PEM); null: it is no private key. */
export const readPrivateKey = (text: string): PrivateKeyFile | null => {
	const found = /-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----([^-]*)/.exec(text);
	if (!found) return null;
	const [, kind = '', body = ''] = found;
	if (kind.trim() !== 'OPENSSH') {
		return { encrypted: kind.trim() === 'ENCRYPTED' || /^Proc-Type:.*ENCRYPTED/m.test(text), public: null };
	}
	const bytes = Buffer.from(body, 'base64');
	if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
	let at = MAGIC.length;
	const field = (): Buffer | null => {
		if (at + 4 > bytes.length) return null;
		const length = bytes.readUInt32BE(at);
		if (length > bytes.length - at - 4) return null;
		at += 4 + length;
		return bytes.subarray(at - length, at);
	};
	const cipher = field();
	const kdf = field();
	const options = field();
	at += 4;
	const blob = field();
	if (!cipher || !kdf || !options || !blob) return null;
	return { encrypted: cipher.toString('latin1') !== 'none', public: { type: keyType(blob), blob } };
};
