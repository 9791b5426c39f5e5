import { createHmac, hash } from 'node:crypto';
import bcrypt from 'bcrypt';
import { readForeignHash } from './foreign-hash.js';
import { queueHash } from './hash-queue.js';

const SCHEME = '$bcrypt-hmac-sha384';

// A public constant. It makes the input differ from a plain SHA-384, so that digests leaked elsewhere cannot be tested
// against these hashes ("password shucking"). The config's secret is not used, since rotating it would invalidate all
// passwords.
const LABEL = 'latchkey password v1';

const BCRYPT_HMAC = /^\$bcrypt-hmac-sha384(?:\$p=([\w-]{8}))?(\$2b\$(\d\d)\$[./A-Za-z0-9]{53})$/;

// How many recent verifications the typical duration is taken from.
const REMEMBERED_DURATIONS = 15;

/** The result of a verification. */
export interface PasswordVerdict {
  readonly matches: boolean;
  /** True if it matches but does not use the current scheme, cost and pepper: the password should be rehashed. */
  readonly outdated: boolean;
}

interface Pepper {
  /** Identifies the pepper of a hash without revealing it. */
  readonly id: string;
  readonly value: string;
}

/** Hashes passwords with bcrypt over HMAC-SHA-384, since bcrypt alone truncates its input at 72 bytes or a NUL. */
export class PasswordHasher {
  readonly #cost: number;
  readonly #peppers: readonly Pepper[];
  readonly #durations: number[] = [];
  #measuring: Promise<unknown> | undefined;

  /**
   * @param peppers secrets that are kept out of the database: the first one hashes, all of them verify
   * @param clientOf whose turn in the queue of hashes a call takes
   */
  constructor(
    cost: number,
    peppers: readonly string[] = [],
    private readonly clientOf: () => string = () => '',
  ) {
    this.#cost = cost;
    this.#peppers = peppers.map((value) => ({
      id: hash('sha256', `pepper ${value}`, 'base64url').slice(0, 8),
      value,
    }));
  }

  /** Returns the string to store: the scheme, and bcrypt's parameters, salt and hash. */
  async hash(password: string): Promise<string> {
    const [pepper] = this.#peppers;
    const bcryptHash = await queueHash(
      () => bcrypt.hash(prehash(password, pepper), this.#cost),
      this.clientOf(),
    );
    return `${SCHEME}${pepper ? `$p=${pepper.id}` : ''}${bcryptHash}`;
  }

  /**
   * Verifies a password against a stored hash, or null if there is none. Every failure takes as long as one hash of the
   * current cost, so that timing reveals neither whether a hash exists nor how old it is.
   */
  async verify(password: string, stored: string | null): Promise<PasswordVerdict> {
    const started = performance.now();
    const verdict = await queueHash(() => this.#compare(password, stored), this.clientOf());
    this.#durations.push(performance.now() - started);
    if (this.#durations.length > REMEMBERED_DURATIONS) this.#durations.shift();
    return verdict;
  }

  /** Takes as long as a verification without using the CPU, for an account that is paused. */
  async pretend(): Promise<void> {
    const sorted = [...this.#durations].sort((a, b) => a - b);
    const typical = sorted[Math.floor(sorted.length / 2)];
    if (typical !== undefined) return new Promise((resolve) => setTimeout(resolve, typical));
    // Until a duration is known, all callers share one verification, so that they do not fill the queue.
    this.#measuring ??= this.verify('', null);
    await this.#measuring;
  }

  async #compare(password: string, stored: string | null): Promise<PasswordVerdict> {
    const parsed = BCRYPT_HMAC.exec(stored ?? '');
    if (!parsed) return this.#compareForeign(password, stored);
    const [, pepperId, bcryptHash = '', digits] = parsed;
    const pepper = this.#peppers.find(({ id }) => id === pepperId);
    const cost = Number(digits);
    // Without its pepper a hash cannot be verified, but it still takes the same time.
    const lost = pepperId !== undefined && !pepper;
    const matches = (await bcrypt.compare(prehash(password, pepper), bcryptHash)) && !lost;
    // Each cost step doubles the work: 2^cost + (2^cost + 2^(cost+1) + … + 2^(current-1)) = 2^current.
    for (let missing = cost; !matches && missing < this.#cost; missing++) await spend(missing);
    return { matches, outdated: matches && (cost < this.#cost || pepper !== this.#peppers[0]) };
  }

  async #compareForeign(password: string, stored: string | null): Promise<PasswordVerdict> {
    const foreign = stored === null ? null : readForeignHash(stored);
    const matches = (await foreign?.verify(password)) ?? false;
    if (!matches) await spend(this.#cost);
    return { matches, outdated: matches };
  }
}

/** Takes as long as a verification of this cost: compares with a well-formed hash of no known input. */
async function spend(cost: number): Promise<void> {
  await bcrypt.compare('', `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`);
}

function prehash(password: string, pepper: Pepper | undefined): string {
  const input = createHmac('sha384', LABEL).update(password.normalize('NFC')).digest();
  return (pepper ? createHmac('sha384', pepper.value).update(input).digest() : input).toString('base64');
}
