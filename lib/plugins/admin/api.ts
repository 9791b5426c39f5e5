import type { TransactionOption } from '../../core/client-input.js';
import type { Core } from '../../core/core.js';
import type { UserForAdmins } from '../../core/user-record.js';
import { AuthError } from '../../errors.js';
import type { User } from '../../models/user.js';
import { type ListUsersOptions, listUsers, type UserPage } from './user-list.js';
import './events.js';

/** Options of `auth.admin.revokeUserSessions`. */
export interface RevokeUserSessionsOptions extends TransactionOption {
  /** The administrator's user id, for the event. @default null: the app itself */
  adminId?: string | null;
}

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
   * Revokes all sessions of a user, and every sign-in in progress. The password does not change.
   *
   * @param by who revokes them, for the event: the id of an administrator
   * @returns the number of active sessions
   * @throws AuthError `user_not_found`
   */
  revokeUserSessions(userId: string, by: RevokeUserSessionsOptions | string | null = {}): Promise<number> {
    const { adminId = null, transaction } = typeof by === 'string' ? { adminId: by } : (by ?? {});
    return this.#core.inTransaction(transaction, async () => {
      await this.getUser(userId);
      const revoked = await this.#core.sessions.revokeAll(userId);
      this.#core.events.emit('admin.sessions_revoked', { userId, adminId });
      return revoked;
    });
  }
}
