import type { CallContext } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import { hideTokens } from '../crypto/token.js';
import { describeError, type Logger } from '../logger.js';
import type { User } from '../models/user.js';
import { composeMail, type MailMessage, type MailTemplate, type NoticeTemplate } from './message.js';
import { composeNotice, type NoticeFacts } from './notice-message.js';

/** How emails are sent. */
export interface MailSettings {
  readonly send: (message: MailMessage) => unknown;
  /** The base of links that are paths. */
  readonly baseUrl: string | null;
}

/** A `send` that never returns, and a flood of emails, must not fill the memory. */
const BOUNDS = { sendMs: 60_000, closingMs: 5000, pending: 1000 } as const;

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
    private readonly bounds: { readonly [Name in keyof typeof BOUNDS]: number } = BOUNDS,
  ) {}

  /**
   * Runs `work` after the response. Errors are logged. It is given up after 60 seconds, and not even started while 1000
   * others are running. Within a transaction of the app, it starts after the commit.
   */
  later(work: () => Promise<void>): void {
    this.context.afterCommit(() => this.#start(work));
  }

  #start(work: () => Promise<void>): void {
    const { pending, sendMs } = this.bounds;
    if (this.#pending.size >= pending) {
      this.#failed(new Error(`${pending} others are still being sent: is the mail server slow?`));
      return;
    }
    const late = () => new Error(`send did not return within ${sendMs / 1000} seconds: set a timeout in it`);
    const running = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => withTimeout(this.context.detached(work), sendMs, late, false))
      .catch((error) => this.#failed(error))
      .finally(() => this.#pending.delete(running));
    this.#pending.add(running);
  }

  /** @param to the address for which the token was issued */
  async send(template: MailTemplate, user: User, to: string, token: string): Promise<void> {
    await this.settings.send(composeMail(template, user, to, token, this.settings.baseUrl));
  }

  /** Sends a notice. @param facts null for an email that tells somebody of what another person did */
  async notify(
    template: NoticeTemplate,
    user: User,
    to: string,
    facts: NoticeFacts | null = null,
  ): Promise<void> {
    await this.settings.send(await composeNotice(template, user, to, facts, this.settings.baseUrl));
  }

  /** Waits up to 5 seconds for emails that are being sent. */
  async settle(): Promise<void> {
    await withTimeout(this.#allSent(), this.bounds.closingMs, () => undefined).catch(() => undefined);
  }

  #failed(error: unknown): void {
    // An error from a mail service can quote the email, including its link.
    this.logger.error(`latchkey: an email was not sent: ${hideTokens(describeError(error))}`);
  }

  // Work can schedule more work: the user is looked up first, and then the email is sent.
  async #allSent(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }
}
