import type { CallContext } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import { hideTokens } from '../crypto/token.js';
import { describeError, type Logger } from '../logger.js';
import type { User } from '../models/user.js';
import { composeMail, type MailMessage, type MailTemplate } from './message.js';

/** How emails are sent. */
export interface MailSettings {
  readonly send: (message: MailMessage) => unknown;
  /** The base of links that are paths. */
  readonly baseUrl: string | null;
}

const CLOSING_MS = 5000;

/**
 * Sends emails after the response, so that its timing does not reveal whether an email was sent, and a slow mail server
 * does not delay it.
 */
export class Mailer {
  readonly #pending = new Set<Promise<void>>();

  constructor(
    private readonly settings: MailSettings,
    private readonly context: CallContext,
    private readonly logger: Logger,
  ) {}

  /** Runs `work` after the response. Errors are logged. */
  later(work: () => Promise<void>): void {
    const running = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.context.detached(work))
      // An error from a mail service can quote the email, including its link.
      .catch((error) =>
        this.logger.error(`latchkey: an email was not sent: ${hideTokens(describeError(error))}`),
      )
      .finally(() => this.#pending.delete(running));
    this.#pending.add(running);
  }

  /** @param to the address for which the token was issued */
  async send(template: MailTemplate, user: User, to: string, token: string): Promise<void> {
    await this.settings.send(composeMail(template, user, to, token, this.settings.baseUrl));
  }

  /** Waits up to 5 seconds for emails that are being sent. */
  async settle(): Promise<void> {
    await withTimeout(this.#allSent(), CLOSING_MS, () => undefined).catch(() => undefined);
  }

  // Work can schedule more work: the user is looked up first, and then the email is sent.
  async #allSent(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }
}
