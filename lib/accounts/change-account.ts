import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import type { UserRecord } from '../users/user-record.js';

/**
 * Changes a user's account in a transaction, with the user's row locked: for the user, or for the app's own code.
 *
 * @param sessionId the requesting session, which must still be active; null for code
 * @param changesWaysIn whether an account with a second factor demands it for the change
 * @throws AuthError `invalid_session`, `second_factor_required`, `reauthentication_required`; for code `user_not_found`
 */
export async function changeAccount<T>(
  core: Core,
  userId: string,
  sessionId: string | null,
  work: (transaction: Transaction, record: UserRecord) => Promise<T>,
  changesWaysIn = true,
): Promise<T> {
  if (sessionId === null) {
    return core.database.transaction(async (transaction) => {
      const record = await core.users.lock(userId, transaction);
      if (!record) throw new AuthError('user_not_found');
      return work(transaction, record);
    });
  }
  try {
    return await core.inNameOf(userId, sessionId, work, changesWaysIn);
  } catch (error) {
    // The account has just been deleted, and the session with it.
    const isGone = error instanceof AuthError && error.code === 'user_not_found';
    throw isGone ? new AuthError('invalid_session') : error;
  }
}
