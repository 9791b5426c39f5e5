import type { Core } from '../../core.js';
import { AuthError } from '../../errors.js';
import type { User } from '../../models/user.js';
import type { ListUsersOptions, UserPage } from '../../users.js';

/** `auth.admin`: what an administrator can see and do. */
export class AdminApi {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Whether a user is an administrator just now: to show them the way, say. What they may do, `requireAdmin` decides.
   */
  isAdministrator(user: User): boolean {
    return this.#core.isAdministrator?.(user) ?? false;
  }

  /** Users, the newest first, a page at a time. @throws AuthError `invalid_request` on a bad limit or cursor */
  listUsers(options?: ListUsersOptions): Promise<UserPage> {
    return this.#core.users.list(options);
  }

  /** @throws AuthError `user_not_found` */
  async getUser(userId: string): Promise<User> {
    const user = await this.#core.users.findById(userId);
    if (!user) throw new AuthError('user_not_found');
    return user;
  }

  /**
   * Ends all sessions of a user and every sign-in under way. The password stays as it is.
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
