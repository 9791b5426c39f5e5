import { hideTokens } from '../crypto/token.js';
import { describeError, type Logger } from '../logger.js';
import type { User } from '../models/user.js';
import { composeMail, type MailKind, type MailMessage } from './message.js';

/** How mails leave the app, and where their links lead. */
export interface MailSettings {
  readonly send: (message: MailMessage) => unknown;
  readonly pages: Readonly<Record<MailKind, string>>;
}

/**
 * Does what comes after an answer: nobody can tell from an answer's time whether a mail was sent, and a mail server
 * that hangs holds up nobody.
 */
export class Mailer {
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    private readonly settings: MailSettings,
    private readonly logger: Logger,
  ) {}

  /** Runs work after the answer; a failure is logged. */
  later(work: () => Promise<void>): void {
    const running = new Promise<void>((resolve) => setImmediate(resolve))
      .then(work)
      // What a mail service throws can quote the mail, and in it the link.
      .catch((error) =>
        this.logger.error(`latchkey: a mail was not sent: ${hideTokens(describeError(error))}`),
      )
      .finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
  }

  async send(kind: MailKind, user: User, to: string, token: string): Promise<void> {
    await this.settings.send(composeMail(kind, user, to, token, this.settings.pages[kind]));
  }

  /** Waits for the mails that are under way, 5 seconds at most. */
  async settle(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, 5000);
    });
    await Promise.race([this.#allDone(), limit]);
    clearTimeout(timer);
  }

  // What is under way may begin more: who asked for a mail is looked up first, and then it is sent.
  async #allDone(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }
}
