import { hash as digest } from 'node:crypto';
import { bcrypt } from './failure-work.js';
import { queueHash } from './hash-queue.js';

// bcrypt encodes its salt like base64, with other characters.
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const OF_BCRYPT = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SALT_BYTES = 16;
const MAX_BYTES = 72;

/** A value to hash with {@link slowDigests}. */
export interface SlowValue {
  readonly value: string;
  /** What makes equal values of two owners different, such as their ids. */
  readonly salt: string;
  /** The cost of bcrypt. */
  readonly cost: number;
}

/**
 * Returns the SHA-256 of each value's bcrypt with a salt that the caller knows. So values that are too short for a fast
 * hash can be found by their hash, which has the size of the other hashes.
 *
 * The values are hashed one after the other in a single turn of the queue, because a set that waited for a turn for each
 * value would take too long under load.
 *
 * @param client the address of the client that they are for, because clients take turns in the queue
 * @throws AuthError `unavailable` (503) if too many hashes wait
 */
export async function slowDigests(values: readonly SlowValue[], client: string): Promise<Buffer[]> {
  if (values.some(({ value }) => Buffer.byteLength(value) > MAX_BYTES))
    throw new TypeError(`bcrypt ignores what is after ${MAX_BYTES} bytes`);
  const { hash } = await bcrypt();
  return queueHash(async () => {
    const digests: Buffer[] = [];
    for (const { value, salt, cost } of values) {
      const slow = await hash(value, `$2b$${String(cost).padStart(2, '0')}$${saltOf(salt)}`);
      digests.push(digest('sha256', slow, 'buffer'));
    }
    return digests;
  }, client);
}

function saltOf(salt: string): string {
  const bytes = digest('sha256', salt, 'buffer').subarray(0, SALT_BYTES);
  const base64 = bytes.toString('base64').replaceAll('=', '');
  return [...base64].map((character) => OF_BCRYPT[BASE64.indexOf(character)]).join('');
}
