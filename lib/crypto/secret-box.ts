import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface Key {
  /** Identifies the key of a sealed value without revealing it. */
  readonly id: string;
  readonly bytes: Buffer;
}

/**
 * Encrypts values that must be readable later, such as a provider's tokens, so that a copy of the database does not
 * reveal them. Uses AES-256-GCM with one key for each configured secret, derived by HKDF-SHA-256 (RFC 5869). The first
 * secret encrypts, and all of them can decrypt.
 */
export class SecretBox {
  readonly #keys: readonly [Key, ...Key[]];

  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map(deriveKey) as [Key, ...Key[]];
  }

  /** Encrypts a value. @param context names the owner of the value; decrypting requires the same context (AAD) */
  seal(value: string, context: string): string {
    const [key] = this.#keys;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key.bytes, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([nonce, cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${key.id}.${sealed.toString('base64url')}`;
  }

  /** Decrypts a value. Returns null if its secret is not configured, the context differs, or the value was modified. */
  open(sealed: string, context: string): string | null {
    const [version, keyId, body = '', ...others] = sealed.split('.');
    const key = this.#keys.find(({ id }) => id === keyId);
    const bytes = Buffer.from(body, 'base64url');
    // Node ignores invalid characters and accepts several encodings of the same bytes, but only the original is valid.
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

  /** The prefix of values encrypted with the first secret. Rotating secrets re-encrypts all others. */
  get currentPrefix(): string {
    return `${VERSION}.${this.#keys[0].id}.`;
  }
}

function deriveKey(secret: string): Key {
  const derive = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `latchkey ${purpose}`, length));
  return { id: derive('encryption key id', 6).toString('base64url'), bytes: derive('encryption key', 32) };
}
