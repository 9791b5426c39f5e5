import { randomUUID } from 'node:crypto';
import type { MailMessage } from 'latchkey';

/** A mail as the page shows it. */
interface KeptMail extends Pick<MailMessage, 'to' | 'subject' | 'text' | 'url'> {
  readonly id: string;
  readonly sent_at: Date;
}

const MOST = 50;
const mails: KeptMail[] = [];

/**
 * Keeps a mail for the page of mails, in place of sending it: the demo has no mail server. A real app sends it, and
 * shows it to nobody: who reads the mails can take over every account.
 */
export function keepMail({ to, subject, text, url }: MailMessage): void {
  mails.unshift({ id: randomUUID(), to, subject, text, url, sent_at: new Date() });
  mails.length = Math.min(mails.length, MOST);
}

/** The newest first. */
export function keptMails(): readonly KeptMail[] {
  return mails;
}
