import { randomUUID } from 'node:crypto';
import type { MailMessage } from 'latchkey';

/** An email as the page shows it. */
interface KeptMail extends Pick<MailMessage, 'to' | 'subject' | 'text' | 'url'> {
  readonly id: string;
  readonly sent_at: Date;
}

const MAX_MAILS = 50;
const mails: KeptMail[] = [];

/**
 * Stores an email for the page `/mails` instead of sending it, because the demo has no mail server. A real app sends it
 * and shows it to nobody: anyone who can read the emails can take over every account.
 */
export function keepMail({ to, subject, text, url }: MailMessage): void {
  mails.unshift({ id: randomUUID(), to, subject, text, url, sent_at: new Date() });
  mails.length = Math.min(mails.length, MAX_MAILS);
}

/** The stored emails, newest first. */
export function keptMails(): readonly KeptMail[] {
  return mails;
}
