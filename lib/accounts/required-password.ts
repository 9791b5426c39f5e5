import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { declareNotices } from '../mail/notice-kinds.js';
import { declareEvents, OF_ADMINISTRATOR } from '../outbox/events.js';
import { CORE } from '../owners.js';
import { isReplacedByMail } from '../sessions/former-password.js';
import type { Task } from '../sessions/tasks.js';
import { needsNewPassword, type UserRecord } from '../users/record.js';
import { storePassword } from './passwords.js';

/**
 * Requires a user to choose a new password, and revokes all of the user's sessions. If a link can be emailed to a
 * verified address, a sign-in with the former password is rejected, and the link is emailed. Otherwise, the sign-in
 * creates a session with the task `choose_password`. Does nothing if the account has no password.
 *
 * @param adminId the administrator who does it; null for the app itself
 * @throws AuthError `user_not_found`; `own_account` if `adminId` is the user
 */
export async function requireNewPassword(core: Core, userId: string, adminId: string | null): Promise<void> {
  if (adminId === userId) throw new AuthError('own_account');
  await core.change(userId, { sessionId: null }, async (record, transaction) => {
    if (record.passwordHash === null) return;
    await core.notices.final(requiredNotices['new-password-required'], record, transaction);
    await core.users.requireNewPassword(userId, transaction);
    core.events.emit('password.new_required', { userId, adminId }, transaction);
    await core.sessions.endAll(userId, transaction);
  });
}

/**
 * Removes the former password of an account whose address is no longer verified. The password was invalid until then,
 * and would otherwise create sessions again.
 */
export async function dropFormerPassword(
  core: Core,
  before: UserRecord,
  after: UserRecord,
  transaction: Transaction,
): Promise<void> {
  if (isReplacedByMail(core, before) && !isReplacedByMail(core, after))
    await storePassword(core, before.user.id, null, transaction);
}

/** The task of an account that needs a new password, in sessions that were created with the current password. */
export const choosePassword: Task = {
  name: 'choose_password',
  page: null,
  holdsKeys: true,
  isListed: false,
  isOpen: (user, session) => needsNewPassword(user) && (session === null || session.amr.includes('pwd')),
};

declare module '../outbox/events.js' {
  interface EventDetails {
    /** A user must choose a new password. `adminId` is null if the app's own code required it. */
    'password.new_required': { readonly userId: string; readonly adminId: string | null };
  }
}

declareEvents(CORE, { 'password.new_required': { adminId: OF_ADMINISTRATOR } });

const requiredNotices = declareNotices(CORE, { 'new-password-required': { advicePage: 'sign-in' } });

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof requiredNotices, unknown> {}
}
