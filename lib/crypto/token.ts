import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The prefix of session tokens, which makes them recognizable to people and secret scanners. */
export const SESSION_TOKEN_PREFIX = 'lks_';

/**
 * The prefix of the tokens of acting sessions: see `sessions/acting.ts`. An app without them does not look such a token
 * up, so that an acting session never counts as the user's own, even when a deploy removes the option.
 */
export const ACTING_TOKEN_PREFIX = 'lka_';

const RANDOM_BYTES = 32;
const CHECKSUM_BYTES = 4;
// 36 bytes are exactly 48 characters of base64url, so there is no padding, and each token has one encoding.
const BODY = /^[A-Za-z0-9_-]{48}$/;

/** Creates an opaque token: the prefix, then 32 random bytes and their CRC-32 in base64url. */
export function createToken(prefix: string): string {
  return tokenOfBytes(prefix, randomBytes(RANDOM_BYTES));
}

/** Returns the token that consists of these 32 bytes, which must be as hard to guess as random ones. */
export function tokenOfBytes(prefix: string, secret: Buffer): string {
  if (secret.length !== RANDOM_BYTES) throw new TypeError(`a token has ${RANDOM_BYTES} bytes`);
  const bytes = Buffer.concat([secret, Buffer.alloc(CHECKSUM_BYTES)]);
  bytes.writeUInt32BE(checksum(prefix, secret), RANDOM_BYTES);
  return prefix + bytes.toString('base64url');
}

/** Whether a value has the form of a token. This proves nothing, but avoids database lookups for garbage and typos. */
export function isWellFormedToken(prefix: string, token: unknown): token is string {
  if (typeof token !== 'string' || !token.startsWith(prefix)) return false;
  const body = token.slice(prefix.length);
  if (!BODY.test(body)) return false;
  const bytes = Buffer.from(body, 'base64url');
  return checksum(prefix, bytes.subarray(0, RANDOM_BYTES)) === bytes.readUInt32BE(RANDOM_BYTES);
}

/** Whether a value has the form of the token of any session. */
export function isSessionToken(token: unknown): token is string {
  return isWellFormedToken(SESSION_TOKEN_PREFIX, token) || isWellFormedToken(ACTING_TOKEN_PREFIX, token);
}

/** Whether a value would be the token of an acting session, if there is such a session. */
export function isActingToken(token: string): boolean {
  return token.startsWith(ACTING_TOKEN_PREFIX);
}

/**
 * Returns the SHA-256 of a token, which is stored instead of the token, so that a copy of the database does not contain
 * usable tokens. A fast hash is enough, because 256 random bits cannot be guessed.
 */
export function digestToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Returns {@link digestToken} in hexadecimal digits. */
export function digestInHex(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Redacts latchkey's tokens in text from elsewhere, such as an error message, so that it can be logged. */
export function hideTokens(text: string): string {
  return text.replace(/(lk[a-z]_)[\w-]{8,}/g, '$1…');
}

function checksum(prefix: string, random: Buffer): number {
  return crc32(random, crc32(prefix));
}
