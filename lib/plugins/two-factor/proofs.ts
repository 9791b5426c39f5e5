import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { digestInHex } from '../../crypto/token.js';
import { AuthError } from '../../errors.js';
import type { FactorMethod } from '../../sessions/second-factor.js';
import { type Assurance, type IssuedSession, isPending } from '../../sessions/signed-in.js';
import type { User } from '../../tables/core.js';
import type { UserRecord } from '../../users/record.js';
import { secondFactorNotices, type TotpSecretRow } from './declarations.js';
import type { FoundPending, PendingSignIns } from './pending-sign-ins.js';
import { hashOf, type RecoveryCodes } from './recovery-codes.js';
import { MAX_WRONG, type TotpSecrets } from './secrets.js';

/**
 * Counts the attempts to give an account's second factor: all of them together, whatever they are for and whichever way they
 * are given, so that nobody gets more guesses by starting again. Only a right one clears the count.
 */
export class CodeAttempts {
  readonly #core: Core;
  readonly #secrets: TotpSecrets;

  constructor(core: Core, secrets: TotpSecrets) {
    this.#core = core;
    this.#secrets = secrets;
  }

  /**
   * Counts an attempt before anything is looked at.
   *
   * @param look throws `invalid_code`, or what a passkey throws, if it was wrong
   * @param guards whether wrong codes could guess the confirmed secret
   * @throws AuthError `rate_limited`, and what `look` throws
   */
  async attempt<T>(user: User, look: () => Promise<T>, guards = true): Promise<T> {
    const { limiter, events } = this.#core;
    const counter = `code ${user.id}`;
    const refused = await limiter.reserveAttempt(counter);
    if (refused) {
      if (refused.isFirst) events.emit('sign_in.throttled', { userId: user.id });
      throw refused.error;
    }
    const outcome = await this.#look(user, counter, look, guards);
    await this.#clear(counter);
    return outcome;
  }

  /** It is done, so an error here must not fail the call. */
  async #clear(counter: string): Promise<void> {
    try {
      await this.#core.limiter.clearFailures(counter);
    } catch (error) {
      this.#core.settings.logger.warn('latchkey: wrong codes could not be cleared', error);
    }
  }

  async #look<T>(user: User, counter: string, look: () => Promise<T>, guards: boolean): Promise<T> {
    try {
      return await look();
    } catch (error) {
      if (isWrong(error)) await this.#countWrong(user, guards && error.code === 'invalid_code');
      // It was right, but the sign-in is refused: the account is suspended, for example.
      else if (error instanceof AuthError && error.status < 500) await this.#core.limiter.giveBack(counter);
      throw error;
    }
  }

  async #countWrong(user: User, isGuess: boolean): Promise<void> {
    const { events, notices } = this.#core;
    const isWarned = isGuess && (await this.#secrets.countWrong(user.id));
    if (isWarned) await notices.plain(secondFactorNotices['second-factor-attempts'], user);
    events.emit('sign_in.failed', { userId: user.id });
  }
}

/** The plugin that has passkeys declares its own. */
const WRONG: ReadonlySet<string> = new Set(['invalid_code', 'invalid_passkey']);

function isWrong(error: unknown): error is AuthError {
  return error instanceof AuthError && WRONG.has(error.code);
}

/** A second factor as it was given. */
export interface GivenFactor {
  /** `totp`, `recovery_code`, or a way of another plugin, such as `passkey`. */
  readonly method: string;
  readonly code?: string | undefined;
  readonly response?: unknown;
}

/** Completes sign-ins with the second factor. */
export class Completion {
  constructor(
    private readonly core: Core,
    private readonly pendings: PendingSignIns,
    private readonly proofs: Proofs,
    private readonly attempts: CodeAttempts,
  ) {}

  /** @throws AuthError `sign_in_expired`, `invalid_code`, `rate_limited`, and what checks of the account throw */
  async complete(token: string, given: GivenFactor): Promise<IssuedSession> {
    const { method, code = '' } = given;
    const found = await this.pendings.find(token, method === 'recovery_code' ? hashOf(code) : null);
    const { issued, complete } = await this.attempts.attempt(found.record.user, async () =>
      this.#signIn(found, await this.#look(found, given)),
    );
    await complete();
    return issued;
  }

