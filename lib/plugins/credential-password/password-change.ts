import type { Transaction } from 'sequelize';
import { removeWayIn } from '../../accounts/change.js';
import { requireOtherPassword, storePassword } from '../../accounts/passwords.js';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import { passwordNotices } from '../../notices/passwords.js';
import type { IssuedSession, SignedIn } from '../../sessions/signed-in.js';
import type { Passwords } from '../../users/passwords.js';
import type { UserRecord } from '../../users/record.js';

/** Sets and changes passwords. */
export class PasswordChange {
  constructor(
    private readonly core: Core,
    private readonly passwords: Passwords,
  ) {}

  /**
   * Changes the password of a user who has just entered the current one. All sessions are revoked, except one that gets
   * a new token.
   *
   * @param sessionId the session to keep; if it is omitted, a new session is created
   * @throws AuthError `invalid_credentials`, `invalid_session`, `second_factor_required`, `reauthentication_required`,
   *   `validation_failed`, `rate_limited`
   */
  async change(record: UserRecord, sessionId: string | undefined, newPassword: string): Promise<SignedIn> {
    const { users, sessions, database, events, notices } = this.core;
    const userId = record.user.id;
    const authEpoch = record.authEpoch + 1;
    // Check before anything changes, because a user whom a check rejects afterward would be left without a session.
    await requireOtherPassword(this.core, record, newPassword);
    const signIn = sessionId ? null : await this.core.checkSignIn({ ...record, amr: ['pwd'] });
    const passwordHash = await this.#hash(record, newPassword);
    return database.transaction(async (transaction) => {
      const current = await users.lock(userId, transaction);
      // The password has changed in the meantime, or all sessions were revoked.
      if (current?.authEpoch !== record.authEpoch) throw new AuthError('invalid_credentials');
      if (sessionId) await this.#requireStrong(sessionId, current, transaction);
      await notices.before(passwordNotices['password-changed'], current, transaction);
      const changed = await storePassword(this.core, userId, passwordHash, transaction);
      await this.core.devices.forgetOthers(userId, transaction);
      const user = { ...current.user, ...changed };
      events.emit('password.changed', { userId }, transaction);
      await sessions.endAll(userId, transaction, sessionId);
      return signIn
        ? signIn.begin({ user, authEpoch }, transaction)
        : sessions.renew({ user, authEpoch }, sessionId ?? '', transaction);
    });
  }

  /** Requires a session that is verified with the second factor, if the account has one. */
  async #requireStrong(sessionId: string, { account, authEpoch }: UserRecord, transaction: Transaction) {
    const { secondFactors, sessions } = this.core;
    if (!secondFactors.isOn(account)) return;
    const session = await sessions.stillOpen(sessionId, authEpoch, transaction);
    if (!session) throw new AuthError('invalid_session');
    secondFactors.requireFor(account, session);
  }

  /**
   * Sets the password of an account that has no password. Sessions are kept, but sign-ins in progress are canceled.
   *
   * @param sessionId the requesting session; null for programmatic calls
   * @throws AuthError `password_already_set`, `validation_failed`, `user_not_found`, `rate_limited`; for a session also
   *   `invalid_session`, `second_factor_required`, `reauthentication_required`
   */
  async set(record: UserRecord, sessionId: string | null, newPassword: string): Promise<void> {
    const userId = record.user.id;
    if (record.passwordHash !== null) throw new AuthError('password_already_set');
    await this.core.limiter.countAddress('signIn');
    const passwordHash = await this.#hash(record, newPassword);
    const { events, notices } = this.core;
    await this.core.change(userId, { sessionId, fresh: true }, async (current, transaction) => {
      if (current.passwordHash !== null) throw new AuthError('password_already_set');
      await notices.changed(sessionId, passwordNotices['password-set'], current, transaction);
      await storePassword(this.core, userId, passwordHash, transaction);
      await this.core.sessions.keepAll(userId, transaction);
      events.emit('password.changed', { userId }, transaction);
    });
  }

  /**
   * Removes the password of an account that has another sign-in method. All sessions are revoked, except the requesting
   * one, which gets a new token.
   *
   * @param sessionId the requesting session; null for programmatic calls
   * @throws AuthError `password_not_set`, `last_sign_in_method`, `user_not_found`; for a session also
   *   `invalid_session`, `second_factor_required`, `reauthentication_required`
   */
  async remove(userId: string, sessionId: string | null): Promise<IssuedSession | null> {
    const { core } = this;
    let issued: IssuedSession | null = null;
    await removeWayIn(core, userId, sessionId, async (record, transaction) => {
      if (record.passwordHash === null) throw new AuthError('password_not_set');
      await core.notices.changed(sessionId, passwordNotices['password-removed'], record, transaction);
      const changed = await storePassword(core, userId, null, transaction);
      if (sessionId !== null) await core.devices.forgetOthers(userId, transaction);
      core.events.emit('password.removed', { userId }, transaction);
      await core.sessions.endAll(userId, transaction, sessionId ?? '');
      const left = { ...record, user: { ...record.user, ...changed }, passwordHash: null };
      if (sessionId !== null)
        issued = await core.sessions.renew(
          { user: left.user, authEpoch: record.authEpoch + 1 },
          sessionId,
          transaction,
          { isFresh: false },
        );
      return left;
    });
    return issued;
  }

  async #hash({ user }: UserRecord, newPassword: string): Promise<string> {
    await this.passwords.rules.check(newPassword, '/new_password', [user.email, user.username]);
    // Limit the changes, because each one revokes the reset links, and an attacker could block the owner's reset.
    await this.core.limiter.countAccount('passwordChange', user.id);
    return this.passwords.hasher.hash(newPassword);
  }
}
