import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** How a session token begins, so that people and secret scanners know one when they see it. */
export const SESSION_TOKEN_PREFIX = 'lks_';

/** How an API key begins. */
export const API_KEY_PREFIX = 'lkk_';

const RANDOM_BYTES = 32;
const CHECKSUM_BYTES = 4;
// 36 bytes are exactly 48 characters of base64url: no padding, and one spelling for each token.
const BODY = /^[A-Za-z0-9_-]{48}$/;

/** A fresh opaque token: the prefix, then 32 random bytes and their CRC-32 in base64url. */
export function createToken(prefix: string): string {
  const random = randomBytes(RANDOM_BYTES);
  return prefix + Buffer.concat([random, checksum(prefix, random)]).toString('base64url');
}

/** Whether this can be a token at all. Keeps junk and typing errors away from the database; proves nothing. */
export function isWellFormedToken(prefix: string, token: unknown): token is string {
  if (typeof token !== 'string' || !token.startsWith(prefix)) return false;
  const body = token.slice(prefix.length);
  if (!BODY.test(body)) return false;
  const bytes = Buffer.from(body, 'base64url');
  return checksum(prefix, bytes.subarray(0, RANDOM_BYTES)).equals(bytes.subarray(RANDOM_BYTES));
}

/**
 * SHA-256 of a token: what is stored in its place, so that a copy of the database opens no session. A plain hash is
 * enough, since a token has 256 random bits and cannot be guessed from it.
 */
export function digestToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Cuts our tokens in text from elsewhere, such as an error message, to their prefixes, so that it can be logged. */
export function hideTokens(text: string): string {
  return text.replace(/(lk[a-z]_)[\w-]{8,}/g, '$1…');
}

function checksum(prefix: string, random: Buffer): Buffer {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  bytes.writeUInt32BE(crc32(random, crc32(prefix)));
  return bytes;
}
