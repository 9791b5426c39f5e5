import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { readCode } from './typed-codes.js';

/** Phones show a pad of digits for them, and fill them in from emails. */
const DIGITS = '0123456789';
const LENGTH = 8;

/** Returns the random part of what a code or link is derived from. It is stored only with the request for the code. */
export function newSalt(): Buffer {
  return randomBytes(32);
}

/** Returns the name of a code or link. @param salt null if `parts` contains something random */
export function nameOf(parts: readonly string[], salt: Buffer | null): string {
  return [...parts, ...(salt ? [salt.toString('hex')] : [])].join(' ');
}

/**
 * Emailed codes, which people type. A code is stored only within an encrypted email that waits. It is derived with
 * HMAC-SHA-256 from the request's row, which contains a random value, and from a key of each configured secret (HKDF, RFC
 * 5869). So neither a copy of the database nor the secret reveals a code without the other. A code has 8 digits, which
 * are 26 bits (NIST SP 800-63B-4, 3.1.3.2 asks for at least 20), so the number of attempts must be limited.
 */
export class EmailedCodes {
  readonly #keys: readonly Buffer[];

  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) =>
      Buffer.from(hkdfSync('sha256', secret, '', 'latchkey emailed codes', 32)),
    );
  }

  /** Returns the code for something, such as `20461938`. @param what names it and no other thing */
  codeFor(what: string): string {
    return this.codesFor(what)[0];
  }

  /** Returns the code for something by each configured secret. The first secret's comes first. */
  codesFor(what: string): readonly [string, ...string[]] {
    const [first, ...others] = this.#keys.map((key) => derive(key, what));
    return [first as string, ...others];
  }

  /**
   * Returns 32 bytes for something, such as for the token of a link, by each configured secret. The first secret's come
   * first.
   *
   * @param what names it and no other thing, and no code either
   */
  bytesFor(what: string): readonly [Buffer, ...Buffer[]] {
    const [first, ...others] = this.#keys.map((key) => hmac(key, what));
    return [first as Buffer, ...others];
  }

  /** Whether what a person typed is the code: see {@link readCode}. */
  matches(typed: string, what: string): boolean {
    const given = Buffer.from(readCode(typed));
    return this.#keys.some((key) => {
      const code = Buffer.from(derive(key, what));
      return given.length === code.length && timingSafeEqual(given, code);
    });
  }
}

function derive(key: Buffer, what: string): string {
  const bytes = hmac(key, what);
  // Four bytes a digit, so that all digits are equally likely but for less than a millionth.
  const numbers = Array.from({ length: LENGTH }, (_, index) => bytes.readUInt32BE(index * 4));
  return numbers.map((number) => DIGITS[number % DIGITS.length]).join('');
}

function hmac(key: Buffer, what: string): Buffer {
  return createHmac('sha256', key).update(what).digest();
}
