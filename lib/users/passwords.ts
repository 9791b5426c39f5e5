import type { Settings } from '../config/config.js';
import type { CallContext } from '../context/call.js';
import { type Argon2Parameters, argon2idHash, bcryptHash } from '../crypto/own-hash.js';
import { PasswordHasher } from '../crypto/password.js';
import type { Limiter } from '../limits/limiter.js';
import type { LegacyVerifiers } from './imported.js';
import { LegacyHashes } from './legacy-hashes.js';
import { type BreachCheck, type PasswordRuleSettings, PasswordRules } from './password-rules.js';
import type { UsernameRules } from './usernames.js';

/** How passwords are hashed, and the rules for new ones. */
export interface PasswordSettings {
  readonly hash: 'bcrypt' | 'argon2id';
  /** The cost if `hash` is bcrypt. */
  readonly bcryptCost: number;
  /** The parameters if `hash` is argon2id. */
  readonly argon2: Argon2Parameters;
  /** Secrets that are mixed into hashes. New hashes use the first one, and all of them can verify hashes. */
  readonly pepper: readonly string[];
  readonly passwordRules: PasswordRuleSettings;
  readonly isBreached?: BreachCheck | undefined;
  readonly onBreachCheckFailure: 'accept' | 'refuse';
  /** Verifies hashes of previous systems. */
  readonly verifyLegacy: LegacyVerifiers;
  /** The owner of these options, for the log. */
  readonly owner: string;
}

/** What {@link Passwords} need. */
export interface PasswordsNeeds {
  readonly context: CallContext;
  readonly settings: Settings;
  readonly limiter: Limiter;
  readonly usernames: UsernameRules | null;
}

/** Checks and hashes passwords. */
export class Passwords {
  readonly hasher: PasswordHasher;
  readonly rules: PasswordRules;
  readonly #legacy: LegacyHashes;

  constructor(core: PasswordsNeeds, options: PasswordSettings) {
    const { context, limiter } = core;
    const { log, telemetry } = core.settings;
    const { argon2, bcryptCost, hash, isBreached, onBreachCheckFailure, passwordRules } = options;
    this.#legacy = new LegacyHashes(options.verifyLegacy, options.owner, log);
    const own = hash === 'argon2id' ? argon2idHash(argon2) : bcryptHash(bcryptCost);
    this.hasher = new PasswordHasher(own, {
      peppers: options.pepper,
      clientOf: () => limiter.client,
      readForeign: this.#legacy.read,
      telemetry,
    });
    this.load().catch((error) => {
      log.error('password_hash.not_loaded', 'passwords cannot be hashed or verified', { err: error });
    });
    // The breach check is the app's own code, which can call latchkey itself, so it runs outside the current call.
    const breach = isBreached && {
      check: (password: string) => context.detached(() => isBreached(password)),
      onFailure: onBreachCheckFailure,
    };
    this.rules = new PasswordRules(passwordRules, breach, core.usernames, log);
  }

  /** Loads the package that the hashes need. @throws Error naming the package to install */
  async load(): Promise<void> {
    await this.hasher.own.load();
  }

  /** The minimum number of characters of a new password. */
  get minLength(): number {
    return this.rules.minLength;
  }

  /** Returns whether a password matches a hash. This neither counts attempts nor rewrites the hash. */
  async matches(hash: string | null, password: string): Promise<boolean> {
    return (await this.hasher.verify(password, hash)).matches;
  }

  /**
   * Hashes a password that the app's code passes.
   *
   * @param identifiers the user's email and username, which the password must not equal
   * @throws AuthError `validation_failed`
   */
  async hashGiven(
    password: string,
    identifiers: readonly (string | null)[],
    skipRules: boolean,
  ): Promise<string> {
    await this.rules.checkGiven(password, identifiers, skipRules);
    return this.hasher.hash(password);
  }

  /**
   * Checks a hash from a previous system.
   *
   * @param offered the schemes of an import: see {@link useLegacy}
   * @returns the hash to store
   * @throws AuthError `validation_failed`
   */
  checkHash(given: unknown, offered?: LegacyVerifiers): Promise<string> {
    return this.#legacy.check(given, offered);
  }

  /** Adds verifiers for previous systems' hashes, for the rest of the process. @throws TypeError if they are invalid */
  useLegacy(verifiers: LegacyVerifiers): void {
    this.#legacy.add(verifiers);
  }
}
