import type { MailMessage } from './mail/message.js';

/** A transport of the package `nodemailer`, as far as it is used. */
export interface NodemailerTransport {
  sendMail(mail: { from: string; to: string; subject: string; text: string; html: string }): Promise<unknown>;
}

/**
 * Sends latchkey's mails by nodemailer: `email: nodemailerEmail(createTransport(…), { from: 'App <app@example.com>' })`.
 *
 * @param options.from the sender's address
 */
export function nodemailerEmail(transport: NodemailerTransport, { from }: { from: string }) {
  return {
    async send({ to, subject, text, html }: MailMessage): Promise<void> {
      await transport.sendMail({ from, to, subject, text, html });
    },
  };
}
