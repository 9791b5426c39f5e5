import type { Transaction } from 'sequelize';
import { MAIL_LANE } from '../outbox/lane.js';
import type { Outbox } from '../outbox/outbox.js';
import type { NewEntry } from '../outbox/rows.js';
import type { User } from '../tables/core.js';
import type { MailTemplate, NoticeFacts, PlainTemplate } from './messages.js';

/** What the one-time token of a link is for. */
export interface LinkPurpose {
  /** At most 32 characters. */
  readonly name: string;
  readonly lifetimeMs: number;
}

/** A link with a one-time token, which is issued when it is sent: its lifetime begins then, however late that is. */
export interface Link {
  readonly template: MailTemplate;
  readonly purpose: LinkPurpose;
  /** Whether it is for nothing if the email has been verified in the meantime. @default false */
  readonly verifies?: boolean;
}

/** A link for the user who has an email, when it is sent: nobody may be told before whether there is one. */
export interface LinkMail {
  readonly type: 'link';
  readonly email: string;
  /** The first one for the user's id is sent; null stands for any. */
  readonly links: readonly { readonly userId: string | null; readonly link: Link }[];
  /** What it is counted as against the limit of emails, if nothing else has counted it. */
  readonly limit: string | null;
}

/** A link to an address that the user is to get, whose token was issued with the request. */
export interface NewEmailMail {
  readonly type: 'new-email';
  readonly template: MailTemplate;
  readonly lifetimeMs: number;
  readonly user: User;
  readonly to: string;
  readonly token: string;
}

/** A notice. */
export interface NoticeMail {
  readonly type: 'notice';
  readonly template: PlainTemplate;
  readonly user: User;
  readonly to: string;
  /** Null in an email that tells somebody of what another person did. */
  readonly facts: NoticeFacts | null;
}

/** What is written to the outbox of an email: all that it takes to compose it, but not its text. */
export type OutgoingMail = LinkMail | NewEmailMail | NoticeMail;

interface OneOfOptions {
  readonly limit?: string | null;
  readonly beside?: readonly NewEntry[];
  readonly transaction?: Transaction | undefined;
}

/** Writes emails to the outbox. Each is sent after the commit of the transaction, or after the call if there is none. */
export class Mails {
  constructor(private readonly outbox: Outbox) {}

  /** Emails a link to a user. Does nothing if the user has no email. */
  async link(link: Link, { id: userId, email }: User, transaction?: Transaction): Promise<void> {
    if (email !== null) await this.oneOf(email, [{ userId, link }], { transaction });
  }

  /**
   * Emails one of several links to whoever has an email.
   *
   * @param limit what to count it as against the limit of emails
   * @param beside what else to write, by the same statement
   */
  async oneOf(
    email: string,
    links: LinkMail['links'],
    { limit = null, beside = [], transaction }: OneOfOptions = {},
  ): Promise<void> {
    const content: LinkMail = { type: 'link', email, links, limit };
    const kind = links[0]?.link.template.kind ?? '';
    await this.outbox.add([{ lane: MAIL_LANE, kind, content }, ...beside], transaction);
  }

  /** Emails a link to an address that a user is to get. */
  toNewEmail(mail: Omit<NewEmailMail, 'type'>, transaction: Transaction): Promise<void> {
    return this.#add({ type: 'new-email', ...mail }, mail.template.kind, transaction);
  }

  /** Emails a notice. */
  notice(mail: Omit<NoticeMail, 'type'>, transaction?: Transaction): Promise<void> {
    return this.#add({ type: 'notice', ...mail }, mail.template.kind, transaction);
  }

  #add(content: OutgoingMail, kind: string, transaction?: Transaction): Promise<void> {
    return this.outbox.add([{ lane: MAIL_LANE, kind, content }], transaction);
  }
}