  #look(
    found: FoundPending,
    { method, code = '', response }: GivenFactor,
  ): Promise<RightFactor> | RightFactor {
    if (method === 'totp') return this.proofs.totp(found.totp, code);
    if (method === 'recovery_code')
      return this.proofs.recoveryCode(found.record.user, code, found.hasCode, found.totp?.wrongCodes ?? 0);
    const other = this.proofs.methods.find(({ name }) => name === method);
    if (!other) throw new AuthError('invalid_code');
    return this.proofs.other(other, found, response);
  }

  /** Uses up the second factor and the pending sign-in, and begins the session: all of it or nothing. */
  async #signIn(found: FoundPending, factor: RightFactor) {
    const { record, row } = found;
    const proof = {
      ...record,
      authEpoch: row.authEpoch,
      amr: withSecond(row.amr, factor.amr),
      aal: 2 as const,
      attempts: row.attempts,
    };
    const checked = await this.core.checkSignIn(proof, { remembered: row.remembered });
    const issued = await this.core.database.transaction(async (transaction) => {
      // First, since it locks the user's row as everything does that could wait for the others.
      const signedIn = await checked.begin(proof, transaction);
      if (isPending(signedIn)) throw new TypeError('a second factor needs no other');
      if (!(await this.pendings.use(found, transaction))) throw new AuthError('sign_in_expired');
      if (!(await factor.use(transaction))) throw new AuthError('invalid_code');
      return signedIn;
    });
    return { issued, complete: () => checked.complete(issued) };
  }
}

/** A second factor that was right when it was looked at. */
export interface RightFactor extends Assurance {
  /** Uses it up. Of several concurrent calls, one succeeds. @returns whether this one did */
  use(transaction?: Transaction): Promise<boolean>;
}

const LOCKED = {
  detail:
    'After too many wrong codes, those of the app are not accepted. Use a recovery code or a passkey, or ask the people who run this service.',
};

/** Looks at second factors, and says how to use them up. */
export class Proofs {
  readonly #core: Core;
  readonly #secrets: TotpSecrets;
  readonly #codes: RecoveryCodes;

  constructor(core: Core, secrets: TotpSecrets, codes: RecoveryCodes) {
    this.#core = core;
    this.#secrets = secrets;
    this.#codes = codes;
  }

  /** The ways that other plugins have to give a second factor. */
  get methods(): readonly FactorMethod[] {
    return this.#core.contributions.flatMap(({ factorMethods = [] }) => factorMethods);
  }

  /** @throws AuthError `invalid_code` */
  async totp(row: TotpSecretRow | null, code: string): Promise<RightFactor> {
    if (!row) throw new AuthError('invalid_code');
    if (row.wrongCodes >= MAX_WRONG) throw new AuthError('invalid_code', LOCKED);
    const step = await this.#secrets.check(row, code);
    if (step === null) throw new AuthError('invalid_code');
    return { aal: 2, amr: ['otp'], use: (transaction) => this.#secrets.take(row.userId, step, transaction) };
  }

  /**
   * @param isThere whether the user has the code
   * @param wrongCodes those to forget
   * @throws AuthError `invalid_code`
   */
  recoveryCode(user: User, code: string, isThere: boolean, wrongCodes: number): RightFactor {
    if (!isThere) throw new AuthError('invalid_code');
    return {
      aal: 2,
      amr: ['otp'],
      use: (transaction) => {
        const use = (within: Transaction) => this.#useRecoveryCode(user, code, wrongCodes, within);
        return transaction ? use(transaction) : this.#core.database.transaction(use);
      },
    };
  }

  /** Like {@link recoveryCode}, and looks the code up. */
  async ownRecoveryCode({ user }: UserRecord, code: string): Promise<RightFactor> {
    return this.recoveryCode(user, code, await this.#codes.has(user.id, hashOf(code)), 1);
  }

  /** A way of another plugin. @throws AuthError if it does not verify */
  async other(
    method: FactorMethod,
    { record, totp, token }: FoundPending,
    given: unknown,
  ): Promise<RightFactor> {
    const assurance = await method.verify(record, given, challengerOf(token));
    const use = async (transaction?: Transaction) => {
      if (totp && totp.wrongCodes > 0) await this.#secrets.forgive(totp.userId, transaction);
      return true;
    };
    return { ...assurance, use };
  }

  async #useRecoveryCode(
    user: User,
    code: string,
    wrongCodes: number,
    transaction: Transaction,
  ): Promise<boolean> {
    const isUsed = await this.#codes.use(user.id, hashOf(code), transaction);
    if (!isUsed) return false;
    if (wrongCodes > 0) await this.#secrets.forgive(user.id, transaction);
    await this.#core.notices.mark(secondFactorNotices['recovery-code-used'], user, transaction);
    this.#core.events.emit('recovery_code.used', { userId: user.id }, transaction);
    return true;
  }
}

/** Identifies a pending sign-in to the plugins that make challenges for it, without being its token. */
export function challengerOf(token: string): string {
  return digestInHex(token);
}

/** How a user has authenticated by all that they have given. */
export function withSecond(first: readonly string[], second: readonly string[]): readonly string[] {
  return [...new Set([...first, ...second, 'mfa'])];
}
