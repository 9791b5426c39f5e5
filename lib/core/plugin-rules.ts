import type { Session } from '../tables/session.js';
import type { User } from '../tables/user.js';
import type { AccountRow } from '../users/user-record.js';
import { UserStorage } from '../users/user-storage.js';
import type { Contribution } from './contribution.js';

/** What plugins decide about accounts, and show of them. */
export abstract class PluginRules extends UserStorage {
  /**
   * Refuses a person who has just shown who they are, if a plugin's check does, such as that for suspended accounts. Every
   * way in calls it after the proof, and never before.
   *
   * @throws AuthError such as `account_suspended`
   */
  checkAccount(account: AccountRow): void {
    for (const contribution of this.contributions) contribution.checkAccount?.(account);
  }

  /** What plugins contribute. Complete once all are set up. */
  abstract get contributions(): readonly Contribution[];

  /** Whether a plugin defines administrators. */
  get hasAdministrators(): boolean {
    return this.contributions.some(({ isAdministrator }) => isAdministrator !== undefined);
  }

  isAdministrator(user: User): boolean {
    return this.contributions.some((contribution) => contribution.isAdministrator?.(user) ?? false);
  }

  /** The attributes of a user that plugins show to clients. */
  get shownOfUser(): readonly (keyof User)[] {
    return this.contributions.flatMap(({ shows }) => shows?.user ?? []);
  }

  /** The attributes of a session that plugins show to clients. */
  get shownOfSession(): readonly (keyof Session)[] {
    return this.contributions.flatMap(({ shows }) => shows?.session ?? []);
  }
}
