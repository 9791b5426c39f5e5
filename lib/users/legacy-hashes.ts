import { withTimeout } from '../context/deadline.js';
import {
  type ForeignHash,
  loadArgon2,
  MAX_HASH_CHARACTERS,
  needsArgon2,
  readForeignHash,
} from '../crypto/foreign-hash.js';
import { type AuthError, invalidField } from '../errors.js';
import type { Log } from '../logger.js';
import type { LegacyVerifier, LegacyVerifiers } from './imported.js';

const TAGGED = /^\$legacy\$([a-z][a-z0-9_-]{0,31})\$(.+)$/s;
const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
// The time that the most expensive accepted hashes take.
const VERIFY_MS = 5000;

/**
 * Hashes in formats that only the app can verify. They are stored as `$legacy$<name>$<hash>`, so that each hash is
 * verified only by the function of its scheme. Another function might misread it.
 */
export class LegacyHashes {
  readonly #verifiers: Map<string, LegacyVerifier>;
  readonly #reported = new Set<string>();

  constructor(
    private readonly configured: LegacyVerifiers,
    /** The owner of the option, for the log. */
    private readonly owner: string,
    private readonly log: Log,
  ) {
    this.#verifiers = new Map(Object.entries(configured));
  }

  /** Parses a stored hash of another system. Null if no function can verify it. */
  readonly read = (stored: string): ForeignHash | null => {
    const [, name, hash = ''] = TAGGED.exec(stored) ?? [];
    if (name === undefined) return readForeignHash(stored);
    const verifier = this.#verifiers.get(name);
    if (!verifier) {
      this.#report(
        name,
        `a password cannot be verified: add ${name} to verifyLegacy of ${this.owner}, as in the import`,
      );
      return null;
    }
    return {
      kind: { parameters: `legacy ${name}` },
      isTooCostly: false,
      verify: (password) => this.#verify(name, () => verifier(password, hash)),
    };
  };

  /**
   * Adds the verifiers of an import, for the rest of the process.
   *
   * @throws TypeError if a name is invalid or belongs to another function, or if a verifier is not a function
   */
  add(given: LegacyVerifiers): void {
    for (const [name, verifier] of Object.entries(checkVerifiers(given, 'auth.movingIn.importUsers'))) {
      const known = this.#verifiers.get(name);
      if (known && known !== verifier)
        throw new TypeError(
          `latchkey: auth.movingIn.importUsers: verifyLegacy.${name} differs from the function with this name: pass the function of the config`,
        );
      this.#verifiers.set(name, verifier);
      if (!Object.hasOwn(this.configured, name))
        this.#report(
          name,
          `passwords imported with verifyLegacy.${name} cannot be verified by other processes: add it to ${this.owner}`,
        );
    }
  }

  /**
   * Returns a hash from another system in its stored form. A hash in an unknown format is assigned to the only scheme,
   * if there is exactly one.
   *
   * @param offered the schemes of the import, if it has any
   * @throws AuthError `validation_failed` if the hash cannot be used
   */
  async check(given: unknown, offered: LegacyVerifiers | undefined): Promise<string> {
    if (typeof given !== 'string') throw unusable('unknown_hash', UNKNOWN);
    const hash = this.#tagged(given, offered);
    if (needsArgon2(hash)) await loadArgon2();
    if (hash.length > MAX_HASH_CHARACTERS)
      throw unusable('hash_too_long', `has more than ${MAX_HASH_CHARACTERS} characters`);
    const foreign = this.read(hash);
    if (!foreign) throw unusable('unknown_hash', UNKNOWN);
    if (foreign.isTooCostly)
      throw unusable('hash_too_costly', 'has a cost that would make every failed sign-in take many seconds');
    return hash;
  }

  #tagged(given: string, offered: LegacyVerifiers | undefined): string {
    if (TAGGED.test(given) || readForeignHash(given)) return given;
    const names = offered ? Object.keys(offered) : [...this.#verifiers.keys()];
    return names.length === 1 ? `$legacy$${names[0]}$${given}` : given;
  }

  async #verify(name: string, verify: () => boolean | Promise<boolean>): Promise<boolean> {
    try {
      const answer = await withTimeout(
        Promise.resolve().then(verify),
        VERIFY_MS,
        () => new Error('too slow'),
      );
      return answer === true;
    } catch (error) {
      // The error's message is not logged, because it could contain the password.
      const what = error instanceof Error && error.message === 'too slow' ? 'took too long' : 'threw';
      this.log.error(
        'legacy_hash.check_failed',
        `verifyLegacy.${name} ${what}, so the password was rejected`,
        { cause: `${name} ${what}` },
      );
      return false;
    }
  }

  #report(name: string, what: string): void {
    if (this.#reported.has(name)) return;
    this.#reported.add(name);
    this.log.warn('legacy_hash.no_verifier', what, { cause: null });
  }
}

const UNKNOWN =
  'must be a bcrypt, argon2id, scrypt or PBKDF2 hash in a supported format, or null for an account without a password';

function unusable(code: string, detail: string): AuthError {
  return invalidField('/password_hash', code, detail);
}

/** Checks that an option contains verifiers. @throws TypeError if it does not */
export function checkVerifiers(given: unknown, of: string): LegacyVerifiers {
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`latchkey: ${of}: verifyLegacy must be an object of functions, by name`);
  for (const [name, verifier] of Object.entries(given)) {
    if (!NAME.test(name))
      throw new TypeError(
        `latchkey: ${of}: verifyLegacy.${name}: a name must have 1 to 32 characters of a-z, digits, _ and -, and start with a letter`,
      );
    if (typeof verifier !== 'function')
      throw new TypeError(
        `latchkey: ${of}: verifyLegacy.${name} must be a function (password, stored) => boolean`,
      );
  }
  return given as LegacyVerifiers;
}
