import type { EmailOptions } from './config/schema.js';

/** A transport of the package `nodemailer`, as far as it is used. */
export interface NodemailerTransport {
  sendMail(mail: { from: string; to: string; subject: string; text: string; html: string }): Promise<unknown>;
}

/**
 * Sends latchkey's mails by nodemailer: `email: nodemailerEmail(createTransport(…), { from: 'App <app@example.com>' })`.
 *
 * @param options.from the sender's address
 * @throws TypeError without a transport or a sender, so that it is not the first mail that fails
 */
export function nodemailerEmail(transport: NodemailerTransport, options: { from: string }): EmailOptions {
  if (typeof transport?.sendMail !== 'function') {
    throw new TypeError('latchkey: nodemailerEmail: transport must be what createTransport answered');
  }
  const from = options?.from;
  if (typeof from !== 'string' || from.trim() === '') {
    throw new TypeError(
      "latchkey: nodemailerEmail: from is missing: give the sender's address, such as 'App <app@example.com>'",
    );
  }
  return {
    async send({ to, subject, text, html }) {
      await transport.sendMail({ from, to, subject, text, html });
    },
  };
}
