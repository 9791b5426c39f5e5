import type { EmailOptions } from './config/auth-config.js';

/** The part of a `nodemailer` transport that latchkey uses. */
export interface NodemailerTransport {
  /** Sends an email. */
  sendMail(mail: { from: string; to: string; subject: string; text: string; html: string }): Promise<unknown>;
}

/**
 * Sends emails with nodemailer.
 *
 * @example
 * email: nodemailerEmail(createTransport(…), { from: 'App <app@example.com>' })
 *
 * @param transport the result of nodemailer's `createTransport`
 * @param options.from the sender's address
 * @throws TypeError if the transport or the sender is missing
 */
export function nodemailerEmail(transport: NodemailerTransport, options: { from: string }): EmailOptions {
  if (typeof transport?.sendMail !== 'function') {
    throw new TypeError(
      "latchkey: nodemailerEmail: transport must be the result of nodemailer's createTransport",
    );
  }
  const from = options?.from;
  if (typeof from !== 'string' || from.trim() === '') {
    throw new TypeError(
      "latchkey: nodemailerEmail: from is missing: set it to the sender's address, such as 'App <app@example.com>'",
    );
  }
  return {
    async send({ to, subject, text, html }) {
      await transport.sendMail({ from, to, subject, text, html });
    },
  };
}
