import type { MailMessage } from 'latchkey';

/** An email as the mailbox shows it. */
export interface KeptMail extends Pick<MailMessage, 'to' | 'subject' | 'text' | 'html' | 'url'> {
  readonly sentAt: Date;
}

const MAX_MAILS = 50;
const mails: KeptMail[] = [];

/**
 * Stores an email for the page `/mails` instead of sending it, because the demo has no mail server. A real app never shows
 * emails: anyone who can read them can take over every account.
 */
export function keepMail({ to, subject, text, html, url }: MailMessage): void {
  mails.unshift({ to, subject, text, html, url, sentAt: new Date() });
  mails.length = Math.min(mails.length, MAX_MAILS);
}

/** The stored emails, newest first. */
export function keptMails(): readonly KeptMail[] {
  return mails;
}
