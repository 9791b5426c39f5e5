import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { isUuid } from '../../crypto/uuid.js';
import { AuthError } from '../../errors.js';
import { withSecond } from '../../sessions/completion.js';
import type { IssuedSession } from '../../sessions/signed-in.js';
import type { User } from '../../tables/core.js';
import type { UserRecord } from '../../users/record.js';
import { type secondFactorColumns, secondFactorNotices } from './declarations.js';
import type { RecoveryCodes } from './recovery-codes.js';
import { type Enrolments, MAX_WRONG, type TotpSecrets } from './secrets.js';

/** The state of a user's second factor, without its secrets. */
export interface SecondFactorStatus {
  /** Whether codes from the authenticator app are rejected after too many wrong ones. */
  readonly isLocked: boolean;
  /** The number of unused recovery codes. */
  readonly codes: number;
}

/** Reads the state of second factors. */
export class Status {
  readonly #core: Core;
  readonly #secrets: TotpSecrets;
  readonly #codes: RecoveryCodes;

  constructor(core: Core, secrets: TotpSecrets, codes: RecoveryCodes) {
    this.#core = core;
    this.#secrets = secrets;
    this.#codes = codes;
  }

  /** Reads the state in one statement. Returns null if the user has no second factor. */
  async read(userId: string, transaction?: Transaction): Promise<SecondFactorStatus | null> {
    if (!isUuid(userId)) return null;
    const [row] = await this.#core.database.select<{ wrong: number | string; codes: number | string }>(
      `SELECT t.wrong_codes AS wrong, ${this.#codes.countSql('t.user_id')} AS codes
       FROM ${this.#secrets.row.from} WHERE t.user_id = :userId`,
      { userId },
      transaction,
    );
    return row ? { isLocked: Number(row.wrong) >= MAX_WRONG, codes: Number(row.codes) } : null;
  }
}

/** The keys of an import's rows that contain the second factor. */
const FACTOR_KEYS = ['totpSecret', 'recoveryCodes'] as const;

/** Enables, changes and disables the second factor. */
export class SecondFactorChanges {
  constructor(
    private readonly core: Core,
    private readonly secrets: TotpSecrets,
    private readonly codes: RecoveryCodes,
    private readonly enrolments: Enrolments,
  ) {}

  /** Starts an enrolment. @returns the user @throws AuthError `email_not_verified`, and like `core.change` */
  async begin(userId: string, sessionId: string, secret: string): Promise<User> {
    return this.core.change(userId, { sessionId }, async (record, transaction) => {
      this.#requireVerifiedEmail(record);
      await this.enrolments.begin(userId, sessionId, secret, transaction);
      return record.user;
    });
  }

  /**
   * Enables the second factor, or replaces its secret. The session continues with a new token, and all other sessions
   * are revoked.
   *
   * @param step the time step of the code that confirmed the secret
   * @throws AuthError `invalid_code` if the enrolment has ended in the meantime, and like {@link begin}
   */
  async enable(userId: string, sessionId: string, secret: string, step: number) {
    const { core } = this;
    return core.change(userId, { sessionId }, async (record, transaction) => {
      this.#requireVerifiedEmail(record);
      if (!(await this.enrolments.take(sessionId, transaction))) throw new AuthError('invalid_code');
      await core.notices.before(secondFactorNotices['second-factor-enabled'], record, transaction);
      const now = core.database.clock.date();
      await this.secrets.replace(userId, { secret, lastStep: step, confirmedAt: now }, transaction);
      const recoveryCodes = await this.codes.renew(userId, transaction);
      await this.setSince(userId, now, transaction);
      await this.#endAttempts(userId, transaction);
      await core.devices.forgetOthers(userId, transaction);
      const issued = await this.#keepOnly(sessionId, marked(record, now), true, transaction);
      core.events.emit('second_factor.enabled', { userId }, transaction);
      return { issued, recoveryCodes };
    });
  }

