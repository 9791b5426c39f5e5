import type { Transaction } from 'sequelize';
import type { FactorMethod } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { digestInHex } from '../../crypto/token.js';
import { AuthError } from '../../errors.js';
import type { Assurance } from '../../sessions/assurance.js';
import type { User } from '../../tables/user.js';
import type { UserRecord } from '../../users/user-record.js';
import { codeUsedMail } from './mails.js';
import type { TotpSecretRow } from './model.js';
import type { FoundPending } from './pending-sign-ins.js';
import { hashOf, type RecoveryCodes } from './recovery-codes.js';
import { MAX_WRONG, type TotpSecrets } from './secrets.js';

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
    await this.#core.notices.mark(codeUsedMail, user, transaction);
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
