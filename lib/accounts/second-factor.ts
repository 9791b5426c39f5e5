import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { type Factor, factorNotices, secondFactorNotices } from '../factors/declarations.js';
import type { Factors } from '../factors/factors.js';
import type { PasskeyStore } from '../factors/passkeys.js';
import type { NewCodes } from '../factors/recovery-codes.js';
import { sinceOf, usesPasskeys } from '../factors/status.js';
import { say } from '../phrases.js';
import { withSecond } from '../sessions/completion.js';
import { ENROL, type EnrolledSecondFactor } from '../sessions/second-factor.js';
import type { Assurance, IssuedSession } from '../sessions/signed-in.js';
import type { RowOf } from '../tables/column.js';
import type { User } from '../tables/core.js';
import type { SecondFactorColumns } from '../tables/factors.js';
import type { UserRecord } from '../users/record.js';

/** The parts of an account that change with its authenticator app. */
const TOTP = ['totpSecret', 'recoveryCodes'] as const;

/** The parts that change with passkeys as a second factor, which decide too which factors a sign-in asks for. */
const ALL_FACTORS = [...TOTP, 'passkeys'] as const;

/** @returns null if accounts cannot have a second factor */
export function secondFactorSetup(core: Core): SecondFactorSetup | null {
  return core.factors && new SecondFactorSetup(core, core.factors);
}

/** Enables, changes and disables the second factor. */
export class SecondFactorSetup {
  constructor(
    private readonly core: Core,
    private readonly factors: Factors,
  ) {}

  /** Starts an enrolment. @returns the user @throws AuthError `email_not_verified`, and like `core.change` */
  async begin(userId: string, sessionId: string, secret: string): Promise<User> {
    return this.core.change(userId, { sessionId }, async (record, transaction) => {
      this.#requireVerifiedEmail(record);
      await this.factors.enrolments.begin(userId, sessionId, secret, transaction);
      return record.user;
    });
  }

  /**
   * Enables codes from an authenticator app, or replaces their secret. The session continues with a new token, and all
   * other sessions are revoked.
   *
   * @param step the time step of the code that confirmed the secret
   * @throws AuthError `invalid_code` if the enrolment has ended in the meantime, and like {@link begin}
   */
  async enable(userId: string, sessionId: string, secret: string, step: number) {
    const { core } = this;
    const codes = await this.factors.codes.prepare(userId);
    return core.change(userId, { sessionId }, async (record, transaction) => {
      this.#requireVerifiedEmail(record);
      if (!(await this.factors.enrolments.take(sessionId, transaction))) throw new AuthError('invalid_code');
      await core.notices.before(secondFactorNotices['second-factor-enabled'], record, transaction);
      const now = core.database.clock.date();
      await this.factors.secrets.replace(userId, { secret, lastStep: step, confirmedAt: now }, transaction);
      const recoveryCodes = await this.factors.codes.renew(userId, codes, transaction);
      await this.setSince(userId, now, transaction);
      await this.#endAttempts(userId, transaction);
      await core.devices.forgetOthers(userId, transaction);
      const issued = await this.#keepOnly(sessionId, withFactorSince(record, now), ['otp'], transaction);
      core.events.emit('second_factor.enabled', { userId, factor: 'totp' }, transaction);
      return { issued, recoveryCodes };
    });
  }

