import type { EmailOptions } from './config/email.js';

/** The part of a `nodemailer` transport that latchkey uses. */
export interface NodemailerTransport {
  /** The object that the transport sends with. For SMTP, its options contain the timeouts. */
  readonly transporter?: object;
  /** Sends an email. */
  sendMail(mail: { from: string; to: string; subject: string; text: string; html: string }): Promise<unknown>;
}

// nodemailer's own timeouts are 2 minutes, 30 seconds and 10 minutes: https://nodemailer.com/smtp/
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };

/**
 * Sends emails with nodemailer. An SMTP transport gets timeouts, unless it has its own: 10 seconds to connect
 * (`connectionTimeout`), 10 for the greeting (`greetingTimeout`), and 30 of silence (`socketTimeout`).
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
  limitTime(transport);
  return {
    async send({ to, subject, text, html }) {
      await transport.sendMail({ from, to, subject, text, html });
    },
  };
}

/** Sets timeouts, because a mail server that hangs would otherwise hold a connection for up to ten minutes. */
function limitTime({ transporter }: NodemailerTransport): void {
  const { options } = (transporter ?? {}) as { options?: unknown };
  if (typeof options === 'object' && options !== null) Object.assign(options, { ...TIMEOUTS, ...options });
}
