import type { EmailOptions } from './config/email.js';
import { AuthError } from './errors.js';
import type { MailMessage, SendContext } from './mail/messages.js';

/** The part of a `nodemailer` transport that latchkey uses. */
export interface NodemailerTransport {
  /** The object that the transport sends with. For SMTP, its options contain the timeouts. */
  readonly transporter?: object;
  /** Sends an email. Since version 10.6, nodemailer ends the connection when the signal is aborted. */
  sendMail(mail: {
    from: string;
    to: string;
    subject: string;
    text: string;
    html: string;
    headers: Record<string, string>;
    signal?: AbortSignal | undefined;
  }): Promise<unknown>;
}

// nodemailer's own timeouts are 2 minutes, 30 seconds, 10 minutes and 5 seconds: https://nodemailer.com/smtp/
const TIMEOUTS = {
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 30_000,
  socketCloseTimeout: 1000,
};

/** Keeps autoresponders from answering (RFC 3834). */
const HEADERS = { 'Auto-Submitted': 'auto-generated' };

/**
 * Sends emails with nodemailer. An SMTP transport gets timeouts, unless it has its own: 10 seconds to connect
 * (`connectionTimeout`), 10 for the greeting (`greetingTimeout`), 30 of silence (`socketTimeout`), and 1 for the server
 * to close its side (`socketCloseTimeout`). The header `Auto-Submitted: auto-generated` keeps autoresponders from
 * answering (RFC 3834).
 *
 * If the server permanently rejects the address (5xx in response to RCPT TO), `send` throws
 * `AuthError('mail_refused')`, so the email is not retried. Other failures are retried, such as wrong credentials for
 * the server.
 *
 * @example
 * email: nodemailerEmail(createTransport(…), { from: 'App <app@example.com>' })
 *
 * @param transport the result of nodemailer's `createTransport`
 * @param options.from the sender's address
 * @throws TypeError if the transport or the sender is missing
 */
export function nodemailerEmail(
  transport: NodemailerTransport,
  options: { from: string },
): EmailOptions & { send(message: MailMessage, options?: Partial<SendContext>): Promise<void> } {
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
    async send({ to, subject, text, html }, { signal } = {}) {
      try {
        const info = await transport.sendMail({
          from,
          to,
          subject,
          text,
          html,
          headers: { ...HEADERS },
          signal,
        });
        const refusal = refusalIn(info);
        if (refusal) throw refusal;
      } catch (error) {
        throw asRefusal(error);
      }
    },
  };
}

/** The parts of nodemailer's errors that are needed here. */
interface SmtpError extends Error {
  /** The command that the server responded to, such as `RCPT TO`. */
  readonly command?: unknown;
  readonly response?: unknown;
  readonly responseCode?: unknown;
  /** The address that the error is about, if it concerns only one recipient. */
  readonly recipient?: unknown;
}

/** Returns the error of an email that reached no recipient although `sendMail` succeeded, which happens with LMTP. */
function refusalIn(info: unknown): SmtpError | undefined {
  const { accepted, rejected, rejectedErrors } = (info ?? {}) as Readonly<Record<string, unknown>>;
  const isRefused = Array.isArray(rejected) && rejected.length > 0;
  if (!isRefused || (Array.isArray(accepted) && accepted.length > 0)) return undefined;
  const [error] = Array.isArray(rejectedErrors) ? rejectedErrors : [];
  return error ?? new Error('the mail server accepted no recipient');
}

/** Converts an error to `mail_refused` if the server will never accept emails to the address. */
function asRefusal(error: unknown): unknown {
  const { command, response, responseCode, recipient } = (error ?? {}) as Partial<SmtpError>;
  const isOfAddress = command === 'RCPT TO' || recipient !== undefined;
  const isPermanent = typeof responseCode === 'number' && responseCode >= 500 && responseCode < 600;
  if (!isOfAddress || !isPermanent || isOfSender(responseCode, String(response))) return error;
  return new AuthError('mail_refused', { cause: error });
}

/**
 * Whether a response to RCPT TO rejects the sender, for example because latchkey has not signed in to the server. The
 * configuration can be fixed, so the email is retried (RFC 5321, 4.2; RFC 4954, 6; RFC 3463, 3.8).
 */
function isOfSender(code: number, response: string): boolean {
  return SESSION_CODES.has(code) || /^\d{3}[ -]5\.7\.|\brelay/i.test(response);
}

/** The wrong command for the state of the session, and missing authentication or encryption. */
const SESSION_CODES: ReadonlySet<number> = new Set([500, 502, 503, 530, 534, 535, 538]);

/** Sets timeouts, because a mail server that hangs would otherwise hold a connection for up to ten minutes. */
function limitTime({ transporter }: NodemailerTransport): void {
  const { options } = (transporter ?? {}) as { options?: unknown };
  if (typeof options === 'object' && options !== null) Object.assign(options, { ...TIMEOUTS, ...options });
}
