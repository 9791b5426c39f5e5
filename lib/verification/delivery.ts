import type { Settings } from '../config/config.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type {
  AddressedMail,
  Asked,
  CodeMail,
  LinkMail,
  NewEmailMail,
  NoticeMail,
  OutgoingMail,
  RequestedCodeMail,
  SignInCodeMail,
} from '../mail/mails.js';
import type { LinkToSend, Mailer, MailKind, NoticeToSend } from '../mail/messages.js';
import type { NoAccountTemplate } from '../mail/templates.js';
import {
  type Destination,
  type HeldBack,
  MAIL_LANE,
  NotBegunError,
  type OpenEntry,
  type Outcome,
} from '../outbox/lane.js';
import type { Devices } from '../sessions/devices.js';
import type { PendingSignIns } from '../sessions/pending-sign-ins.js';
import { mailboxOf } from '../users/canonical.js';
import type { SignUp } from '../users/create.js';
import { EmailProof } from '../users/email-proof.js';
import type { HeldEmails } from '../users/held-emails.js';
import type { UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import type { CodeRequests } from '../waiting/code-requests.js';
import type { EmailedSignIns } from '../waiting/emailed-sign-ins.js';
import type { MailLanguages } from './mail-languages.js';
import { type Deleted, deletedAccountMail, RESET_PASSWORD, restorableUntil } from './password-links.js';
import { MailsToStrangers, type StrangersNeeds } from './strangers.js';
import type { OneTimeTokens } from './tokens.js';

const MAILS_AT_ONCE = 25;
const SEND_MS = 60_000;
/** If a link is sent later than this after its request, its lifetime starts when it is sent. */
const LATE_MS = 60_000;

/** Returns the email to the owner of a deleted account, who would search in vain for what "no account" means. */
function noAccountMail(deleted: Deleted): NoAccountTemplate {
  const values = { at: deleted.at, until: restorableUntil(deleted) };
  return { kind: 'no-account', text: 'no-account/deleted', values, page: null };
}

/** What {@link MailDelivery} needs. */
interface MailDeliveryNeeds extends StrangersNeeds {
  readonly settings: Settings;
  readonly database: Database;
  readonly limiter: Limiter;
  readonly users: Users;
  readonly mailLanguages: MailLanguages;
  readonly held: HeldEmails;
  readonly devices: Devices;
  readonly tokens: OneTimeTokens;
  readonly pendings: PendingSignIns;
  /** Null without a plugin for them. */
  readonly emailedSignIns: EmailedSignIns | null;
  /** Null without a plugin for them. */
  readonly codeRequests: CodeRequests | null;
  readonly signUp: Pick<SignUp, 'isInvited'>;
  readonly contributions: readonly WritesMails[];
}

/** The link of an email, issued when the email is sent. */
export interface IssuedLink extends Pick<LinkToSend, 'template' | 'token' | 'lifetimeMs'> {}

/** A plugin that emails addresses that might have no account. */
export interface WritesMails {
  /**
   * Issues the link of an email, by the kind of the email. It is called only if the limits allow the email, and again
   * for each attempt to send it.
   *
   * @returns null if there is no reason to send it any longer
   */
  readonly writesMails?: Readonly<Partial<Record<MailKind, (ref: string) => Promise<IssuedLink | null>>>>;
}

/** Passes an email to the app's `send`. */
type Ready = () => Promise<void>;

/** Sends the emails of the outbox. */
export class MailDelivery implements Destination {
  readonly lane = MAIL_LANE;
  readonly what = 'an email';
  readonly atOnce = MAILS_AT_ONCE;
  readonly timeoutMs = SEND_MS;
  readonly holding: MailsToStrangers;

  constructor(
    private readonly core: MailDeliveryNeeds,
    private readonly mailer: Mailer,
  ) {
    this.holding = new MailsToStrangers(core);
  }

  async send(entry: OpenEntry, signal: AbortSignal): Promise<Outcome> {
    const prepared = await this.#prepare(entry, signal).catch((cause) => {
      throw new NotBegunError('the email could not be prepared', { cause });
    });
    if (typeof prepared !== 'function') return prepared;
    await prepared();
    return 'sent';
  }

  /** @returns the function that passes the email to the app; otherwise, why it is not sent now */
  async #prepare(entry: OpenEntry, signal: AbortSignal): Promise<Ready | 'dropped' | HeldBack> {
    const mail = entry.content as OutgoingMail;
    if (mail.type === 'link') return this.#link(mail, entry, signal);
    if (mail.type === 'code') return this.#code(mail, entry, signal);
    if (mail.type === 'sign-in-code') return this.#signInCode(mail, entry, signal);
    if (mail.type === 'addressed') return this.#addressed(mail, entry, signal);
    if (mail.type === 'requested-code') return this.#requestedCode(mail, entry, signal);
    return mail.type === 'notice' ? this.#notice(mail, entry, signal) : this.#newEmail(mail, entry, signal);
  }

  /**
   * Prepares a link. For an email that no account has, it sends the same statements to the database, and writes a token
   * that no one can redeem. Otherwise response times would reveal which emails are known, because a write on SQLite
   * delays the next response.
   */
  async #link(
    { email, links, asked = null, language }: LinkMail,
    entry: OpenEntry,
    signal: AbortSignal,
  ): Promise<Ready | 'dropped' | HeldBack> {
    const record = await this.core.users.findRecord({ email });
    const user = record?.user ?? null;
    const chosen = user && links.find(({ userId }) => userId === null || userId === user.id);
    const link = chosen?.link;
    const isKnown = asked !== null && (await this.#isKnown(asked, user?.id ?? null));
    const isWithin = asked === null || (await this.#isWithin(email, asked, { entry, record, isKnown }));
    if (link?.verifies && record?.emailProof.reaches('mailbox')) return 'dropped';
    const purpose = link?.purpose ?? links.at(-1)?.link.purpose;
    if (!purpose) return 'dropped';
    const isToSend = link !== undefined && user !== null && isWithin;
    const isOwn = asked === null || this.holding.isOwn(user, isKnown && !asked.signsUp);
    const isToStranger = isToSend && !record?.emailProof.reaches('app');
    const hasRoom = await this.holding.hasRoom(entry, { isOwn, isToStranger });
    const isSent = isToSend && hasRoom;
    const deleted = purpose.name === RESET_PASSWORD.name ? this.#deletionOf(record) : null;
    const works = isSent && !deleted;
    const token = await this.core.tokens.issue(purpose, works ? user.id : null, works ? email : '');
    const { lifetimeMs } = purpose;
    const to = { user, to: email, language: language ?? this.#languageOf(record) };
    if (isSent && deleted) return this.#tellOfDeletion(deleted, { ...to, user }, signal);
    if (isSent) return () => this.mailer.link({ ...to, template: link.template, token, lifetimeMs }, signal);
    return hasRoom ? 'dropped' : { until: null };
  }

  /** Prepares an email whose link a plugin issues. The statements do not depend on whether an account has the address. */
  async #addressed(
    { kind, email, ref, asked, language }: AddressedMail,
    entry: OpenEntry,
    signal: AbortSignal,
  ): Promise<Ready | 'dropped' | HeldBack> {
    const record = await this.core.users.findRecord({ email });
    const user = record?.user ?? null;
    const isKnown = await this.#isKnown(asked, user?.id ?? null);
    if (!(await this.#isWithin(email, asked, { entry, record, isKnown }))) return 'dropped';
    const isToStranger = !record?.emailProof.reaches('app');
    if (!(await this.holding.hasRoom(entry, { isOwn: false, isToStranger }))) return { until: null };
    const [issue] = this.core.contributions.flatMap(({ writesMails = {} }) => writesMails[kind] ?? []);
    const link = (await issue?.(ref)) ?? null;
    return link === null
      ? 'dropped'
      : () =>
          this.mailer.link(
            { ...link, user, to: email, language: language ?? this.#languageOf(record) },
            signal,
          );
  }

  /** Whether an email is requested in the account's session, or in a browser that the account knows. */
  async #isKnown({ inSession, userId: askedBy, device }: Asked, userId: string | null): Promise<boolean> {
    if (inSession || (userId !== null && askedBy === userId)) return true;
    return device !== null && this.core.devices.knows(Buffer.from(device, 'hex'), userId);
  }

  /**
   * Counts an email against the limit of its mailbox. Requests by the owner are counted separately, so that a stranger
   * cannot use up the owner's limit. Requests for an email that no account has are counted separately too. An account
   * that has proven access to the mailbox has a limit of its own. All others share one, because anyone can sign up with
   * variants of another person's address.
   */
  async #isWithin(
    email: string,
    { afterPassword = null, byAdmin = false }: Asked,
    {
      entry,
      record,
      isKnown,
    }: { readonly entry: OpenEntry; readonly record: UserRecord | null; readonly isKnown: boolean },
  ): Promise<boolean> {
    if (!isFirst(entry) || byAdmin) return true;
    const userId = record?.user.id ?? null;
    if (userId !== null && userId === afterPassword) return this.#count(userId, 'link after password');
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
   * Prepares a code, unless it has expired. The request contained the right password, so the code is counted for the
   * account, separately from other emails: a stranger without the password cannot use up this limit, and a stranger
   * with the password cannot use up the other limits. A code that was not sent is never right, so this limit is also the
   * limit on how many codes can be guessed.
   */
  async #code(
    { requestHash = '', asked, ...mail }: CodeMail,
    entry: OpenEntry,
    signal: AbortSignal,
  ): Promise<Ready | 'dropped' | HeldBack> {
    const { user, until } = mail;
    if (isFirst(entry) && !(await this.#count(user.id, 'code after password'))) return 'dropped';
    if (this.core.database.clock.hasPassed(until)) return 'dropped';
    if (!EmailProof.of(user).reaches('app')) {
      const isKnown = asked !== undefined && (await this.#isKnown(asked, user.id));
      const isOwn = this.holding.isOwn(user, isKnown);
      if (!(await this.holding.hasRoom(entry, { isOwn, isToStranger: true }))) return { until };
    }
    await this.core.pendings.mailed(Buffer.from(requestHash, 'hex'));
    return () => this.mailer.code(mail, signal);
  }

  /**
   * Prepares the code of an emailed sign-in, or an email that says that there is no account. The statements to the
   * database are the same in both cases, and for accounts that are pending deletion, suspended or held: see
   * {@link #link}.
   */
  async #signInCode(
    { email, requestHash, askedBy, hasLink, ...mail }: SignInCodeMail,
    entry: OpenEntry,
    signal: AbortSignal,
  ): Promise<Ready | 'dropped' | HeldBack> {
    const { emailedSignIns: signIns, limiter } = this.core;
    if (!signIns) return 'dropped';
    const record = await this.core.users.findRecord({ email });
    const user = record?.user ?? null;
    const asked = { ...mail.asked, userId: askedBy };
    const isKnown = await this.#isKnown(asked, user?.id ?? null);
    const isWithin = await this.#isWithin(email, asked, { entry, record, isKnown });
    const isHeld = await this.core.held.isHeld(email, user?.id ?? null);
    const isInvited = signIns.makesInvitedAccounts && (await this.core.signUp.isInvited(email));
    const isOpen = record ? this.#deletionOf(record) === null : signIns.makesAccounts || isInvited;
    const hasCode = isOpen && !isHeld;
    // Every email is counted, so that the statements are the same. The count matters only if there is no code to send.
    const tells = isWithin && !hasCode;
    const daily = `${tells ? 'no-account' : 'sign-in-code'} ${mailboxOf(email)}`;
    const mayTell = (!isFirst(entry) || (await limiter.allowsDaily(daily))) && tells;
    const isToSend = isWithin && (hasCode || mayTell);
    const isToStranger = isToSend && !record?.emailProof.reaches('app');
    const counted = { isOwn: this.holding.isOwn(user, isKnown), isToStranger };
    const hasRoom = await this.holding.hasRoom(entry, counted);
    const hash = Buffer.from(requestHash, 'hex');
    const sends = isToSend && hasRoom;
    const row = await signIns.mailedTo(record?.authEpoch ?? null, hash, sends && hasCode);
    if (!row && hasRoom) await this.holding.takeBack(entry, counted);
    if (!row || !isToSend) return 'dropped';
    if (!hasRoom) return { until: mail.until };
    if (hasCode) {
      const secrets = { code: signIns.codeFor(row), token: hasLink ? signIns.linkOf(row) : null };
      const language = this.#languageOf(record, mail.signUpLanguage);
      return () => this.mailer.signInCode({ ...mail, ...secrets, user, to: email, language }, signal);
    }
    const deleted = this.#deletionOf(record);
    const template = deleted ? noAccountMail(deleted) : mail.otherwise;
    const { facts } = mail;
    const language = this.#languageOf(record);
    return () => this.mailer.noAccount({ template, user: null, to: email, facts, language }, signal);
  }

  /**
   * Prepares the code that a browser has asked for. The statements to the database are the same whether or not an account
   * has the address: see {@link #link}.
   */
  async #requestedCode(
    { email, requestHash, verifies, otherwise, ...mail }: RequestedCodeMail,
    entry: OpenEntry,
    signal: AbortSignal,
  ): Promise<Ready | 'dropped' | HeldBack> {
    const record = await this.core.users.findRecord({ email });
    const isKnown = await this.#isKnown(mail.asked, record?.user.id ?? null);
    const isWithin = await this.#isWithin(email, mail.asked, { entry, record, isKnown });
    const isOther = verifies !== undefined && record?.user.id !== verifies;
    const isPointless = verifies !== undefined && record?.emailProof.reaches('mailbox');
    const deleted = verifies === undefined ? this.#deletionOf(record) : null;
    const hasCode = isWithin && !isOther && !isPointless && !deleted;
    const hasOther = deleted !== null || (isOther && otherwise !== undefined);
    const isToSend = record !== null && (hasCode || (isWithin && hasOther));
    const asked = {
      isOwn: this.holding.isOwn(record?.user ?? null, isKnown && !mail.asked.signsUp),
      isToStranger: isToSend && !record.emailProof.reaches('app'),
    };
    const hasRoom = await this.holding.hasRoom(entry, asked);
    const isLive = await this.core.codeRequests?.mailed(
      Buffer.from(requestHash, 'hex'),
      isToSend && hasCode && hasRoom,
    );
    if (!isLive && hasRoom) await this.holding.takeBack(entry, asked);
    if (!isLive || !isToSend) return 'dropped';
    if (!hasRoom) return { until: mail.until };
    const { facts } = mail;
    const to = { user: record.user, to: email, language: this.#languageOf(record) };
    if (deleted) return this.#tellOfDeletion(deleted, to, signal);
    if (hasCode) return () => this.mailer.requestedCode({ ...mail, ...to }, signal);
    return async () => {
      if (otherwise) await this.mailer.noAccount({ ...to, template: otherwise, facts }, signal);
    };
  }

  /** Returns the pending deletion of an account. Null if there is none. */
  #deletionOf(record: UserRecord | null): Deleted | null {
    const at = (record?.account.deletedAt ?? null) as Date | null;
    const { settings, database } = this.core;
    return at && { at, graceDays: settings.accountDeletion.graceDays, now: database.clock.now() };
  }

  /** Returns the language of the account with an address, which the config names. */
  async #languageAt(email: string): Promise<string | undefined> {
    if (!this.core.mailLanguages.areMany) return undefined;
    return this.#languageOf(await this.core.users.findRecord({ email }));
  }

  /** @param signUp the language of the request, if the email creates an account */
  #languageOf(record: UserRecord | null, signUp?: string): string | undefined {
    return this.core.mailLanguages.ofAccount(record?.account ?? null, signUp);
  }

  #tellOfDeletion(
    deleted: Deleted,
    to: Pick<NoticeToSend, 'user' | 'to' | 'language'>,
    signal: AbortSignal,
  ): Ready {
    return () => this.mailer.notice({ ...to, template: deletedAccountMail(deleted), facts: null }, signal);
  }

  async #newEmail(
    mail: NewEmailMail,
    entry: OpenEntry,
    signal: AbortSignal,
  ): Promise<Ready | 'dropped' | HeldBack> {
    const { lifetimeMs, user, to, token } = mail;
    if (isFirst(entry) && !(await this.#count(mailboxOf(to), ''))) return 'dropped';
    if (!(await this.#isStillValid({ token, lifetimeMs }, entry))) return 'dropped';
    const isOwn = this.holding.isOwn(user, user.email === to);
    if (!(await this.holding.hasRoom(entry, { isOwn, isToStranger: true }))) return { until: null };
    return () => this.mailer.link(mail, signal);
  }

  /** Restarts the lifetime of a token to a new email, if it is sent late. @returns whether it still exists */
  async #isStillValid(
    { token, lifetimeMs }: Pick<NewEmailMail, 'token' | 'lifetimeMs'>,
    { createdAt }: OpenEntry,
  ): Promise<boolean> {
    const isLate = this.core.database.clock.now() - createdAt.getTime() > LATE_MS;
    // A newer request, or a change that ended the user's sessions, might have invalidated the token.
    return !isLate || this.core.tokens.prolong(token, lifetimeMs);
  }

  async #notice(
    mail: NoticeMail,
    entry: OpenEntry,
    signal: AbortSignal,
  ): Promise<Ready | 'dropped' | HeldBack> {
    const { user, to, facts, isAsked = false, isOfOther = false, inPlaceOf } = mail;
    if (isAsked && isFirst(entry) && !(await this.#count(mailboxOf(to), ''))) return 'dropped';
    if (inPlaceOf && !(await this.#isStillValid(inPlaceOf, entry))) return 'dropped';
    // An unverified address might not be the user's. It gets the notice anyway, because many apps verify no addresses.
    const isLimited = facts !== null && !isOfOther && user.emailVerifiedAt === null;
    if (isLimited && isFirst(entry) && !(await this.#mayTell(to))) return 'dropped';
    const isToStranger = !EmailProof.of(user).reaches('app');
    if (isAsked && !(await this.holding.hasRoom(entry, { isOwn: false, isToStranger })))
      return { until: null };
    const language = mail.language ?? (isOfOther ? await this.#languageAt(to) : undefined);
    return () => this.mailer.notice({ ...mail, language }, signal);
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

/** Whether the limits of mailboxes have not counted an entry yet. */
function isFirst({ isRetry, wasHeld }: OpenEntry): boolean {
  return !isRetry && !wasHeld;
}
