import type { Core } from '../../core/core.js';
import type { ListUsersOptions, UserPage } from '../../core/users.js';
import { AuthError } from '../../errors.js';
import type { User } from '../../models/user.js';
import './events.js';

/** `auth.admin`: what an administrator can see and do. */
export class AdminApi {
  readonly #core: Core;

  /** @internal */
  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Whether a user is currently an administrator: to decide whether to show them a link, for example. What they may do
   * is decided by `requireAdmin`.
   */
  isAdministrator(user: User): boolean {
    return this.#core.isAdministrator(user);
  }

  /** Users, the newest first, a page at a time. @throws AuthError `invalid_request` on a bad limit or cursor */
  listUsers(options?: ListUsersOptions): Promise<UserPage> {
    return this.#core.users.list(options);
  }

  /** One user. @throws AuthError `user_not_found` */
  async getUser(userId: string): Promise<User> {
    const user = await this.#core.users.find(userId);
    if (!user) throw new AuthError('user_not_found');
    return user;
  }

  /**
   * Ends all sessions of a user and every sign-in in progress. The password does not change.
   *
   * @param adminId who did it, for listeners
   * @returns how many sessions there were
   * @throws AuthError `user_not_found`
   */
  async revokeUserSessions(userId: string, adminId: string | null = null): Promise<number> {
    await this.getUser(userId);
    const revoked = await this.#core.sessions.revokeAll(userId);
    this.#core.events.emit('admin.sessions_revoked', { userId, adminId });
    return revoked;
  }
}
