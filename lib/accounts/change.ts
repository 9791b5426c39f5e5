import type { Transaction } from 'sequelize';
import { type Core, readUsername } from '../core/core.js';
import { AuthError } from '../errors.js';
import { usernameChangedNotice } from '../notices/notices.js';
import type { FieldSource, FieldValues } from '../users/fields.js';
import type { UserRecord } from '../users/record.js';

/** What to change of a user. What is left out stays. */
export interface UserInput {
  readonly username?: string | null | undefined;
  readonly fields?: FieldValues | undefined;
}

/**
 * Changes a user's fields and username.
 *
 * @param sessionId the session of the user who asks for it; null for code
 * @param from whose values they are
 * @param alongside what else belongs to it, if anything changes
 * @throws AuthError `validation_failed`, `username_taken`, `invalid_session` or `user_not_found`, and what the app's hook
 *   throws
 */
export async function updateUser(
  core: Core,
  userId: string,
  sessionId: string | null,
  { username, fields = {} }: UserInput,
  from: FieldSource,
  alongside?: (transaction: Transaction) => void,
): Promise<UserRecord> {
  const changes = {
    fields: core.fields.read(fields, from, 'update'),
    ...(username !== undefined && { username: username === null ? null : readUsername(core, username) }),
  };
  return changeAccount(
    core,
    userId,
    sessionId,
    async (transaction, current) => {
      const isRenamed = changes.username !== undefined && changes.username !== current.user.username;
      const details = { byApp: from === 'code' };
      if (isRenamed) await core.notices.before(usernameChangedNotice, current, transaction, details);
      const { record, changed } = await core.updates.update(current, changes, transaction);
      if (changed.length > 0) {
        core.events.emit('user.updated', { userId, changed }, transaction);
        alongside?.(transaction);
      }
      return record;
    },
    username !== undefined,
  );
}

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
