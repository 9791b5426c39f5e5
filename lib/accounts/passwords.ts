import type { Transaction } from 'sequelize';
import { howToEnablePasswords } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { invalidField } from '../errors.js';
import { newPasswordNotice } from '../notices/passwords.js';
import { say } from '../phrases.js';
import type { User } from '../tables/core.js';
import type { Passwords } from '../users/passwords.js';
import { needsNewPassword, type UserRecord } from '../users/record.js';
import type { Username } from '../users/usernames.js';

/** @param what the call that requires passwords, for the message. @throws TypeError if users have no passwords */
export function requirePasswords({ passwords }: Core, what: string): Passwords {
  if (passwords) return passwords;
  throw new TypeError(`latchkey: ${what} requires passwords: ${howToEnablePasswords()}`);
}

/** Reads a new username. @throws AuthError `validation_failed`, including when usernames are not enabled */
export function readUsername({ usernames }: Core, username: string): Username {
  if (usernames) return usernames.check(username);
  throw invalidField('/username', 'unknown_key', say('username-not-accepted'));
}

/** How to replace a user's password. */
export interface ReplacePasswordOptions {
  /**
   * The session of the user who makes the change, which must be fresh; null for the app itself, whose change is final.
   */
  readonly sessionId: string | null;
  readonly keepSessions: boolean;
  readonly skipRules: boolean;
}

/**
 * Replaces the password of a user at the app's request. It revokes every session, unless `keepSessions` is set.
 *
 * @throws AuthError `validation_failed`, `user_not_found`, and with a session like {@link Core.change}
 * @throws TypeError if users have no passwords
 */
export async function replacePassword(
  core: Core,
  userId: string,
  newPassword: string,
  { sessionId, keepSessions, skipRules }: ReplacePasswordOptions,
): Promise<void> {
  const { sessions, events, notices } = core;
  const passwords = requirePasswords(core, 'auth.users.setPassword');
  const record = await core.users.require(userId);
  const { email, username } = record.user;
  if (sessionId !== null) await requireOtherPassword(core, record, newPassword);
  const passwordHash = await passwords.hashGiven(newPassword, [email, username], skipRules);
  await core.change(userId, { sessionId, fresh: true }, async (current, transaction) => {
    const notice = newPasswordNotice(current);
    await notices.changed(sessionId, notice, current, transaction);
    await storePassword(core, userId, passwordHash, transaction);
    if (sessionId !== null) await core.devices.forgetOthers(userId, transaction);
    events.emit('password.changed', { userId }, transaction);
    await (keepSessions ? sessions.keepAll(userId, transaction) : sessions.endAll(userId, transaction));
  });
}

/**
 * Stores a new password, or none, and revokes the emailed reset links.
 *
 * @returns the other values of the user that change
 */
export async function storePassword(
  { users, tokens }: Core,
  userId: string,
  passwordHash: string | null,
  transaction: Transaction,
): Promise<Pick<User, 'updatedAt' | 'newPasswordRequiredAt'>> {
  await tokens.endWithNewPassword(userId, transaction);
  return users.setPasswordHash(userId, passwordHash, transaction);
}

/**
 * Requires a new password to differ from the current one, if the account needs a new one.
 *
 * @throws AuthError `validation_failed`
 */
export async function requireOtherPassword(
  { passwords }: Core,
  { user, passwordHash }: UserRecord,
  newPassword: string,
): Promise<void> {
  if (needsNewPassword(user) && (await passwords?.matches(passwordHash, newPassword)))
    throw invalidField('/new_password', 'same_password', say('same-password'));
}
