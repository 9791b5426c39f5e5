import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import { AuthError, declareProblems } from '../errors.js';
import type { Asked, Mails } from '../mail/mails.js';
import type { User } from '../tables/core.js';
import { type ChecksAccounts, checkAccount, needsNewPassword, type UserRecord } from '../users/record.js';

/**
 * The purpose of a correct password: to sign in, to be changed, or to prove the identity of a session's or link's user.
 */
export type PasswordPurpose = 'sign-in' | 'change' | 'proof';

/** The links to choose a password, which are a later part of the core. */
interface MailsResetLinks {
  /** Emails the link to choose the required password: see `PasswordLinks`. */
  mailRequired(user: User, transaction: Transaction, asked: Asked): Promise<void>;
}

/** What {@link refuseFormerPassword} needs. */
export interface FormerPasswordNeeds {
  readonly database: Database;
  /** Null if `email` is not configured. */
  readonly mails: Mails | null;
  readonly passwordLinks: MailsResetLinks | null;
  readonly contributions: readonly ChecksAccounts[];
  /** Describes who requests an email. */
  asked(inSession: boolean): Asked;
}

/**
 * Rejects the correct password of an account that needs a new one. If no link can be emailed to a verified address, the
 * password still creates a session, in which the user replaces it.
 *
 * @throws AuthError `new_password_required`; for an account that cannot be used, the errors of its checks
 */
export async function refuseFormerPassword(
  core: FormerPasswordNeeds,
  record: UserRecord,
  purpose: PasswordPurpose,
): Promise<void> {
  if (!needsNewPassword(record.user)) return;
  // No link is emailed to the owner of a suspended account.
  checkAccount(record.account, core.contributions);
  if (purpose !== 'proof') {
    if (!isReplacedByMail(core, record)) return;
    const { user } = record;
    const asked = { ...core.asked(false), afterPassword: user.id };
    await core.database.transaction(async (transaction) => {
      await core.passwordLinks?.mailRequired(user, transaction, asked);
    });
  }
  throw new AuthError('new_password_required');
}

/** Whether an account needs a new password that can be chosen only with an emailed link. */
export function isReplacedByMail(
  { mails }: Pick<FormerPasswordNeeds, 'mails'>,
  { user }: UserRecord,
): boolean {
  return needsNewPassword(user) && mails !== null && user.email !== null && user.emailVerifiedAt !== null;
}

const problems = declareProblems({
  new_password_required: [
    403,
    'This account needs a new password. Follow the link in the email that was sent to you, or request another email.',
  ],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
