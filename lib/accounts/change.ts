import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { declareNotices } from '../mail/notice-kinds.js';
import { CORE } from '../owners.js';
import type { Phrase } from '../phrases.js';
import type { FieldSource, FieldValues } from '../users/fields.js';
import { hasWayIn, type UserRecord } from '../users/record.js';
import type { UserChanges } from '../users/updates.js';
import { readUsername } from './passwords.js';

/** The changes to a user. Omitted keys stay as they are. */
export interface UserInput {
  readonly username?: string | null | undefined;
  readonly fields?: FieldValues | undefined;
}

/** The changes that a user makes to their own account. */
export interface OwnUserInput extends UserInput {
  /** Another spelling of the current username, which changes no sign-in method. */
  readonly spelling?: string | undefined;
}

/** Who changes a user's fields and username, and how. */
export interface UpdateBy {
  /** The session of the user who requests the change. Null for code. */
  readonly sessionId: string | null;
  /** The source of the values. */
  readonly from: FieldSource;
  /** Other work for the same transaction, called only if anything changes. */
  readonly alongside?: (transaction: Transaction) => void;
}

/** A change by the app's own code, or by an administrator. */
export const UPDATE_BY_CODE: UpdateBy = { sessionId: null, from: 'code' };

/**
 * Changes a user's fields and username.
 *
 * @throws AuthError `validation_failed`, `username_taken`, `invalid_session` or `user_not_found`, and errors that the
 *   app's hook throws
 */
export async function updateUser(
  core: Core,
  userId: string,
  { username, spelling, fields = {} }: OwnUserInput,
  { sessionId, from, alongside }: UpdateBy,
): Promise<UserRecord> {
  const changes: UserChanges = {
    fields: core.users.fields.read(fields, from, 'update'),
    ...(username !== undefined && (username === null ? { username } : readUsername(core, username))),
  };
  const by = { sessionId, changesWaysIn: username !== undefined };
  return core.change(userId, by, async (current, transaction) => {
    const isRenamed = changes.username !== undefined && changes.username !== current.user.username;
    const details = { byApp: from === 'code' };
    if (isRenamed)
      await core.notices.before(usernameNotices['username-changed'], current, transaction, details);
    const letters = spelling === undefined ? {} : respelled(core, current, spelling);
    const { record, changed } = await core.userUpdates.update(
      current,
      { ...changes, ...letters },
      transaction,
    );
    if (changed.length > 0) {
      core.events.emit('user.updated', { userId, changed }, transaction);
      alongside?.(transaction);
    }
    return record;
  });
}

/** Returns the new letters of the username, unless the username has changed since the spelling was compared with it. */
function respelled({ usernames }: Core, { user }: UserRecord, spelling: string): UserChanges {
  const isSame = user.username !== null && usernames?.fold(spelling) === user.username;
  return isSame ? { usernameDisplay: usernames.lettersOf(user.username, spelling) } : {};
}

/**
 * Removes a sign-in method, unless it is the last one, and ends the sign-ins in progress, which can have begun with it. No
 * browser stands in for the second factor any more, because a removed passkey can have been one. It locks the user's row,
 * so that two concurrent removals cannot each rely on the method that the other removes.
 *
 * @param sessionId the requesting session; null for code
 * @param remove returns the user without the method
 * @throws AuthError `last_sign_in_method` (409), and errors that `remove` and {@link Core.change} throw
 */
export function removeWayIn(
  core: Core,
  userId: string,
  sessionId: string | null,
  remove: (record: UserRecord, transaction: Transaction) => Promise<UserRecord>,
): Promise<void> {
  return core.change(userId, { sessionId }, async (record, transaction) => {
    const left = await remove(record, transaction);
    if (!(await hasWayIn(left, core.contributions, transaction))) throw lastSignInMethod();
    await core.pendings.endAll(userId, transaction);
    await core.deviceRows.distrustAll(userId, transaction);
  });
}

/** Returns the error for a change that would leave a user without a sign-in method. */
export function lastSignInMethod(options?: { readonly detail: Phrase }): AuthError {
  return new AuthError('last_sign_in_method', options);
}

const usernameNotices = declareNotices(CORE, { 'username-changed': {} });

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof usernameNotices, unknown> {}
}
