import type { CallContext } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import { hideTokens } from '../crypto/token.js';
import { describeError, type Logger } from '../logger.js';
import type { User } from '../models/user.js';
import { composeMail, type MailMessage, type MailTemplate } from './message.js';

/** How mails leave the app, and where their links lead. */
export interface MailSettings {
  readonly send: (message: MailMessage) => unknown;
  readonly verifyUrl: string;
  readonly resetUrl: string;
  readonly baseUrl: string | null;
}

const CLOSING_MS = 5000;

/**
 * Sends mails after the response: nobody can tell from the time of a response whether a mail was sent, and a mail server
 * that hangs delays nobody.
 */
export class Mailer {
  readonly #pending = new Set<Promise<void>>();

  constructor(
    private readonly settings: MailSettings,
    private readonly context: CallContext,
    private readonly logger: Logger,
  ) {}

  /** Runs work after the response; a failure is logged. */
  later(work: () => Promise<void>): void {
    const running = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.context.detached(work))
      // An error of a mail service can quote the mail, and with it the link.
      .catch((error) =>
        this.logger.error(`latchkey: a mail was not sent: ${hideTokens(describeError(error))}`),
      )
      .finally(() => this.#pending.delete(running));
    this.#pending.add(running);
  }

  /** @param to the user's email, to which the token was issued */
  async send(template: MailTemplate, user: User, to: string, token: string): Promise<void> {
    await this.settings.send(composeMail(template, user, to, token, this.settings.baseUrl));
  }

  /** Waits for the mails that are being sent, 5 seconds at most. */
  async settle(): Promise<void> {
    await withTimeout(this.#allSent(), CLOSING_MS, () => undefined).catch(() => undefined);
  }

  // Work may add more: the user who asked for a mail is looked up first, and then it is sent.
  async #allSent(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }
}
