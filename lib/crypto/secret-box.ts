import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface Key {
  /** Public: it says which key sealed a value, and nothing about it. */
  readonly id: string;
  readonly bytes: Buffer;
}

/**
 * Encrypts what must be read again, such as a provider's tokens, so that a copy of the database gives nothing away.
 * AES-256-GCM; a key is derived from each configured secret by HKDF-SHA-256 (RFC 5869). The first secret seals, all
 * of them open.
 */
export class SecretBox {
  readonly #keys: readonly [Key, ...Key[]];

  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map(deriveKey) as [Key, ...Key[]];
  }

  /** @param context what the value belongs to: it opens with the very same context only */
  seal(value: string, context: string): string {
    const [key] = this.#keys;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key.bytes, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${key.id}.${sealed.toString('base64url')}`;
  }

  /** Null where the value was sealed with no secret of ours or for another context, or was changed since. */
  open(sealed: string, context: string): string | null {
    const [version, keyId, body = '', ...others] = sealed.split('.');
    const key = this.#keys.find(({ id }) => id === keyId);
    const bytes = Buffer.from(body, 'base64url');
    // Node skips what is no base64url, and reads several spellings of the same bytes: there is one that seals.
    const isExact = others.length === 0 && bytes.toString('base64url') === body;
    if (version !== VERSION || !key || !isExact || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
    const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const open = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([open, decipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  }

  /** How every value begins that the first secret sealed: all others are due when secrets are rotated. */
  get currentPrefix(): string {
    return `${VERSION}.${this.#keys[0].id}.`;
  }
}

function deriveKey(secret: string): Key {
  const derive = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `latchkey ${purpose}`, length));
  return { id: derive('encryption key id', 6).toString('base64url'), bytes: derive('encryption key', 32) };
}
