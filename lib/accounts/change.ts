import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { readUsername } from '../core/usernames.js';
import { usernameChangedNotice } from '../notices/notice-texts.js';
import type { FieldSource, FieldValues } from '../users/core-fields.js';
import type { UserRecord } from '../users/user-record.js';
import { changeAccount } from './change-account.js';

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
