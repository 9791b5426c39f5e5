import type { Transaction } from 'sequelize';
import { howToEnablePasswords } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { invalidField } from '../errors.js';
import type { Asked, Link } from '../mail/mails.js';
import type { MailTemplate } from '../mail/messages.js';
import { newPasswordNotice } from '../notices/passwords.js';
import type { User } from '../tables/core.js';
import type { Passwords } from '../users/passwords.js';
import { needsNewPassword, type UserRecord } from '../users/record.js';
import type { Username } from '../users/usernames.js';
import type { Purpose } from '../verification/tokens.js';

/** @param what the call that requires passwords, for the message. @throws TypeError if users have no passwords */
export function requirePasswords({ passwords }: Core, what: string): Passwords {
  if (passwords) return passwords;
  throw new TypeError(`latchkey: ${what} requires passwords: ${howToEnablePasswords()}`);
}

/** Reads a new username. @throws AuthError `validation_failed`, including when usernames are not enabled */
export function readUsername({ usernames }: Core, username: string): Username {
  if (usernames) return usernames.check(username);
  throw invalidField('/username', 'unknown_key', 'is not accepted: usernames are not enabled');
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
    if (sessionId === null) await notices.final(notice, current, transaction);
    else await notices.before(notice, current, transaction);
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
    throw invalidField('/new_password', 'same_password', 'must differ from the current password');
}

/** Whether links to choose a password can be emailed. */
export function hasPasswordLinks({ mails, passwords }: Core): boolean {
  return mails !== null && passwords !== null;
}

interface ResetLinkOptions {
  /** Texts that replace the usual ones. @default {} */
  readonly texts?: Partial<MailTemplate>;
  /** Who asks for the link. Null if the app does, without a limit. @default null */
  readonly asked?: Asked | null;
}

/** Emails a user a reset link, if that is possible and the user has an email. */
export async function mailResetLink(
  core: Core,
  user: User,
  transaction?: Transaction,
  { texts = {}, asked = null }: ResetLinkOptions = {},
): Promise<void> {
  const { template, purpose } = resetLink(core);
  const link = { template: { ...template, ...texts }, purpose };
  if (hasPasswordLinks(core)) await core.mails?.link(link, user, asked, transaction);
}

/**
 * Emails the link to choose a first password to a user whom an administrator or the app created, if that is possible.
 */
export async function mailInvitation(core: Core, user: User, transaction?: Transaction): Promise<void> {
  const template = { ...invitationMail, page: core.settings.email?.invitationUrl ?? '' };
  if (hasPasswordLinks(core))
    await core.mails?.link({ template, purpose: INVITATION }, user, null, transaction);
}

export function resetLink({ settings }: Core): Link {
  return {
    template: { ...resetPasswordMail, page: settings.email?.resetUrl ?? '' },
    purpose: RESET_PASSWORD,
  };
}

declare module '../mail/messages.js' {
  interface MailKinds {
    'reset-password': unknown;
    invitation: unknown;
  }
}

const HOUR_MS = 60 * 60 * 1000;

export const RESET_PASSWORD: Purpose = {
  name: 'reset-password',
  lifetimeMs: HOUR_MS,
  endsWithPassword: true,
};
/** A link for the first password of a user whom an administrator has created. It is redeemed like a reset link. */
export const INVITATION: Purpose = {
  name: 'invitation',
  lifetimeMs: 7 * 24 * HOUR_MS,
  endsWithPassword: true,
};

const resetPasswordMail: Omit<MailTemplate, 'page'> = {
  kind: 'reset-password',
  subject: 'Choose a new password',
  before: 'Someone requested a new password for your account. If it was you, choose one here:',
  action: 'Choose a new password',
  after: 'The link expires in one hour. If it was not you, ignore this email: your password has not changed.',
};

const invitationMail: Omit<MailTemplate, 'page'> = {
  kind: 'invitation',
  subject: 'Your new account',
  before: 'An account was created for you. Choose a password here:',
  action: 'Choose a password',
  after: 'The link expires in 7 days. If you did not expect this, you can ignore this email.',
};
