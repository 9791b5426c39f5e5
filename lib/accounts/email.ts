import { BY_CODE, type Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import type { MailTemplate, PlainTemplate } from '../mail/messages.js';
import { declareNotices } from '../mail/notice-kinds.js';
import { CORE } from '../owners.js';
import type { IssuedSession } from '../sessions/signed-in.js';
import type { Session, User } from '../tables/core.js';
import type { UserRecord } from '../users/record.js';
import type { Attached, BeforeChange } from '../verification/proof.js';
import { VERIFY_NEW_EMAIL } from '../verification/tokens.js';

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
  readonly session: Session | null;
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
  const { mails, page } = requireMails(core);
  const { name } = VERIFY_NEW_EMAIL;
  await limiter.countAddress('mail', name);
  await limiter.countAccount('mail', userId, name);
  // Several accounts must not flood one mailbox.
  await limiter.countAccount('mail', email, `${name} to`);
  const holder = (await users.findRecord({ email }))?.user ?? null;
  const isTaken = holder !== null && holder.id !== userId;
  await core.change(userId, { sessionId }, async (record, transaction) => {
    const { user } = record;
    const token = await tokens.issueForNewEmail(VERIFY_NEW_EMAIL, record, email, transaction);
    if (isTaken)
      await mails.notice(
        { template: emailChangeConflictMail, user: holder, to: email, facts: null },
        transaction,
      );
    else {
      const template = { ...verifyNewEmailMail, page };
      const { lifetimeMs } = VERIFY_NEW_EMAIL;
      await mails.toNewEmail({ template, lifetimeMs, user, to: email, token }, transaction);
    }
    if (user.email !== email)
      await core.notices.plain(emailNotices['email-change-requested'], user, transaction);
  });
}

/**
 * Redeems such a link. The address is verified then. All other sessions end, and so do all emailed links. An account with a
 * second factor demands a session that has shown it recently.
 *
 * @throws AuthError `invalid_token`, `email_taken`, `unauthenticated`, `invalid_credentials`, `invalid_session`,
 *   `second_factor_required`, `reauthentication_required`, `rate_limited`
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
  const told = telling(core, false);
  return usingUp(core, token, () =>
    tokens.redeem(
      found,
      async ({ user, account, authEpoch }, transaction) => {
        const session = sessionId && (await sessions.stillOpen(sessionId, authEpoch, transaction));
        if (sessionId && !session) throw new AuthError('invalid_session');
        requireStrong(core, account, session || null);
        await sessions.endAll(user.id, transaction, sessionId ?? '');
        if (user.email !== before.email) events.emit('user.email_changed', { userId: user.id }, transaction);
        const issued = sessionId
          ? await sessions.renew(user, sessionId, authEpoch + 1, transaction, { isFresh: false })
          : null;
        return { user, issued };
      },
      keptBy(before),
      told,
    ),
  );
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
  const told = telling(core, true);
  return core.change(userId, BY_CODE, async (record, transaction) => {
    const { user } = record;
    const by = verified ? 'app' : null;
    const changed = await core.proofs.replaceEmail(record, email, by, keptBy(user), transaction, told);
    if (user.email !== email) core.events.emit('user.email_changed', { userId }, transaction);
    return changed;
  });
}

/** The session to go on with, if it is the user's. Otherwise, the password is required. */
async function ownSession(
  core: Core,
  record: UserRecord,
  { session, password }: ShownAtConfirmation,
): Promise<string | null> {
  if (session?.userId === record.user.id) {
    requireStrong(core, record.account, session);
    return session.id;
  }
  if (password === undefined || !core.passwordCheck) throw new AuthError('unauthenticated');
  await core.passwordCheck.verifyOwn(record, password);
  requireStrong(core, record.account, null);
  return null;
}

/** An account with a second factor demands it, which a password is not. */
function requireStrong({ secondFactors }: Core, account: object, session: Session | null): void {
  if (session) secondFactors.requireFor(account, session);
  else if (secondFactors.isOn(account)) throw new AuthError('second_factor_required');
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

/** Tells the address that the account had before. */
function telling({ notices }: Core, byApp: boolean): BeforeChange {
  return (record, transaction) =>
    notices.before(emailNotices['email-changed'], record, transaction, {
      takenEmail: record.user.email,
      byApp,
    });
}

function requireMails({ mails, settings: { email } }: Core) {
  if (!mails || !email) throw new TypeError('latchkey: this requires email: { send } in the config');
  return { mails, page: email.changeEmailUrl };
}

declare module '../mail/messages.js' {
  interface MailKinds {
    'verify-new-email': unknown;
    'email-change-conflict': unknown;
  }
}

export const verifyNewEmailMail: Omit<MailTemplate, 'page'> = {
  kind: 'verify-new-email',
  subject: 'Confirm your new email address',
  before: 'Please confirm that this is the new email address of your account:',
  action: 'Confirm the address',
  after: 'The link expires in one hour. If you did not ask for it, ignore this email: nothing has changed.',
};

export const emailChangeConflictMail: PlainTemplate = {
  kind: 'email-change-conflict',
  subject: 'You already have an account with this address',
  lines: [
    'Someone asked to make this the email address of another account. Nothing has changed, because your account has it.',
    'If it was you, sign in to the account with this address, and change its address or close it first. If it was not, ignore this email.',
  ],
};

const emailNotices = declareNotices(CORE, {
  'email-change-requested': {
    subject: 'Your email address is about to change',
    lines: [
      'Someone who is signed in to your account asked to change its email address. A link to confirm it went to the new address.',
    ],
    help: 'If it was you, there is nothing to do here. If it was not, change your password now: the link will not work any more.',
  },
  'email-changed': {
    subject: 'Your email address was changed',
    lines: ['Your account has a new email address, and this one does not belong to it any more.'],
  },
});

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof emailNotices, unknown> {}
}
