import { createHmac, hash } from 'node:crypto';
import type { HashOperation, Telemetry } from '../telemetry.js';
import { performance, sleep } from '../timers.js';
import { FailureWork, type Kind, Recent } from './failure-work.js';
import { type ForeignHash, readForeignHash } from './foreign-hash.js';
import { queueHash, waitingHashes } from './hash-queue.js';
import { type OwnHash, readOwnHash } from './own-hash.js';

// This public constant makes the input differ from a plain SHA-384, so that digests leaked elsewhere cannot be tested
// against these hashes ("password shucking"). The config's secret is not used, because rotating it would invalidate all
// passwords.
const LABEL = 'latchkey password v1';

/** A stored hash of latchkey's own: the scheme, the id of the pepper, and the hash in the format of its function. */
const OWN = /^(\$\w+-hmac-sha384)(?:\$p=([\w-]{8}))?(\$\w+\$.+)$/;

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

/**
 * Hashes passwords with the function of the config over HMAC-SHA-384, because bcrypt alone truncates its input at 72
 * bytes or a NUL.
 */
export class PasswordHasher {
  /** The function of the config. */
  readonly own: OwnHash;
  readonly #clientOf: () => string;
  readonly #readForeign: (stored: string) => ForeignHash | null;
  readonly #telemetry: Telemetry | null;
  readonly #peppers: readonly Pepper[];
  readonly #work: FailureWork;
  /** Verifies no password, with the work of the configured function. */
  readonly #decoy: Verifier;
  readonly #durations = new Recent();
  #measuring: Promise<unknown> | undefined;

  constructor(
    own: OwnHash,
    {
      peppers = [],
      clientOf = () => '',
      readForeign = readForeignHash,
      telemetry = null,
    }: HasherOptions = {},
  ) {
    this.own = own;
    this.#clientOf = clientOf;
    this.#readForeign = readForeign;
    this.#telemetry = telemetry;
    this.#peppers = peppers.map((value) => ({
      id: hash('sha256', `pepper ${value}`, 'base64url').slice(0, 8),
      value,
    }));
    this.#decoy = this.#newDecoy();
    this.#work = new FailureWork(this.#decoy.kind, own.bcryptCost);
  }

  /** Returns the string to store: the scheme, and the function's parameters, salt and hash. */
  async hash(password: string): Promise<string> {
    const [pepper] = this.#peppers;
    return this.#stored(await this.#queue('hash', () => this.own.create(prehash(password, pepper))));
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

  /**
   * Learns the cost of verifying these hashes and new ones, so that the first verification of a costly one does not
   * stand out.
   */
  async learn(hashes: readonly string[]): Promise<void> {
    const verifiers = [this.#decoy, ...hashes.flatMap((stored) => this.#verifierOf(stored) ?? [])];
    const kinds = new Map(verifiers.map((one) => [JSON.stringify(one.kind), one]));
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
    const verifier = this.#verifierOf(stored ?? '') ?? this.#decoy;
    const matches = await this.#work.verify(verifier.kind, () => verifier.verify(password));
    return { matches, outdated: matches && verifier.isOutdated };
  }

  /** Returns how to verify a stored hash, or null if the hash is not valid. */
  #verifierOf(stored: string): Verifier | null {
    const parsed = OWN.exec(stored);
    if (!parsed) {
      const foreign = this.#readForeign(stored);
      if (!foreign || foreign.isTooCostly) return null;
      return { kind: foreign.kind, isOutdated: true, verify: (password) => foreign.verify(password) };
    }
    const [, scheme = '', pepperId, hash = ''] = parsed;
    const own = readOwnHash(scheme, hash);
    if (!own) return null;
    const pepper = this.#peppers.find(({ id }) => id === pepperId);
    // A hash whose pepper is missing cannot match, but its verification must take the same time.
    const isLost = pepperId !== undefined && !pepper;
    const isCurrent = this.own.isMetBy(hash) && pepper === this.#peppers[0];
    return {
      kind: own.kind,
      isOutdated: !isCurrent,
      verify: async (password) => (await own.verify(prehash(password, pepper))) && !isLost,
    };
  }

  #newDecoy(): Verifier {
    const { kind, verify } = this.#verifierOf(this.#stored(this.own.decoy)) as Verifier;
    return {
      kind,
      isOutdated: false,
      async verify(password) {
        await verify(password);
        return false;
      },
    };
  }

  #stored(hash: string): string {
    const [pepper] = this.#peppers;
    return `${this.own.scheme}${pepper ? `$p=${pepper.id}` : ''}${hash}`;
  }
}

function prehash(password: string, pepper: Pepper | undefined): string {
  const input = createHmac('sha384', LABEL).update(password.normalize('NFC')).digest();
  return (pepper ? createHmac('sha384', pepper.value).update(input).digest() : input).toString('base64');
}