  /**
   * Enables passkeys as a second factor. The session continues with a new token, and all other sessions are revoked.
   *
   * @throws AuthError `no_passkey`, `email_not_verified`, and like `core.change`
   */
  async enablePasskeys(userId: string, sessionId: string): Promise<EnrolledSecondFactor> {
    const passkeys = this.#requirePasskeys();
    const hasPasskey = (await passkeys.rows(userId)).length > 0;
    const needsCodes = hasPasskey && (await this.factors.status.read(userId)).codes === 0;
    return this.#withCodes(userId, needsCodes, (codes) =>
      this.core.change(userId, { sessionId, fresh: true }, async (record, transaction) => {
        if ((await passkeys.rows(userId, transaction)).length === 0)
          throw new AuthError('no_passkey', { detail: say('no-passkey-yet') });
        this.#requireVerifiedEmail(record);
        if (usesPasskeys(record.account)) {
          const recoveryCodes = await this.#codesIfNone(record, transaction, () =>
            this.#renew(record, codes, transaction),
          );
          const issued = await this.core.sessions.renew(record, sessionId, transaction, SAME);
          return { issued, recoveryCodes };
        }
        await this.core.notices.before(factorNotices.passkeysOn, record, transaction);
        const recoveryCodes = await this.#codesIfNone(record, transaction, () =>
          this.#newCodes(userId, codes, transaction),
        );
        return { issued: await this.#enablePasskeys(record, sessionId, null, transaction), recoveryCodes };
      }),
    );
  }

  /**
   * Records the change of a session that is about to add a passkey, if the session has the task to set up a second
   * factor. The user's row is locked.
   *
   * @param subject the name of the passkey
   * @returns false if the session does not have the task, so that nothing is recorded
   */
  async beginEnrolment(
    record: UserRecord,
    sessionId: string,
    subject: string,
    transaction: Transaction,
  ): Promise<boolean> {
    if (!this.core.secondFactors.areRequired) return false;
    const { notices, sessions, tasks } = this.core;
    const session = await sessions.stillOpen(sessionId, record.authEpoch, transaction);
    if (!session || !tasks.open(record.user, session).includes(ENROL)) return false;
    await notices.before(factorNotices.passkeyEnrolled, record, transaction, { subject });
    return true;
  }

  /**
   * Enables a user's passkeys as the second factor, after {@link beginEnrolment} and after the passkey has been added.
   *
   * @param assurance of the new passkey
   * @param codes see {@link enrolling}
   */
  async enrolPasskey(
    record: UserRecord,
    sessionId: string,
    { amr }: Assurance,
    codes: NewCodes | null,
    transaction: Transaction,
  ): Promise<EnrolledSecondFactor> {
    // Someone else might have the codes of an earlier factor.
    const recoveryCodes = await this.#newCodes(record.user.id, codes, transaction);
    return { issued: await this.#enablePasskeys(record, sessionId, amr, transaction), recoveryCodes };
  }

  /**
   * Disables codes from an authenticator app, if they are enabled.
   *
   * @returns the session, which continues with a new token. Null if there was nothing to disable
   * @throws AuthError `second_factor_demanded`, and like `core.change`
   */
  async turnOffTotp(userId: string, sessionId: string): Promise<IssuedSession | null> {
    const { core } = this;
    return core.change(userId, { sessionId }, async (record, transaction) => {
      if (!(await this.factors.secrets.find(userId, transaction))) return null;
      const { account } = record;
      const isLeft =
        core.secondFactors.countsPasskeys(account) && (await this.#hasPasskey(userId, transaction));
      if (!isLeft) this.#refuseIfRequired(record);
      const notice = isLeft ? factorNotices.passkeysStay : secondFactorNotices['second-factor-disabled'];
      await core.notices.before(notice, record, transaction);
      await this.#removeTotp(userId, transaction);
      if (!isLeft) await this.factors.codes.deleteUnused(userId, transaction);
      const keeps = isLeft && usesPasskeys(account);
      const since = keeps ? sinceOf(account) : null;
      await this.#write(
        userId,
        { secondFactorAt: since, passkeyFactor: keeps ? true : null },
        [],
        transaction,
      );
      core.events.emit('second_factor.disabled', { userId, adminId: null, factor: 'totp' }, transaction);
      return this.#keepOnly(sessionId, withFactorSince(record, since), null, transaction);
    });
  }

  /**
   * Disables passkeys as a second factor, if they are enabled. They remain a sign-in method.
   *
   * @throws AuthError `second_factor_required`, `second_factor_demanded`, and like `core.change`
   */
  async disablePasskeys(userId: string, sessionId: string): Promise<IssuedSession> {
    const { core } = this;
    this.#requirePasskeys();
    return core.change(userId, { sessionId, fresh: true }, async (record, transaction) => {
      if (!usesPasskeys(record.account)) return core.sessions.renew(record, sessionId, transaction, SAME);
      const hasTotp = (await this.factors.secrets.find(userId, transaction)) !== null;
      if (!hasTotp) this.#refuseIfRequired(record);
      const notice = hasTotp ? factorNotices.codesStay : factorNotices.passkeysOff;
      await core.notices.before(notice, record, transaction);
      const since = await this.#removePasskeys(record, hasTotp, transaction);
      return this.#keepOnly(sessionId, withFactorSince(record, since), null, transaction);
    });
  }

  /**
   * Disables passkeys as a second factor, because the last one has been removed. The user's row is locked.
   *
   * @param isByUser whether the user removed it, and not the app
   * @throws AuthError `second_factor_demanded` if the user must have a second factor
   */
  async passkeysRemoved(record: UserRecord, isByUser: boolean, transaction: Transaction): Promise<void> {
    const hasTotp = (await this.factors.secrets.find(record.user.id, transaction)) !== null;
    if (isByUser && !hasTotp) this.#refuseIfRequired(record);
    if (usesPasskeys(record.account)) await this.#removePasskeys(record, hasTotp, transaction);
    else if (!hasTotp) await this.factors.codes.deleteUnused(record.user.id, transaction);
  }

  /**
   * Disables all second factors, for the app's own code and for administrators, and revokes all sessions. If the account
   * must have a second factor, its passkeys are removed, because a sign-in would still ask for one.
   *
   * @throws AuthError like `core.change`
   */
  async disable(userId: string, adminId: string | null): Promise<void> {
    const { core } = this;
    await core.change(userId, { sessionId: null }, async (record, transaction) => {
      // The decision of the app or an administrator is final, so end the undo links even if nothing changes.
      await core.history.end(userId, transaction);
      const { account } = record;
      const hasPasskey = await this.#hasPasskey(userId, transaction);
      // No user must lose passkeys because the app's function fails.
      const isRequired = hasPasskey && this.core.secondFactors.isRequiredOf(account, false);
      if (sinceOf(account) === null && !isRequired) return;
      const hasTotp = (await this.factors.secrets.find(userId, transaction)) !== null;
      const notice = isRequired ? factorNotices.allOff : secondFactorNotices['second-factor-disabled'];
      await core.notices.final(notice, record, transaction);
      await this.clear(userId, transaction);
      if (isRequired) await this.#deletePasskeys(userId, transaction);
      const off: Factor[] = [
        ...(hasTotp ? (['totp'] as const) : []),
        ...(usesPasskeys(account) || isRequired ? (['passkeys'] as const) : []),
      ];
      for (const factor of off)
        core.events.emit('second_factor.disabled', { userId, adminId, factor }, transaction);
      await core.sessions.endAll(userId, transaction);
    });
  }

  /** Replaces the recovery codes. @throws AuthError `totp_not_enabled`, and like `core.change` */
  async renewCodes(userId: string, sessionId: string | null): Promise<readonly string[]> {
    const { core } = this;
    const found = await core.users.findRecord({ id: userId });
    const isOn = found !== null && core.secondFactors.isOn(found.account);
    return this.#withCodes(userId, isOn, (codes) =>
      core.change(userId, { sessionId }, async (record, transaction) => {
        if (!core.secondFactors.isOn(record.account)) throw new AuthError('totp_not_enabled');
        return this.#renew(record, codes, transaction);
      }),
    );
  }

  /** Replaces the recovery codes, ends the trust in browsers, and sends the user a notice. The user's row is locked. */
  async #renew(
    record: UserRecord,
    codes: NewCodes | null,
    transaction: Transaction,
  ): Promise<readonly string[]> {
    const { core } = this;
    const { id } = record.user;
    await core.notices.before(secondFactorNotices['recovery-codes-renewed'], record, transaction);
    await core.users.announceChange(id, ['recoveryCodes'], transaction);
    await core.deviceRows.distrustAll(id, transaction);
    return this.#newCodes(id, codes, transaction);
  }

  /**
   * Runs the change that contains {@link enrolPasskey}, with the codes that it needs if the user has the task.
   *
   * @param change adds the passkey. It can run twice, and must have no effects outside its transaction
   */
  async enrolling<T>(userId: string, change: (codes: NewCodes | null) => Promise<T>): Promise<T> {
    if (!this.core.secondFactors.areRequired) return change(null);
    const { totp, passkeys } = await this.factors.status.read(userId);
    return this.#withCodes(userId, !totp && !passkeys, change);
  }

  /**
   * Runs a change that might need new codes. If only its transaction shows that it does, because of another change in
   * the meantime, it is rolled back, and runs again with codes. So the user's row is never locked during slow hashes.
   *
   * @param needsCodes whether the change seems to need them
   * @param change gets null if it does not
   */
  async #withCodes<T>(
    userId: string,
    needsCodes: boolean,
    change: (codes: NewCodes | null) => Promise<T>,
  ): Promise<T> {
    const { codes } = this.factors;
    try {
      return await change(needsCodes ? await codes.prepare(userId) : null);
    } catch (error) {
      if (!(error instanceof CodesMissing)) throw error;
      return change(await codes.prepare(userId));
    }
  }

  /** @throws CodesMissing if codes were not needed before the transaction: see {@link #withCodes} */
  async #newCodes(
    userId: string,
    prepared: NewCodes | null,
    transaction: Transaction,
  ): Promise<readonly string[]> {
    if (!prepared) throw new CodesMissing();
    return this.factors.codes.renew(userId, prepared, transaction);
  }

  /** Replaces the account's secret with the one of another system. The user's row is locked. */
  async import(record: UserRecord, secret: string, transaction: Transaction): Promise<void> {
    const { id: userId } = record.user;
    const now = this.core.database.clock.date();
    await this.factors.secrets.replace(userId, { secret, lastStep: 0, confirmedAt: now }, transaction);
    await this.#endAttempts(userId, transaction);
    await this.setSince(userId, now, transaction);
  }

  /** Removes the secret for an import whose row has none. The user's row is locked. */
  async importNone(record: UserRecord, transaction: Transaction): Promise<void> {
    const { id } = record.user;
    // Another part of the row might have changed the account since it was read.
    const now = await this.core.users.lock(id, transaction);
    if (!now || !usesPasskeys(now.account)) return this.clear(id, transaction);
    await this.#removeTotp(id, transaction);
  }

  /** Deletes everything that belongs to the second factor, except used recovery codes. The user's row is locked. */
  async clear(userId: string, transaction: Transaction): Promise<void> {
    await this.#removeTotp(userId, transaction);
    await this.factors.codes.deleteUnused(userId, transaction);
    await this.#write(userId, { secondFactorAt: null, passkeyFactor: null }, [], transaction);
  }

  /** Records since when the account has had its second factor. */
  async setSince(userId: string, secondFactorAt: Date, transaction: Transaction): Promise<void> {
    await this.#write(userId, { secondFactorAt }, TOTP, transaction);
  }

  /** Records that passkeys are enabled, and since when the account has had a second factor. */
  async restorePasskeys(userId: string, secondFactorAt: Date, transaction: Transaction): Promise<void> {
    await this.#write(userId, { secondFactorAt, passkeyFactor: true }, ALL_FACTORS, transaction);
  }

  /** @param changed the parts of the account that have changed, unless {@link #removeTotp} has announced them */
  async #write(
    userId: string,
    values: Partial<RowOf<SecondFactorColumns>>,
    changed: readonly string[],
    transaction: Transaction,
  ): Promise<void> {
    const { users } = this.core;
    await users.setColumns<SecondFactorColumns>(userId, values, transaction);
    if (changed.length > 0) await users.announceChange(userId, changed, transaction);
  }

  async #removeTotp(userId: string, transaction: Transaction): Promise<void> {
    const hadSecret = await this.factors.secrets.delete(userId, transaction);
    await this.#endAttempts(userId, transaction);
    if (hadSecret) await this.core.users.announceChange(userId, TOTP, transaction);
  }

  /** @returns null for a user who has unused codes */
  async #codesIfNone(
    { user }: UserRecord,
    transaction: Transaction,
    renew: () => Promise<readonly string[]>,
  ): Promise<readonly string[] | null> {
    return (await this.factors.codes.hashesOf(user.id, transaction)).length > 0 ? null : renew();
  }

  /** @param amr how the session's user has just used a passkey. Null if they have not */
  async #enablePasskeys(
    record: UserRecord,
    sessionId: string,
    amr: readonly string[] | null,
    transaction: Transaction,
  ): Promise<IssuedSession> {
    const { core } = this;
    const { id: userId } = record.user;
    const since = sinceOf(record.account) ?? core.database.clock.date();
    await this.restorePasskeys(userId, since, transaction);
    await this.#endAttempts(userId, transaction);
    await core.devices.forgetOthers(userId, transaction);
    const issued = await this.#keepOnly(sessionId, withFactorSince(record, since), amr, transaction);
    core.events.emit('second_factor.enabled', { userId, factor: 'passkeys' }, transaction);
    return issued;
  }

  /** @returns since when the account has had its remaining second factor. Null if there is none */
  async #removePasskeys(
    { user, account }: UserRecord,
    hasTotp: boolean,
    transaction: Transaction,
  ): Promise<Date | null> {
    const { id: userId } = user;
    const since = hasTotp ? sinceOf(account) : null;
    if (!hasTotp) await this.factors.codes.deleteUnused(userId, transaction);
    await this.#endAttempts(userId, transaction);
    await this.#write(userId, { secondFactorAt: since, passkeyFactor: null }, ALL_FACTORS, transaction);
    const details = { userId, adminId: null, factor: 'passkeys' } as const;
    this.core.events.emit('second_factor.disabled', details, transaction);
    return since;
  }

  async #hasPasskey(userId: string, transaction: Transaction): Promise<boolean> {
    return ((await this.core.passkeys?.rows(userId, transaction)) ?? []).length > 0;
  }

  async #deletePasskeys(userId: string, transaction: Transaction): Promise<void> {
    const { passkeys, events } = this.core;
    for (const passkey of (await passkeys?.rows(userId, transaction)) ?? []) {
      await passkeys?.delete(passkey, transaction);
      events.emit('passkey.removed', { userId, passkeyId: passkey.id }, transaction);
    }
  }

  /** @throws TypeError if accounts cannot have passkeys */
  #requirePasskeys(): PasskeyStore {
    const { passkeys } = this.core;
    if (!passkeys) throw new TypeError('latchkey: auth.twoFactor.usePasskeys: add passkeys() to plugins');
    return passkeys;
  }

  /** @throws AuthError `second_factor_demanded` */
  #refuseIfRequired({ account }: UserRecord): void {
    if (this.core.secondFactors.isRequiredOf(account)) throw new AuthError('second_factor_demanded');
  }

  /** Deletes the user's enrolments and pending sign-ins. */
  async #endAttempts(userId: string, transaction: Transaction): Promise<void> {
    await this.factors.enrolments.deleteAll(userId, transaction);
    await this.core.pendings.rows.end({ userId }, transaction);
  }

  /** Revokes the other sessions and renews this one. @param amr the factor that its user has just provided, if any */
  async #keepOnly(
    sessionId: string,
    { user, authEpoch }: UserRecord,
    amr: readonly string[] | null,
    transaction: Transaction,
  ): Promise<IssuedSession> {
    const { sessions } = this.core;
    const session = amr && (await sessions.stillOpen(sessionId, authEpoch, transaction));
    const assurance = session ? { aal: 2, amr: withSecond(session.amr, amr) } : undefined;
    await sessions.endAll(user.id, transaction, sessionId);
    const options = { isFresh: amr !== null, assurance };
    return sessions.renew({ user, authEpoch: authEpoch + 1 }, sessionId, transaction, options);
  }

  /** @throws AuthError `email_not_verified` if the email might belong to someone else */
  #requireVerifiedEmail({ user: { email }, emailProof }: UserRecord): void {
    if (this.core.mails && email !== null && !emailProof.reaches('app'))
      throw new AuthError('email_not_verified');
  }
}

/** A transaction needs recovery codes that were not prepared. It is an AuthError, because transactions replace others. */
class CodesMissing extends AuthError {
  constructor() {
    super('unavailable');
  }
}

/** The session continues with a new token, and nothing else changes. */
const SAME = { isFresh: false, endsOthers: false } as const;

function withFactorSince(record: UserRecord, secondFactorAt: Date | null): UserRecord {
  return { ...record, user: { ...record.user, secondFactorAt } as User };
}
