import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type { Notices } from '../notices/notices.js';
import type { Events } from '../outbox/events.js';
import { say } from '../phrases.js';
import type { Digest } from '../tables/column.js';
import type { User } from '../tables/core.js';
import type { TotpSecretRow } from '../tables/factors.js';
import { secondFactorNotices } from './declarations.js';
import { refusalReasonOf } from './passkeys.js';
import type { RecoveryCodes } from './recovery-codes.js';
import { MAX_WRONG, type TotpSecrets } from './totp.js';

/** What {@link Attempts} and {@link CodeChecks} need. */
export interface AttemptsNeeds {
  readonly database: Database;
  readonly settings: Settings;
  readonly limiter: Limiter;
  readonly events: Events;
  readonly notices: Notices;
}

/** A factor that completes a sign-in, and was correct when it was checked. With `aal` 2, it is a second factor. */
export interface RightFactor {
  /** The authenticator assurance level (NIST SP 800-63B-4): 2 with two factors. */
  readonly aal: number;
  /** How the user authenticated (RFC 8176). */
  readonly amr: readonly string[];
  /** Consumes the factor. Only one of several concurrent calls succeeds. @returns whether this call succeeded */
  use(transaction?: Transaction): Promise<boolean>;
}

/** How an attempt to provide a second factor counts. */
interface AttemptRules {
  /**
   * Whether the factor can be guessed, so that wrong ones count for the account. Wrong factors that cannot be guessed
   * count only for the client's address, so that no one can keep the owner from using them.
   * @default true
   */
  readonly isGuessable?: boolean;
  /** Whether wrong codes are guesses at the confirmed secret. @default true */
  readonly isOfConfirmed?: boolean;
  /** Whether a correct factor clears the count, and not only the attempt itself. @default true */
  readonly clears?: boolean;
}

/**
 * Counts the attempts to provide an account's second factor. All purposes share one count, so that an attacker does not
 * get more guesses by starting again. Only a correct factor clears the count.
 */
export class Attempts {
  readonly #core: AttemptsNeeds;
  readonly #secrets: TotpSecrets;

  constructor(core: AttemptsNeeds, secrets: TotpSecrets) {
    this.#core = core;
    this.#secrets = secrets;
  }

  /**
   * Counts an attempt before the factor is checked.
   *
   * @param work checks the factor and does what it is for, such as creating the session. Throws `invalid_code` or a
   *   passkey's error if the factor is wrong
   * @throws AuthError `rate_limited`, and what `work` throws
   */
  async attempt<T>(
    user: User,
    work: () => Promise<T>,
    { isGuessable = true, isOfConfirmed = true, clears = true }: AttemptRules = {},
  ): Promise<T> {
    const { limiter } = this.#core;
    const counter = `code ${user.id}`;
    if (isGuessable) await this.#reserve(user, counter);
    else await limiter.countAddress('signIn');
    const outcome = await this.#run(user, isGuessable ? counter : null, work, isOfConfirmed);
    if (clears) await this.#clear(counter);
    else if (isGuessable) await this.#giveBack(counter);
    return outcome;
  }

  async #reserve(user: User, counter: string): Promise<void> {
    const { limiter, events } = this.#core;
    const refused = await limiter.reserveAttempt(counter);
    if (!refused) return;
    if (refused.isFirst) events.emit('sign_in.throttled', { userId: user.id });
    throw refused.error;
  }

  /** Gives an attempt back. It has succeeded, so an error here must not fail the call. */
  async #giveBack(counter: string): Promise<void> {
    try {
      await this.#core.limiter.giveBack(counter);
    } catch (error) {
      this.#core.settings.log.warn('limits.not_cleared', 'a right code could not be given back', {
        err: error,
      });
    }
  }

  /** Clears the count. The attempt has succeeded, so an error here must not fail the call. */
  async #clear(counter: string): Promise<void> {
    try {
      await this.#core.limiter.clearFailures(counter);
    } catch (error) {
      this.#core.settings.log.warn('limits.not_cleared', 'wrong codes could not be cleared', { err: error });
    }
  }

  /** @param counter null if the factor cannot be guessed */
  async #run<T>(
    user: User,
    counter: string | null,
    work: () => Promise<T>,
    isOfConfirmed: boolean,
  ): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isWrong(error)) await this.#countWrong(user, error, isOfConfirmed && counter !== null);
      // The factor was correct, but the sign-in is rejected, for example because the account is suspended.
      else if (counter !== null && error instanceof AuthError && error.status < 500)
        await this.#core.limiter.giveBack(counter);
      throw error;
    }
  }

  async #countWrong(user: User, error: AuthError, isGuess: boolean): Promise<void> {
    const { events, notices } = this.#core;
    const isWarned = isGuess && (await this.#secrets.countWrong(user.id));
    if (isWarned) await notices.plain(secondFactorNotices['second-factor-attempts'], user);
    events.emit('sign_in.failed', { userId: user.id, ...refusalReasonOf(error) });
  }
}

/** The codes of a wrong factor. `invalid_passkey` is declared by passkeys(). */
const WRONG: ReadonlySet<string> = new Set(['invalid_code', 'invalid_passkey']);

function isWrong(error: unknown): error is AuthError {
  return error instanceof AuthError && WRONG.has(error.code);
}

/** Checks second factors, and returns functions that consume them. */
export class CodeChecks {
  readonly #core: AttemptsNeeds;
  readonly #secrets: TotpSecrets;
  readonly #codes: RecoveryCodes;

  constructor(core: AttemptsNeeds, secrets: TotpSecrets, codes: RecoveryCodes) {
    this.#core = core;
    this.#secrets = secrets;
    this.#codes = codes;
  }

  /** @throws AuthError `invalid_code` */
  async totp(row: TotpSecretRow | null, code: string): Promise<RightFactor> {
    if (!row) throw new AuthError('invalid_code');
    if (row.wrongCodes >= MAX_WRONG) throw new AuthError('invalid_code', { detail: say('totp-locked') });
    const step = await this.#secrets.check(row, code);
    if (step === null) throw new AuthError('invalid_code');
    return { aal: 2, amr: ['otp'], use: (transaction) => this.#secrets.take(row.userId, step, transaction) };
  }

  /**
   * @param wrongCodes the number of wrong codes so far, which using the recovery code resets
   * @throws AuthError `invalid_code`
   */
  async recoveryCode(user: User, code: string, wrongCodes: number): Promise<RightFactor> {
    const hash = await this.#codes.find(user.id, code);
    if (!hash) throw new AuthError('invalid_code');
    return {
      aal: 2,
      amr: ['otp'],
      use: (transaction) => {
        const use = (within: Transaction) => this.#useRecoveryCode(user, hash, wrongCodes, within);
        return transaction ? use(transaction) : this.#core.database.transaction(use);
      },
    };
  }

  async #useRecoveryCode(
    user: User,
    codeHash: Digest,
    wrongCodes: number,
    transaction: Transaction,
  ): Promise<boolean> {
    const isUsed = await this.#codes.use(user.id, codeHash, transaction);
    if (!isUsed) return false;
    if (wrongCodes > 0) await this.#secrets.forgive(user.id, transaction);
    await this.#core.notices.event(secondFactorNotices['recovery-code-used'], user, transaction);
    this.#core.events.emit('recovery_code.used', { userId: user.id }, transaction);
    return true;
  }
}
