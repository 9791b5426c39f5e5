import { createHmac, hash } from 'node:crypto';
import type { HashOperation, Telemetry } from '../telemetry.js';
import { performance, sleep } from '../timers.js';
import { bcrypt, FailureWork, type Kind, Recent } from './failure-work.js';
import { type ForeignHash, readForeignHash } from './foreign-hash.js';
import { queueHash, waitingHashes } from './hash-queue.js';

const SCHEME = '$bcrypt-hmac-sha384';

// This public constant makes the input differ from a plain SHA-384, so that digests leaked elsewhere cannot be tested
// against these hashes ("password shucking"). The config's secret is not used, because rotating it would invalidate all
// passwords.
const LABEL = 'latchkey password v1';

const BCRYPT_HMAC = /^\$bcrypt-hmac-sha384(?:\$p=([\w-]{8}))?(\$2b\$(\d\d)\$[./A-Za-z0-9]{53})$/;

// The maximum number of kinds that are measured in advance. Each of them costs a verification.
const MAX_LEARNED = 4;

/** The result of a verification. */
export interface PasswordVerdict {
  readonly matches: boolean;
  /** Whether the hash matches, but should be replaced because its scheme, cost or pepper is not the current one. */
  readonly outdated: boolean;
}

interface Verifier {
  readonly kind: Kind;
  readonly isOutdated: boolean;
  verify(password: string): Promise<boolean>;
}

interface Pepper {
  /** Identifies the pepper of a hash without revealing it. */
  readonly id: string;
  readonly value: string;
}

interface HasherOptions {
  /** Secrets that are kept out of the database: the first one hashes, all of them verify. @default [] */
  readonly peppers?: readonly string[];
  /** Returns the client that the current call is for, because clients take turns in the queue. @default one client */
  readonly clientOf?: () => string;
  /** Parses the hashes of other systems. @default {@link readForeignHash} */
  readonly readForeign?: (stored: string) => ForeignHash | null;
  /** Null if it is not enabled. @default null */
  readonly telemetry?: Telemetry | null;
}

/** Hashes passwords with bcrypt over HMAC-SHA-384, because bcrypt alone truncates its input at 72 bytes or a NUL. */
export class PasswordHasher {
  readonly #cost: number;
  readonly #clientOf: () => string;
  readonly #readForeign: (stored: string) => ForeignHash | null;
  readonly #telemetry: Telemetry | null;
  readonly #peppers: readonly Pepper[];
  readonly #work: FailureWork;
  readonly #durations = new Recent();
  #measuring: Promise<unknown> | undefined;

  constructor(
    cost: number,
    {
      peppers = [],
      clientOf = () => '',
      readForeign = readForeignHash,
      telemetry = null,
    }: HasherOptions = {},
  ) {
    this.#cost = cost;
    this.#clientOf = clientOf;
    this.#readForeign = readForeign;
    this.#telemetry = telemetry;
    this.#work = new FailureWork(cost);
    this.#peppers = peppers.map((value) => ({
      id: hash('sha256', `pepper ${value}`, 'base64url').slice(0, 8),
      value,
    }));
  }

  /** Returns the string to store: the scheme, and bcrypt's parameters, salt and hash. */
  async hash(password: string): Promise<string> {
    const [pepper] = this.#peppers;
    const { hash } = await bcrypt();
    const bcryptHash = await this.#queue('hash', () => hash(prehash(password, pepper), this.#cost));
    return `${SCHEME}${pepper ? `$p=${pepper.id}` : ''}${bcryptHash}`;
  }

  /**
   * Verifies a password against a stored hash, or against null if no hash exists. Every failure takes the same time, so
   * that the time reveals neither whether a hash exists nor how it was created: see {@link FailureWork}.
   */
  async verify(password: string, stored: string | null): Promise<PasswordVerdict> {
    const started = performance.now();
    const verdict = await this.#queue('verify', () => this.#compare(password, stored));
    if (!verdict.matches) this.#durations.add(performance.now() - started);
    return verdict;
  }

  /** Waits as long as a failed verification takes, without using the CPU, for an account that is paused. */
  async pretend(): Promise<void> {
    const typical = this.#durations.median;
    if (typical !== undefined) return sleep(typical);
    // Until a duration is known, all callers share one verification, so that they cannot fill the queue.
    this.#measuring ??= this.verify('', null);
    await this.#measuring;
  }

  /** Learns the cost of verifying these hashes, so that the first verification of a costly one does not stand out. */
  async learn(hashes: readonly string[]): Promise<void> {
    const kinds = new Map(
      hashes.flatMap((stored) => {
        const known = this.#verifierOf(stored);
        return known ? [[JSON.stringify(known.kind), known] as const] : [];
      }),
    );
    const measured = [...kinds.values()].filter(({ kind }) => 'parameters' in kind);
    for (const one of kinds.values()) {
      if (measured.indexOf(one) >= MAX_LEARNED) continue;
      // If a hash cannot be verified, its cost stays unknown.
      await queueHash(() => this.#work.learn(one.kind, () => one.verify('')), this.#clientOf()).catch(
        () => undefined,
      );
    }
  }

  #queue<T>(operation: HashOperation, work: () => Promise<T>): Promise<T> {
    const telemetry = this.#telemetry;
    if (!telemetry) return queueHash(work, this.#clientOf());
    telemetry.queued(waitingHashes());
    return queueHash(() => telemetry.hash(operation, work), this.#clientOf());
  }

  async #compare(password: string, stored: string | null): Promise<PasswordVerdict> {
    const verifier = this.#verifierOf(stored ?? '');
    if (!verifier) {
      await this.#work.fill();
      return { matches: false, outdated: false };
    }
    const matches = await this.#work.verify(verifier.kind, () => verifier.verify(password));
    return { matches, outdated: matches && verifier.isOutdated };
  }

  /** Returns how to verify a stored hash, or null if the hash is not valid. */
  #verifierOf(stored: string): Verifier | null {
    const parsed = BCRYPT_HMAC.exec(stored);
    if (!parsed) {
      const foreign = this.#readForeign(stored);
      if (!foreign || foreign.isTooCostly) return null;
      return { kind: foreign.kind, isOutdated: true, verify: (password) => foreign.verify(password) };
    }
    const [, pepperId, bcryptHash = '', digits] = parsed;
    const pepper = this.#peppers.find(({ id }) => id === pepperId);
    // A hash whose pepper is missing cannot match, but its verification must take the same time.
    const isLost = pepperId !== undefined && !pepper;
    const cost = Number(digits);
    return {
      kind: { cost },
      isOutdated: cost < this.#cost || pepper !== this.#peppers[0],
      verify: async (password) => {
        const { compare } = await bcrypt();
        return (await compare(prehash(password, pepper), bcryptHash)) && !isLost;
      },
    };
  }
}

function prehash(password: string, pepper: Pepper | undefined): string {
  const input = createHmac('sha384', LABEL).update(password.normalize('NFC')).digest();
  return (pepper ? createHmac('sha384', pepper.value).update(input).digest() : input).toString('base64');
}
