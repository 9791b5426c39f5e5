import type { Transaction } from 'sequelize';
import { MAIL_LANE } from '../outbox/lane.js';
import type { Outbox } from '../outbox/outbox.js';
import type { NewEntry } from '../outbox/rows.js';
import type { User } from '../tables/core.js';
import type { CodeToSend, InLanguage, LinkToSend, MailKind, NoticeFacts, NoticeToSend } from './messages.js';
import type {
  MailTemplate,
  NoAccountTemplate,
  RequestedCodeTemplate,
  SignInCodeTemplate,
} from './templates.js';

/** The purpose of a link's one-time token. */
export interface LinkPurpose {
  /** At most 32 characters. */
  readonly name: string;
  readonly lifetimeMs: number;
}

/**
 * A link with a one-time token. The token is issued when the link is sent, so a delay does not shorten its lifetime.
 */
export interface Link {
  readonly template: MailTemplate;
  readonly purpose: LinkPurpose;
  /** Whether the link is pointless if the email has been verified in the meantime. @default false */
  readonly verifies?: boolean;
}

/**
 * A link for the user with an email. The user is looked up when the link is sent, because the request must not reveal
 * whether the user exists.
 */
export interface LinkMail extends InLanguage {
  readonly type: 'link';
  readonly email: string;
  /** The first link for the user's id is sent; null matches any id. */
  readonly links: readonly { readonly userId: string | null; readonly link: Link }[];
  /** Null if no one asked for it. */
  readonly asked: Asked | null;
}

/** Who asks for an email, for the limits on emails to a mailbox and to strangers. */
export interface Asked {
  /** Whether the account's own session asks. */
  readonly inSession: boolean;
  /** The user whose session the request presents. Null or missing if it does not matter, or if there is none. */
  readonly userId?: string | null;
  /** The hash of the browser's device cookie, in hexadecimal. Null if there is none. */
  readonly device: string | null;
  /** The user whose password was entered in this browser just before. @default none */
  readonly afterPassword?: string | null;
  /** Whether a sign-up asks, so that neither the session nor the browser shows that the address is the account's. */
  readonly signsUp?: boolean;
  /** Whether an administrator asks, who has a limit of their own on emails to the mailbox. @default false */
  readonly byAdmin?: boolean;
}

/** A link to the new address of a user. Its token was issued by the request. */
export interface NewEmailMail extends LinkToSend {
  readonly type: 'new-email';
  readonly user: User;
  readonly lifetimeMs: number;
}

/** A notice. */
export interface NoticeMail extends NoticeToSend {
  readonly type: 'notice';
  /** Whether someone asked for it. @default false */
  readonly isAsked?: boolean;
  /**
   * The token of a link to a new email, in place of which this notice is sent, because another account has the address. Its
   * lifetime restarts as if the link was sent, so that a late email does not reveal which of the two it was.
   * @default none
   */
  readonly inPlaceOf?: { readonly token: string; readonly lifetimeMs: number };
}

/** A code that is sent after a correct password. */
export interface CodeMail extends CodeToSend {
  readonly type: 'code';
  /** Identifies the pending sign-in, in hexadecimal. Missing in emails that version 0.1.0 has left in the outbox. */
  readonly requestHash?: string;
  /** Who asked for it. Missing in emails that version 0.1.0 has left in the outbox. */
  readonly asked?: Asked;
}

/**
 * The code of an emailed sign-in, for the user with an email. The user is looked up when the code is sent, because the
 * request must not reveal whether the user exists. If there is no such user, the email says so.
 */
export interface SignInCodeMail extends InLanguage {
  readonly type: 'sign-in-code';
  /** The language of the request, if the code creates an account. Missing with one language. */
  readonly signUpLanguage?: string | undefined;
  readonly email: string;
  /** Identifies the request, in hexadecimal. */
  readonly requestHash: string;
  readonly template: SignInCodeTemplate;
  /** Whether the email of a sign-in contains a link. The code and the link are those of the request when it is sent. */
  readonly hasLink: boolean;
  /** When the code expires. */
  readonly until: Date;
  readonly facts: NoticeFacts;
  /** The email that is sent if there is no account. */
  readonly otherwise: NoAccountTemplate;
  readonly asked: Asked;
  /** The account that was signed in in the requesting browser. */
  readonly askedBy: string | null;
}

/**
 * A code for the user with an email, who typed the address into a form. The user is looked up when the code is sent, because
 * the request must not reveal whether the user exists.
 */
export interface RequestedCodeMail extends InLanguage {
  readonly type: 'requested-code';
  readonly email: string;
  /** Identifies the request, in hexadecimal. */
  readonly requestHash: string;
  readonly template: RequestedCodeTemplate;
  readonly code: string;
  /** When the code expires. */
  readonly until: Date;
  readonly facts: NoticeFacts;
  readonly asked: Asked;
  /**
   * The id of the only user who gets the code, to verify the email. They do not get it if access to the mailbox is already
   * proven. Null for a sign-up that has created no account.
   * @default the user who has the email
   */
  readonly verifies?: string | null;
  /** The email for another user, who has the email already. @default none */
  readonly otherwise?: NoAccountTemplate;
}

