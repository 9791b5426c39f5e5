import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { UserRecord } from '../users/user-record.js';
import type { Users } from '../users/users.js';
import type { Contribution, WayIn } from './contribution.js';

type ChangeInSession = <T>(
  userId: string,
  sessionId: string,
  work: (transaction: Transaction, record: UserRecord) => Promise<T>,
) => Promise<T>;

/** How users can sign in, according to the plugins. */
export class WaysIn {
  constructor(
    private readonly database: Database,
    private readonly users: Users,
    private readonly contributions: () => readonly Contribution[],
    /** {@link Core.inNameOf} */
    private readonly inNameOf: ChangeInSession,
  ) {}

  /** The user's ways to sign in. The transaction must have locked the user's row. */
  async of(record: UserRecord, transaction: Transaction): Promise<readonly WayIn[]> {
    const ways = [];
    for (const contribution of this.contributions()) {
      ways.push(...((await contribution.waysIn?.(record, transaction)) ?? []));
    }
    return ways;
  }

  /**
   * Removes a way to sign in, unless it is the last one. The user's row is locked, so that two concurrent removals
   * cannot each rely on what the other removes.
   *
   * @param sessionId the requesting session: see {@link Core.inNameOf}; null for code
   * @throws AuthError `user_not_found` (404), `last_sign_in_method` (409), and what `remove` throws; with a session also
   *   `invalid_session` (401), `second_factor_required` and `reauthentication_required` (403)
   */
  remove<T>(
    userId: string,
    remove: (transaction: Transaction, record: UserRecord) => Promise<T>,
    sessionId: string | null = null,
  ): Promise<T> {
    const work = async (transaction: Transaction, record: UserRecord) => {
      const removed = await remove(transaction, record);
      if ((await this.of(record, transaction)).length === 0) throw new AuthError('last_sign_in_method');
      return removed;
    };
    if (sessionId !== null) return this.inNameOf(userId, sessionId, work);
    return this.database.transaction(async (transaction) => {
      const record = await this.users.lock(userId, transaction);
      if (!record) throw new AuthError('user_not_found');
      return work(transaction, record);
    });
  }
}
