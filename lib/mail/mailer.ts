import type { User } from '../tables/user.js';
import { composeMail, type MailMessage, type MailTemplate, type NoticeTemplate } from './message.js';
import { composeNotice, type NoticeFacts } from './messages.js';

/** How emails are sent. */
export interface MailSettings {
  readonly send: (message: MailMessage) => unknown;
  /** The base of links that are paths. */
  readonly baseUrl: string | null;
}

/** Composes emails, and passes them to the app's `send`. */
export class Mailer {
  constructor(private readonly settings: MailSettings) {}

  /** @param to the address for which the token was issued */
  async send(template: MailTemplate, user: User, to: string, token: string): Promise<void> {
    await this.settings.send(composeMail(template, user, to, token, this.settings.baseUrl));
  }

  /** Sends a notice. @param facts null for an email that tells somebody of what another person did */
  async notify(
    template: NoticeTemplate,
    user: User,
    to: string,
    facts: NoticeFacts | null = null,
  ): Promise<void> {
    await this.settings.send(await composeNotice(template, user, to, facts, this.settings.baseUrl));
  }
}