/** An email to an address, with a link that its plugin issues when the email is sent. */
export interface AddressedMail extends InLanguage {
  readonly type: 'addressed';
  readonly kind: MailKind;
  readonly email: string;
  /** By which the plugin finds what the email is about. */
  readonly ref: string;
  readonly asked: Asked;
}

/** An email in the outbox: everything that is needed to compose it, but not its text. */
export type OutgoingMail =
  | LinkMail
  | NewEmailMail
  | NoticeMail
  | CodeMail
  | SignInCodeMail
  | RequestedCodeMail
  | AddressedMail;

/** Returns the address that an email is sent to, if it is sent. */
export function recipientOf(mail: OutgoingMail): string {
  return 'email' in mail ? mail.email : mail.to;
}

interface OneOfOptions {
  readonly asked?: Asked | null;
  readonly beside?: readonly NewEntry[];
  readonly transaction?: Transaction | undefined;
  /** @default the language of the account that has the email when it is sent */
  readonly language?: string | undefined;
}

/** Chooses the languages of emails. Each is undefined with only one language. */
interface LanguagesOfMails {
  ofUser(user: User, transaction?: Transaction): Promise<string | undefined>;
  /** Of the current request. */
  ofRequest(): string | undefined;
}

/**
 * Writes emails to the outbox. Each is sent after the transaction's commit, or after the call without a transaction.
 */
export class Mails {
  constructor(
    private readonly outbox: Outbox,
    private readonly languages: LanguagesOfMails,
  ) {}

  /** Emails a link to a user. Does nothing if the user has no email. @param asked null if no one asked for it */
  async link(link: Link, user: User, asked: Asked | null, transaction?: Transaction): Promise<void> {
    const { id: userId, email } = user;
    if (email === null) return;
    const language = await this.languages.ofUser(user, transaction);
    await this.oneOf(email, [{ userId, link }], { asked, transaction, language });
  }

  /**
   * Emails one of several links to the user with an email, if there is one.
   *
   * @param asked who asked for it, if anyone did
   * @param beside other entries to write in the same statement
   */
  async oneOf(
    email: string,
    links: LinkMail['links'],
    { asked = null, beside = [], transaction, language }: OneOfOptions = {},
  ): Promise<void> {
    const content: LinkMail = { type: 'link', email, links, asked, language };
    const kind = links[0]?.link.template.kind ?? '';
    await this.outbox.add([{ lane: MAIL_LANE, kind, content }, ...beside], transaction);
  }

  /** Emails a link to the new address of a user. */
  async toNewEmail(mail: Omit<NewEmailMail, 'type'>, transaction: Transaction): Promise<void> {
    const language = mail.language ?? (await this.languages.ofUser(mail.user, transaction));
    await this.#add({ type: 'new-email', ...mail, language }, mail.template.kind, transaction);
  }

  /** Emails a code. */
  async code(mail: Omit<CodeMail, 'type'>, transaction?: Transaction): Promise<void> {
    const language = await this.languages.ofUser(mail.user, transaction);
    await this.#add({ type: 'code', ...mail, language }, mail.template.kind, transaction);
  }

  /** Emails the code of an emailed sign-in, if there is an account. */
  signInCode(mail: Omit<SignInCodeMail, 'type'>, transaction?: Transaction): Promise<void> {
    const signUpLanguage = this.languages.ofRequest();
    return this.#add({ type: 'sign-in-code', ...mail, signUpLanguage }, mail.template.kind, transaction);
  }

  /**
   * Emails the code that a browser has asked for, if there is an account.
   *
   * @param beside other entries to write in the same statement
   */
  async requestedCode(
    mail: Omit<RequestedCodeMail, 'type'>,
    transaction?: Transaction,
    beside: readonly NewEntry[] = [],
  ): Promise<void> {
    const content: RequestedCodeMail = { type: 'requested-code', ...mail };
    await this.outbox.add([{ lane: MAIL_LANE, kind: mail.template.kind, content }, ...beside], transaction);
  }

  /** Emails a link that its plugin issues when the email is sent. */
  addressed(mail: Omit<AddressedMail, 'type'>, transaction: Transaction): Promise<void> {
    return this.#add({ type: 'addressed', ...mail }, mail.kind, transaction);
  }

  /** Emails a notice. */
  async notice(mail: Omit<NoticeMail, 'type'>, transaction?: Transaction): Promise<void> {
    const { user, isOfOther = false } = mail;
    // The account of someone else is looked up when the email is sent.
    const language =
      mail.language ?? (isOfOther ? undefined : await this.languages.ofUser(user, transaction));
    await this.#add({ type: 'notice', ...mail, language }, mail.template.kind, transaction);
  }

  #add(content: OutgoingMail, kind: string, transaction?: Transaction): Promise<void> {
    return this.outbox.add([{ lane: MAIL_LANE, kind, content }], transaction);
  }
}
