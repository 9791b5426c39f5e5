import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type {
  Asked,
  CodeMail,
  LinkMail,
  NewEmailMail,
  NoticeMail,
  OutgoingMail,
  RequestedCodeMail,
  SignInCodeMail,
} from '../mail/mails.js';
import type { Mailer } from '../mail/messages.js';
import { type Destination, MAIL_LANE, type OpenEntry } from '../outbox/lane.js';
import type { Devices } from '../sessions/devices.js';
import type { PendingSignIns } from '../sessions/pending-sign-ins.js';
import { mailboxOf } from '../users/canonical.js';
import type { HeldEmails } from '../users/held-emails.js';
import type { UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import type { CodeRequests } from '../waiting/code-requests.js';
import type { EmailedSignIns } from '../waiting/emailed-sign-ins.js';
import type { OneTimeTokens } from './tokens.js';

const MAILS_AT_ONCE = 25;
const SEND_MS = 60_000;
/** If a link is sent later than this after its request, its lifetime starts when it is sent. */
const LATE_MS = 60_000;

/** What {@link MailDelivery} needs. */
interface MailDeliveryNeeds {
  readonly database: Database;
  readonly limiter: Limiter;
  readonly users: Users;
  readonly held: HeldEmails;
  readonly devices: Devices;
  readonly tokens: OneTimeTokens;
  readonly pendings: PendingSignIns;
  /** Null without a plugin for them. */
  readonly emailedSignIns: EmailedSignIns | null;
  /** Null without a plugin for them. */
  readonly codeRequests: CodeRequests | null;
}

/** Sends the emails of the outbox. */
export class MailDelivery implements Destination {
  readonly lane = MAIL_LANE;
  readonly what = 'an email';
  readonly atOnce = MAILS_AT_ONCE;
  readonly timeoutMs = SEND_MS;

  constructor(
    private readonly core: MailDeliveryNeeds,
    private readonly mailer: Mailer,
  ) {}

  async send(entry: OpenEntry, signal: AbortSignal): Promise<boolean> {
    const mail = entry.content as OutgoingMail;
    if (mail.type === 'link') return this.#sendLink(mail, entry, signal);
    if (mail.type === 'code') return this.#sendCode(mail, entry, signal);
    if (mail.type === 'sign-in-code') return this.#sendSignInCode(mail, entry, signal);
    if (mail.type === 'requested-code') return this.#sendRequestedCode(mail, entry, signal);
    return mail.type === 'notice'
      ? this.#sendNotice(mail, entry, signal)
      : this.#sendToNewEmail(mail, entry, signal);
  }

  /**
   * Sends a link. For an email that no account has, it sends the same statements to the database, and writes a token
   * that no one can redeem. Otherwise response times would reveal which emails are known, because a write on SQLite
   * delays the next response.
   */
  async #sendLink(
    { email, links, asked = null }: LinkMail,
    { attempts }: OpenEntry,
    signal: AbortSignal,
  ): Promise<boolean> {
    const record = await this.core.users.findRecord({ email });
    const user = record?.user ?? null;
    const chosen = user && links.find(({ userId }) => userId === null || userId === user.id);
    const link = chosen?.link;
    const isWithin = asked === null || attempts > 1 || (await this.#isWithin(email, asked, record));
    if (link?.verifies && record?.emailProof.reaches('mailbox')) return false;
    const purpose = link?.purpose ?? links.at(-1)?.link.purpose;
    if (!purpose) return false;
    const isSent = link !== undefined && user !== null && isWithin;
    const token = await this.core.tokens.issue(purpose, isSent ? user.id : null, isSent ? email : '');
    if (!isSent) return false;
    await this.mailer.link({ template: link.template, user, to: email, token }, signal);
    return true;
  }

  /**
   * Counts an email against the limit of its mailbox. Requests by the owner are counted separately, so that a stranger
   * cannot use up the owner's limit. Requests for an email that no account has are counted separately too. An account
   * that has proven access to the mailbox has a limit of its own. All others share one, because anyone can sign up with
   * variants of another person's address.
   */
  async #isWithin(
    email: string,
    { inSession, device, afterPassword = null }: Asked,
    record: UserRecord | null,
  ): Promise<boolean> {
    const userId = record?.user.id ?? null;
    if (userId !== null && userId === afterPassword) return this.#count(userId, 'link after password');
    const hash = device === null ? null : Buffer.from(device, 'hex');
    const isKnown = inSession || (hash !== null && (await this.core.devices.knows(hash, userId)));
    const mailbox = mailboxOf(email);
    if (!record) return this.#count(`nobody ${mailbox}`, '');
    if (!isKnown) return this.#count(mailbox, '');
    return this.#count(record.emailProof.reaches('mailbox') ? record.user.id : mailbox, 'own');
  }

  async #count(mailbox: string, what: string): Promise<boolean> {
    try {
      await this.core.limiter.countAccount('mail', mailbox, what);
      return true;
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return false;
      throw error;
    }
  }

  /**
   * Sends a code, unless it has expired. The request contained the right password, so the code is counted for the
   * account, separately from other emails: a stranger without the password cannot use up this limit, and a stranger
   * with the password cannot use up the other limits. A code that was not sent is never right, so this limit is also the
   * limit on how many codes can be guessed.
   */
  async #sendCode(
    { requestHash = '', ...mail }: CodeMail,
    { attempts }: OpenEntry,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (attempts === 1 && !(await this.#count(mail.user.id, 'code after password'))) return false;
    if (this.core.database.clock.hasPassed(mail.until)) return false;
    await this.core.pendings.mailed(Buffer.from(requestHash, 'hex'));
    await this.mailer.code(mail, signal);
    return true;
  }

  /**
   * Sends the code of an emailed sign-in, or an email that says that there is no account. The statements to the
   * database are the same in both cases, and for accounts that are pending deletion, suspended or held: see
   * {@link #sendLink}.
   */
  async #sendSignInCode(
    { email, requestHash, askedBy, ...mail }: SignInCodeMail,
    { attempts }: OpenEntry,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { emailedSignIns: signIns } = this.core;
    if (!signIns) return false;
    const record = await this.core.users.findRecord({ email });
    const user = record?.user ?? null;
    const isFirst = attempts === 1;
    const asked = { ...mail.asked, inSession: user !== null && askedBy === user.id };
    const isWithin = !isFirst || (await this.#isWithin(email, asked, record));
    const isHeld = await this.core.held.isHeld(email, user?.id ?? null);
    const isOpen = record ? (record.account.deletedAt ?? null) === null : signIns.makesAccounts;
    const hasCode = isOpen && !isHeld;
    const hash = Buffer.from(requestHash, 'hex');
    const isLive = await signIns.mailedTo(record?.authEpoch ?? null, hash, isWithin && hasCode);
    // Every email is counted, so that the statements are the same. The count matters only if there is no code to send.
    const tells = isLive && isWithin && !hasCode;
    const counted = `${tells ? 'no-account' : 'sign-in-code'} ${mailboxOf(email)}`;
    const mayTell = (!isFirst || (await this.core.limiter.allowsDaily(counted))) && tells;
    if (!isLive || !isWithin || !(hasCode || mayTell)) return false;
    if (hasCode) await this.mailer.signInCode({ ...mail, user, to: email }, signal);
    else await this.mailer.noAccount(mail.otherwise, { user: null, to: email }, mail.facts, signal);
    return true;
  }

  /**
   * Sends the code that a browser has asked for. The statements to the database are the same whether or not an account has
   * the address: see {@link #sendLink}.
   */
  async #sendRequestedCode(
    { email, requestHash, verifies, otherwise, ...mail }: RequestedCodeMail,
    { attempts }: OpenEntry,
    signal: AbortSignal,
  ): Promise<boolean> {
    const record = await this.core.users.findRecord({ email });
    const isWithin = attempts > 1 || (await this.#isWithin(email, mail.asked, record));
    const isOther = verifies !== undefined && record?.user.id !== verifies;
    const isPointless = verifies !== undefined && record?.emailProof.reaches('mailbox');
    const hasCode = record !== null && isWithin && !isOther && !isPointless;
    const isLive = await this.core.codeRequests?.mailed(Buffer.from(requestHash, 'hex'), hasCode);
    if (!record || !isLive || !isWithin) return false;
    const { user } = record;
    if (hasCode) await this.mailer.requestedCode({ ...mail, user, to: email }, signal);
    else if (isOther && otherwise)
      await this.mailer.noAccount(otherwise, { user, to: email }, mail.facts, signal);
    else return false;
    return true;
  }

  async #sendToNewEmail(
    mail: NewEmailMail,
    { attempts, createdAt }: OpenEntry,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { lifetimeMs, to, token } = mail;
    if (attempts === 1 && !(await this.#count(mailboxOf(to), ''))) return false;
    const isLate = this.core.database.clock.now() - createdAt.getTime() > LATE_MS;
    // A newer request, or a change that ended the user's sessions, might have invalidated the token.
    if (isLate && !(await this.core.tokens.prolong(token, lifetimeMs))) return false;
    await this.mailer.link(mail, signal);
    return true;
  }

  async #sendNotice(mail: NoticeMail, { attempts }: OpenEntry, signal: AbortSignal): Promise<boolean> {
    const { user, to, facts, isAsked = false } = mail;
    if (isAsked && attempts === 1 && !(await this.#count(mailboxOf(to), ''))) return false;
    // An unverified address might not be the user's. It gets the notice anyway, because many apps verify no addresses.
    const isLimited = facts !== null && user.emailVerifiedAt === null;
    if (isLimited && attempts === 1 && !(await this.#mayTell(to))) return false;
    await this.mailer.notice(mail, signal);
    return true;
  }

  async #mayTell(to: string): Promise<boolean> {
    try {
      return await this.core.limiter.allowsNotice(to);
    } catch {
      // If the limit cannot be checked, send the notice: one email too many is better than an unnoticed attacker.
      return true;
    }
  }
}