  /**
   * Disables the second factor, if it is enabled.
   *
   * @param sessionId the session that continues with a new token; null for the app's own code and for administrators,
   *   in which case all sessions are revoked
   * @throws AuthError like `core.change`
   */
  async disable(
    userId: string,
    sessionId: string | null,
    adminId: string | null = null,
  ): Promise<IssuedSession | null> {
    const { core } = this;
    return core.change(userId, { sessionId }, async (record, transaction) => {
      // What the app or an administrator says is final, even if nothing changes.
      if (sessionId === null) await core.changes.end(userId, transaction);
      if (!core.secondFactors.isOn(record.account)) return null;
      const notice = secondFactorNotices['second-factor-disabled'];
      if (sessionId === null) await core.notices.final(notice, record, transaction);
      else await core.notices.before(notice, record, transaction);
      await this.clear(userId, transaction);
      core.events.emit('second_factor.disabled', { userId, adminId }, transaction);
      if (sessionId !== null) return this.#keepOnly(sessionId, marked(record, null), false, transaction);
      await core.sessions.endAll(userId, transaction);
      return null;
    });
  }

  /** Replaces the recovery codes. @throws AuthError `totp_not_enabled`, and like `core.change` */
  async renewCodes(userId: string, sessionId: string | null): Promise<readonly string[]> {
    const { core } = this;
    const recoveryCodes = await core.change(userId, { sessionId }, async (record, transaction) => {
      if (!core.secondFactors.isOn(record.account)) throw new AuthError('totp_not_enabled');
      await core.notices.before(secondFactorNotices['recovery-codes-renewed'], record, transaction);
      await core.imported.note(userId, ['recoveryCodes'], transaction);
      return this.codes.renew(userId, transaction);
    });
    return recoveryCodes;
  }

  /** Stores the secret of another system, in place of the account's own. The user's row is locked. */
  async import(userId: string, secret: string, transaction: Transaction): Promise<void> {
    const now = this.core.database.clock.date();
    await this.secrets.replace(userId, { secret, lastStep: 0, confirmedAt: now }, transaction);
    await this.#endAttempts(userId, transaction);
    await this.setSince(userId, now, transaction);
  }

  /** Deletes everything that belongs to the second factor, except used recovery codes. The user's row is locked. */
  async clear(userId: string, transaction: Transaction): Promise<void> {
    const hadSecret = await this.secrets.delete(userId, transaction);
    await this.codes.deleteUnused(userId, transaction);
    await this.#endAttempts(userId, transaction);
    await this.#writeSince(userId, null, transaction);
    if (hadSecret) await this.core.imported.note(userId, FACTOR_KEYS, transaction);
  }

  /** Records since when the account has had this second factor. */
  async setSince(userId: string, secondFactorAt: Date, transaction: Transaction): Promise<void> {
    await this.#writeSince(userId, secondFactorAt, transaction);
    await this.core.imported.note(userId, FACTOR_KEYS, transaction);
  }

  async #writeSince(userId: string, secondFactorAt: Date | null, transaction: Transaction): Promise<void> {
    await this.core.users.setColumns<typeof secondFactorColumns>(userId, { secondFactorAt }, transaction);
  }

  /** Deletes the user's enrolments and pending sign-ins. */
  async #endAttempts(userId: string, transaction: Transaction): Promise<void> {
    await this.enrolments.deleteAll(userId, transaction);
    await this.core.pendings.endAll(userId, transaction);
  }

  /** Revokes the other sessions and renews this one. @param hasShown whether its user just entered a correct code */
  async #keepOnly(
    sessionId: string,
    { user, authEpoch }: UserRecord,
    hasShown: boolean,
    transaction: Transaction,
  ): Promise<IssuedSession> {
    const { sessions } = this.core;
    const session = hasShown ? await sessions.stillOpen(sessionId, authEpoch, transaction) : null;
    const assurance = session ? { aal: 2, amr: withSecond(session.amr, ['otp']) } : undefined;
    await sessions.endAll(user.id, transaction, sessionId);
    const options = { isFresh: hasShown, assurance };
    return sessions.renew(user, sessionId, authEpoch + 1, transaction, options);
  }

  /** @throws AuthError `email_not_verified` if the email might belong to someone else */
  #requireVerifiedEmail({ user: { email }, emailProof }: UserRecord): void {
    if (this.core.mails && email !== null && !emailProof.reaches('app'))
      throw new AuthError('email_not_verified');
  }
}

function marked(record: UserRecord, secondFactorAt: Date | null): UserRecord {
  return { ...record, user: { ...record.user, secondFactorAt } as User };
}
