import { AuthError } from '../errors.js';
import type { User } from '../models/user.js';
import { changeAccount } from './change-account.js';
import type { Core } from './core.js';
import {
  emailChangeConflictMail,
  emailChangedMail,
  emailChangeRequestedMail,
  VERIFY_NEW_EMAIL,
  verifyNewEmailMail,
} from './email-change-mails.js';
import { passwordsOf } from './passwords.js';
import type { Attached } from './proof-of-email.js';
import type { IssuedSession } from './sessions.js';
import type { UserRecord } from './user-record.js';

const PASSWORD_AND_SESSIONS: readonly Attached[] = ['password', 'sessions'];
const EVERYTHING: readonly Attached[] = [...PASSWORD_AND_SESSIONS, 'credentials'];

/**
 * What a first verification keeps, since whoever changes the email has shown that it is theirs. API keys and links may have
 * been added by somebody who had signed up with the address of another person; but not to an account without any, of which a
 * link may be the only way in.
 */
function keptBy({ email }: User): readonly Attached[] {
  return email === null ? EVERYTHING : PASSWORD_AND_SESSIONS;
}

/** Who confirms: the user's session, or their password. */
export interface ShownAtConfirmation {
  /** The session of the request, of whichever user. */
  readonly session: { readonly userId: string; readonly sessionId: string } | null;
  readonly password: string | undefined;
}

/** A confirmed change, and the session that goes on with a new token. */
export interface ConfirmedEmailChange {
  readonly user: User;
  /** Null without a session of the user. */
  readonly issued: IssuedSession | null;
}

/**
 * Emails a link to a new address of an account. What it does is the same whether or not another account has the address,
 * except that the link then goes to nobody, and that account's owner is told.
 *
 * @param email in canonical form
 * @param sessionId the session of the user who asks for it; null for code
 * @throws AuthError `rate_limited`, `invalid_session` or `user_not_found`
 */
export async function requestEmailChange(
  core: Core,
  userId: string,
  sessionId: string | null,
  email: string,
): Promise<void> {
  const { limiter, tokens, users } = core;
  const { mailer, page } = requireMailer(core);
  const { name } = VERIFY_NEW_EMAIL;
  await limiter.countAddress('mail', name);
  await limiter.countAccount('mail', userId, name);
  // Several accounts must not flood one mailbox.
  await limiter.countAccount('mail', email, `${name} to`);
  const holder = (await users.findRecord({ email }))?.user ?? null;
  const { user, token } = await changeAccount(core, userId, sessionId, async (transaction, record) => ({
    user: record.user,
    token: await tokens.issueForNewEmail(VERIFY_NEW_EMAIL, record, email, transaction),
  }));
  mailer.later(async () => {
    if (holder && holder.id !== userId) await mailer.notify(emailChangeConflictMail, holder, email);
    else await mailer.send({ ...verifyNewEmailMail, page }, user, email, token);
  });
  if (user.email !== null && user.email !== email) tell(core, emailChangeRequestedMail, user, user.email);
}

/**
 * Redeems such a link. The address is verified then. All other sessions end, and so do all emailed links.
 *
 * @throws AuthError `invalid_token`, `email_taken`, `unauthenticated`, `invalid_credentials`, `invalid_session`,
 *   `rate_limited`
 */
export async function confirmEmailChange(
  core: Core,
  token: string,
  shown: ShownAtConfirmation,
): Promise<ConfirmedEmailChange> {
  const { sessions, tokens, events } = core;
  const found = await tokens.find(VERIFY_NEW_EMAIL, token);
  const { user: before } = found.record;
  const sessionId = await ownSession(core, found.record, shown);
  const { user, ended, issued } = await usingUp(core, token, () =>
    tokens.redeem(
      found,
      async ({ user, authEpoch }, transaction) => {
        if (sessionId && !(await sessions.isStillOpen(sessionId, authEpoch, transaction)))
          throw new AuthError('invalid_session');
        const ended = await sessions.endAll(user.id, transaction, sessionId ?? '');
        const issued = sessionId
          ? await sessions.renew(user, sessionId, authEpoch + 1, transaction, false)
          : null;
        return { user, ended, issued };
      },
      keptBy(before),
    ),
  );
  sessions.announceEnd(user.id, ended);
  if (user.email !== before.email) {
    events.emit('user.email_changed', { userId: user.id });
    if (before.email !== null) tell(core, emailChangedMail, user, before.email);
  }
  return { user, issued };
}

/**
 * Changes a user's email because the app says so. Emailed links end, sessions go on.
 *
 * @param email in canonical form
 * @param verified whether the app knows that it is the user's
 * @throws AuthError `email_taken`, `user_not_found`
 */
export async function setEmail(
  core: Core,
  userId: string,
  email: string,
  verified: boolean,
): Promise<UserRecord> {
  const { before, proved } = await changeAccount(core, userId, null, async (transaction, record) => {
    const by = verified ? 'app' : null;
    return {
      before: record.user.email,
      proved: await core.proofs.replaceEmail(record, email, by, keptBy(record.user), transaction),
    };
  });
  core.proofs.announce(proved);
  if (before !== email) {
    core.events.emit('user.email_changed', { userId });
    if (before !== null) tell(core, emailChangedMail, proved.record.user, before);
  }
  return proved.record;
}

/** The session to go on with, if it is the user's. Otherwise, the password is required. */
async function ownSession(
  core: Core,
  record: UserRecord,
  { session, password }: ShownAtConfirmation,
): Promise<string | null> {
  if (session?.userId === record.user.id) return session.sessionId;
  const passwords = passwordsOf(core);
  if (password === undefined || !passwords) throw new AuthError('unauthenticated');
  await passwords.verify(record, password);
  return null;
}

/** Another account has got the address in the meantime, and that does not change by trying again. */
async function usingUp<T>(core: Core, token: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AuthError && error.code === 'email_taken') await core.tokens.discard(token);
    throw error;
  }
}

function tell({ mailer }: Core, notice: typeof emailChangedMail, user: User, to: string): void {
  mailer?.later(() => mailer.notify(notice, user, to));
}

function requireMailer({ mailer, settings: { email } }: Core) {
  if (!mailer || !email) throw new TypeError('latchkey: this requires email: { send } in the config');
  return { mailer, page: email.changeEmailUrl };
}
