import { hash as digest } from 'node:crypto';
import { bcrypt } from './failure-work.js';
import { queueHash } from './hash-queue.js';

// bcrypt encodes its salt like base64, with other characters.
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const OF_BCRYPT = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SALT_BYTES = 16;
const MAX_BYTES = 72;

/** How {@link slowDigest} hashes. */
export interface SlowDigestOptions {
  /** What makes equal values of two owners different, such as their ids. */
  readonly salt: string;
  /** The cost of bcrypt. */
  readonly cost: number;
  /** The address of the client that it is for, because clients take turns in the queue. */
  readonly client: string;
}

/**
 * Returns the SHA-256 of a value's bcrypt with a salt that the caller knows. So values that are too short for a fast
 * hash can be found by their hash, which has the size of the other hashes.
 *
 * @throws AuthError `unavailable` (503) if too many hashes wait
 */
export async function slowDigest(value: string, { salt, cost, client }: SlowDigestOptions): Promise<Buffer> {
  if (Buffer.byteLength(value) > MAX_BYTES)
    throw new TypeError(`bcrypt ignores what is after ${MAX_BYTES} bytes`);
  const { hash } = await bcrypt();
  const slow = await queueHash(
    () => hash(value, `$2b$${String(cost).padStart(2, '0')}$${saltOf(salt)}`),
    client,
  );
  return digest('sha256', slow, 'buffer');
}

function saltOf(salt: string): string {
  const bytes = digest('sha256', salt, 'buffer').subarray(0, SALT_BYTES);
  const base64 = bytes.toString('base64').replaceAll('=', '');
  return [...base64].map((character) => OF_BCRYPT[BASE64.indexOf(character)]).join('');
}
