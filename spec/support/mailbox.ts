import type { MailMessage } from '../../lib/index.js';

/** Keeps emails, and lets specs wait for them. */
export function mailbox() {
  const mails: MailMessage[] = [];
  const waiting = new Set<(mail: MailMessage) => void>();
  return {
    mails,
    send(mail: MailMessage): void {
      mails.push(mail);
      for (const tell of waiting) tell(mail);
    },
    /** Runs a function and returns the email of this kind that it causes. */
    async mailOf(to: string, kind: string, work: () => PromiseLike<unknown>): Promise<MailMessage> {
      let tell: (mail: MailMessage) => void = () => {};
      const arrival = new Promise<MailMessage>((resolve) => {
        tell = (mail) => {
          if (mail.to === to && mail.kind === kind) resolve(mail);
        };
      });
      waiting.add(tell);
      await work();
      const mail = await arrival;
      waiting.delete(tell);
      return mail;
    },
  };
}
