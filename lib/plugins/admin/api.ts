import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { Session } from '../../tables/session.js';
import type { User } from '../../tables/user.js';
import type { UserForAdmins } from '../../users/user-record.js';
import type { AdminCallOptions, CreateUserByAdminInput, UpdateUserByAdminInput } from './inputs.js';
import { createUser, removeUser, sendPasswordReset, updateUser } from './manage-users.js';
import { type ListUsersOptions, listUsers, type UserPage } from './user-list.js';
import './declarations.js';
import './problems.js';

const NO_SESSION = { detail: 'This user has no such session: it may have ended already.' };

/** `auth.admin`: administration of users. */
export class AdminApi {
  readonly #core: Core;

  /** @internal */
  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Whether a user is currently an administrator, for example to decide whether to show a link. To protect a route, use
   * `requireAdmin`.
   */
  isAdministrator(user: User): boolean {
    return this.#core.isAdministrator(user);
  }

  /** Lists users page by page, newest first. @throws AuthError `invalid_request` for an invalid limit or cursor */
  listUsers(options?: ListUsersOptions): Promise<UserPage> {
    return listUsers(this.#core, options);
  }

  /** Finds a user. @throws AuthError `user_not_found` */
  async getUser(userId: string): Promise<UserForAdmins> {
    const user = await this.#core.users.find(userId);
    if (!user) throw new AuthError('user_not_found');
    return user;
  }

  /**
   * Creates a user without a password. With `email` in the config, a link to choose one goes to the user's email.
   *
   * @throws AuthError `validation_failed` (422), `email_taken`, `username_taken` (409), and what hooks throw
   */
  createUser(input: CreateUserByAdminInput): Promise<UserForAdmins> {
    return this.#core.forClient(input, () => createUser(this.#core, input));
  }

  /**
   * Changes the username and fields of a user.
   *
   * @throws AuthError `user_not_found` (404), `username_taken` (409), `validation_failed` (422), and what hooks throw
   */
  updateUser(userId: string, input: UpdateUserByAdminInput): Promise<UserForAdmins> {
    return this.#core.forClient(input, () => updateUser(this.#core, userId, input));
  }

  /**
   * Deletes a user with everything that belongs to them.
   *
   * @throws AuthError `user_not_found` (404); `account_in_use` (409) if a row of the app refers to the user and may not go;
   *   `own_account` (409) if `adminId` is the user; and what hooks throw
   */
  deleteUser(userId: string, options: AdminCallOptions = {}): Promise<void> {
    return this.#core.inTransaction(options.transaction, () => removeUser(this.#core, userId, options));
  }

  /**
   * Emails a user a link to choose a new password. The current one, if any, stays valid until then.
   *
   * @throws AuthError `user_not_found` (404), `email_missing` (409), `rate_limited` (429)
   * @throws TypeError without passwords, or without `email` in the config
   */
  sendPasswordReset(userId: string, options: AdminCallOptions = {}): Promise<void> {
    return this.#core.inTransaction(options.transaction, () =>
      sendPasswordReset(this.#core, userId, options),
    );
  }

  /** Lists a user's active sessions, newest first. @throws AuthError `user_not_found` */
  async listUserSessions(userId: string): Promise<Session[]> {
    await this.getUser(userId);
    return this.#core.sessions.list(userId);
  }

  /** Revokes one session of a user. @throws AuthError `session_not_found` (404) */
  revokeUserSession(
    userId: string,
    sessionId: string,
    { adminId = null, transaction }: AdminCallOptions = {},
  ): Promise<void> {
    const { sessions, events } = this.#core;
    const revoke = async (within?: Transaction) => {
      if (!(await sessions.revoke(userId, sessionId, within)))
        throw new AuthError('session_not_found', NO_SESSION);
      events.emit('admin.session_revoked', { userId, sessionId, adminId }, within);
    };
    return this.#core.inTransaction(transaction, () =>
      events.together(['session.revoked', 'admin.session_revoked'], revoke),
    );
  }

  /**
   * Revokes all sessions of a user, and every sign-in in progress. The password does not change.
   *
   * @param by who revokes them, for the event: the id of an administrator
   * @returns the number of active sessions
   * @throws AuthError `user_not_found`
   */
  revokeUserSessions(userId: string, by: AdminCallOptions | string | null = {}): Promise<number> {
    const { adminId = null, transaction } = typeof by === 'string' ? { adminId: by } : (by ?? {});
    const { database, sessions, events } = this.#core;
    return this.#core.inTransaction(transaction, async () => {
      await this.getUser(userId);
      return database.transaction(async (within) => {
        const revoked = await sessions.endAll(userId, within);
        events.emit('admin.sessions_revoked', { userId, adminId }, within);
        return revoked;
      });
    });
  }
}
