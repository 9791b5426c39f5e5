import { createHmac, hash } from 'node:crypto';
import bcrypt from 'bcrypt';
import { readForeignHash } from './foreign-hash.js';
import { queueHash } from './hash-queue.js';

const SCHEME = '$bcrypt-hmac-sha384';

// Public and fixed. It makes our input differ from every other site's plain SHA-384, so that breached digests
// cannot be tried against our hashes ("password shucking"). It is not the secret, whose rotation must never
// cost anybody a password.
const LABEL = 'latchkey password v1';

const OURS = /^\$bcrypt-hmac-sha384(?:\$p=([\w-]{8}))?(\$2b\$(\d\d)\$[./A-Za-z0-9]{53})$/;

/** So many of the latest verifications tell how long one takes. */
const REMEMBERED_DURATIONS = 15;

/** What a verification found. */
export interface PasswordVerdict {
  readonly matches: boolean;
  /** True where it matches but was hashed in another way than today's, and should be hashed again. */
  readonly outdated: boolean;
}

interface Pepper {
  /** Says which pepper a hash needs, and nothing about it. */
  readonly id: string;
  readonly value: string;
}

/** bcrypt over HMAC-SHA-384, because bcrypt alone cuts its input at 72 bytes and at a NUL. */
export class PasswordHasher {
  readonly #cost: number;
  readonly #peppers: readonly Pepper[];
  readonly #durations: number[] = [];
  #measuring: Promise<unknown> | undefined;

  /** @param peppers secrets of the operator's, kept out of the database: the first hashes, all verify */
  constructor(cost: number, peppers: readonly string[] = []) {
    this.#cost = cost;
    this.#peppers = peppers.map((value) => ({
      id: hash('sha256', `pepper ${value}`, 'base64url').slice(0, 8),
      value,
    }));
  }

  /** The string to store: scheme, bcrypt's own parameters, salt and hash. */
  async hash(password: string): Promise<string> {
    const [pepper] = this.#peppers;
    const bcryptHash = await queueHash(() => bcrypt.hash(prehash(password, pepper), this.#cost));
    return `${SCHEME}${pepper ? `$p=${pepper.id}` : ''}${bcryptHash}`;
  }

  /**
   * Compares a password with a stored hash, or with none. Every failure costs one hash of today's cost, whether there
   * was a hash or not and however old it was, so that the time tells nothing.
   */
  async verify(password: string, stored: string | null): Promise<PasswordVerdict> {
    const started = performance.now();
    const verdict = await queueHash(() => this.#compare(password, stored));
    this.#durations.push(performance.now() - started);
    if (this.#durations.length > REMEMBERED_DURATIONS) this.#durations.shift();
    return verdict;
  }

  /** Takes as long as a verification, and no processor: for an account whose pause is on. */
  async pretend(): Promise<void> {
    const sorted = [...this.#durations].sort((a, b) => a - b);
    const typical = sorted[Math.floor(sorted.length / 2)];
    if (typical !== undefined) return new Promise((resolve) => setTimeout(resolve, typical));
    // One hash for all who come before the first duration is known: theirs must not fill the line.
    this.#measuring ??= this.verify('', null);
    await this.#measuring;
  }

  async #compare(password: string, stored: string | null): Promise<PasswordVerdict> {
    const ours = OURS.exec(stored ?? '');
    if (!ours) return this.#compareForeign(password, stored);
    const [, pepperId, bcryptHash = '', digits] = ours;
    const pepper = this.#peppers.find(({ id }) => id === pepperId);
    const cost = Number(digits);
    // Without its pepper a hash cannot be verified; its cost is paid all the same.
    const lost = pepperId !== undefined && !pepper;
    const matches = (await bcrypt.compare(prehash(password, pepper), bcryptHash)) && !lost;
    // Costs are powers of two: 2^cost + (2^cost + 2^(cost+1) + … + 2^(today-1)) = 2^today.
    for (let missing = cost; !matches && missing < this.#cost; missing++) await payFor(missing);
    return { matches, outdated: matches && (cost < this.#cost || pepper !== this.#peppers[0]) };
  }

  async #compareForeign(password: string, stored: string | null): Promise<PasswordVerdict> {
    const foreign = stored === null ? null : readForeignHash(stored);
    const matches = (await foreign?.verify(password)) ?? false;
    if (!matches) await payFor(this.#cost);
    return { matches, outdated: matches };
  }
}

/** Compares with a well-formed hash that no input is known to have. */
async function payFor(cost: number): Promise<void> {
  await bcrypt.compare('', `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`);
}

function prehash(password: string, pepper: Pepper | undefined): string {
  const input = createHmac('sha384', LABEL).update(password.normalize('NFC')).digest();
  return (pepper ? createHmac('sha384', pepper.value).update(input).digest() : input).toString('base64');
}
