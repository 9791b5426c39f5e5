import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { declareNotices } from '../mail/notice-kinds.js';
import type { LinkTexts, PlainTemplate } from '../mail/templates.js';
import { CORE } from '../owners.js';
import type { IssuedSession } from '../sessions/signed-in.js';
import type { Session, User } from '../tables/core.js';
import { EmailProof } from '../users/email-proof.js';
import type { UserRecord } from '../users/record.js';
import type { BeforeChange } from '../verification/email-proofs.js';
import { VERIFY_NEW_EMAIL } from '../verification/purposes.js';
import { dropFormerPassword } from './required-password.js';

/** The proof that the user confirms the change: the user's session or password. */
export interface ShownAtConfirmation {
  /** The session of the request. It can belong to another user. */
  readonly session: Session | null;
  /** Whether the session is enough. Otherwise, the password is required too: see `OwnBrowser`. */
  readonly isEnough: boolean;
  readonly password: string | undefined;
}

/** A confirmed change, and the session that continues with a new token. */
export interface ConfirmedEmailChange {
  readonly user: User;
  /** Null if the request has no session of the user. */
  readonly issued: IssuedSession | null;
}

/**
 * Emails a link to a new address of an account. It does the same work whether or not another account has the address.
 * If another account has it, the link is not sent, and that account's owner gets an email instead.
 *
 * @param email in canonical form
 * @param sessionId the session of the user who requests the change; null for code
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
  await limiter.countAddress('mailAddress');
  const holderRecord = await users.findRecord({ email });
  const holder = holderRecord?.user ?? null;
  const isTaken = holder !== null && holder.id !== userId;
  await core.change(userId, { sessionId }, async (record, transaction) => {
    const { user } = record;
    const token = await tokens.issueForNewEmail(VERIFY_NEW_EMAIL, record, email, transaction);
    const { lifetimeMs } = VERIFY_NEW_EMAIL;
    if (isTaken) {
      const inPlaceOf = { token, lifetimeMs };
      const conflict = { template: emailChangeConflictMail, user: holder, to: email, facts: null };
      const language = core.mailLanguages.ofAccount(holderRecord?.account ?? null);
      await mails.notice({ ...conflict, isAsked: true, inPlaceOf, language }, transaction);
    } else {
      const template = { ...verifyNewEmailMail, page };
      const language = core.mailLanguages.ofAccount(record.account);
      await mails.toNewEmail({ template, lifetimeMs, user, to: email, token, language }, transaction);
    }
    if (user.email !== email)
      await core.notices.plain(emailNotices['email-change-requested'], user, transaction);
  });
}

/** Returns the new address that a user has not confirmed yet. Null if there is none. */
export function emailInWaiting({ tokens }: Core, userId: string): Promise<string | null> {
  return tokens.newEmailOf(VERIFY_NEW_EMAIL, userId);
}

/**
 * Revokes the link to a new address of a user, if there is one. Nothing has changed, so there is no notice.
 *
 * @param sessionId the session of the user
 * @throws AuthError `invalid_session` if the session has ended
 */
export function cancelEmailChange(core: Core, userId: string, sessionId: string): Promise<void> {
  return core.change(userId, { sessionId }, (_record, transaction) =>
    core.tokens.endFor(VERIFY_NEW_EMAIL, userId, transaction),
  );
}

/**
 * Redeems a link for a new email, which also verifies the address. It revokes all other sessions and all emailed links.
 * An account with a second factor requires a session that was recently verified with it.
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
          ? await sessions.renew({ user, authEpoch: authEpoch + 1 }, sessionId, transaction, {
              isFresh: false,
            })
          : null;
        return { user, issued };
      },
      true,
      told,
    ),
  );
}

/** Who sets a user's email. */
export interface EmailSetBy {
  /** Whether the app knows that the email is the user's. */
  readonly verified: boolean;
  /**
   * The session of the user who makes the change, which must be fresh. Null for the app itself, whose change is final.
   */
  readonly sessionId: string | null;
}

/**
 * Changes a user's email at the app's request. Emailed links stop working, and sessions continue.
 *
 * @param email in canonical form
 * @throws AuthError `email_taken`, `user_not_found`, and with a session like {@link Core.change}
 */
export async function setEmail(
  core: Core,
  userId: string,
  email: string,
  { verified, sessionId }: EmailSetBy,
): Promise<UserRecord> {
  const told = telling(core, sessionId === null);
  return core.change(userId, { sessionId, fresh: true }, async (record, transaction) => {
    const { user } = record;
    // A change that the app makes is final, even if the email stays the same.
    if (sessionId === null) await core.history.end(userId, transaction);
    const proof = verified ? EmailProof.byApp : EmailProof.none;
    const changed = await core.emailProofs.replaceEmail(record, email, { proof, before: told }, transaction);
    await dropFormerPassword(core, record, changed, transaction);
    if (user.email === email) return changed;
    // Sessions of a previous system that identify the user only by the address no longer belong to the account.
    await core.sessions.keepAll(userId, transaction);
    core.events.emit('user.email_changed', { userId }, transaction);
    return changed;
  });
}

/** Returns the id of the session to continue, if it is the user's. Otherwise, requires the password. */
async function ownSession(
  core: Core,
  record: UserRecord,
  { session, isEnough, password }: ShownAtConfirmation,
): Promise<string | null> {
  const own = session?.userId === record.user.id ? session : null;
  if (!own || !isEnough) {
    if (password === undefined || !core.passwordCheck) throw new AuthError('unauthenticated');
    await core.passwordCheck.verifyOwn(record, password);
  }
  requireStrong(core, record.account, own);
  return own?.id ?? null;
}

/** Requires the second factor of an account that has one, because a password does not replace it. */
function requireStrong({ secondFactors }: Core, account: object, session: Session | null): void {
  if (session) secondFactors.requireFor(account, session);
  else if (secondFactors.isOn(account)) throw new AuthError('second_factor_required');
}

/** Discards the token if another account has got the address in the meantime, because a retry would also fail. */
async function usingUp<T>(core: Core, token: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AuthError && error.code === 'email_taken') await core.tokens.discard(token);
    throw error;
  }
}

/** Sends the notice to the address that the account had before. @param isFinal whether the app makes the change */
function telling({ notices }: Core, isFinal: boolean): BeforeChange {
  return (record, transaction) => {
    const template = emailNotices['email-changed'];
    if (isFinal) return notices.final(template, record, transaction, { takenEmail: record.user.email });
    return notices.before(template, record, transaction, {
      // An address that no one has vouched for must not be blocked for its owner.
      takenEmail: record.emailProof.reaches('app') ? record.user.email : null,
    });
  };
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

const verifyNewEmailMail: LinkTexts = { kind: 'verify-new-email', text: 'verify-new-email' };

const emailChangeConflictMail: PlainTemplate = {
  kind: 'email-change-conflict',
  text: 'email-change-conflict',
  advicePage: 'sign-in',
};

const emailNotices = declareNotices(CORE, {
  'email-change-requested': { advicePage: 'account/security' },
  'email-changed': { losesAddress: true },
});

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof emailNotices, unknown> {}
}
