import type { Core } from '../core/core.js';
import type { MailMessage } from '../mail/message.js';
import type { Mailbox, MailFilter } from './mailbox.js';

/** `auth.testing`: the emails, the time and the data of an Auth for tests. */
export class Testing {
  readonly #core: Core;
  readonly #mailbox: Mailbox;
  readonly #empty: () => Promise<void>;
  #counted = 0;
  /** The ids of users who are administrators for a test. @internal */
  readonly administrators = new Set<string>();

  /** @internal */
  constructor(core: Core, mailbox: Mailbox, empty: () => Promise<void>) {
    this.#core = core;
    this.#mailbox = mailbox;
    this.#empty = empty;
  }

  /** The number of users without an email of the test's own. @internal */
  count(): number {
    return ++this.#counted;
  }

  /** The emails so far, oldest first. Some are sent after the response: to wait for one, use {@link nextMail}. */
  get mails(): readonly MailMessage[] {
    return this.#mailbox.mails;
  }

  /**
   * The oldest email that no earlier call has returned. Waits for it, as it may be sent after the response.
   *
   * @param filter which emails to look at; the others stay for later calls
   * @throws Error if there is none in time, naming those that there are
   */
  nextMail(filter: MailFilter = {}): Promise<MailMessage> {
    return this.#mailbox.next(filter);
  }

  /**
   * Moves latchkey's time on: sessions, emailed links, codes, limits in the database and everything else that depends on the
   * time behave as they will then. The clocks of Node, Redis and providers do not change.
   *
   * @throws TypeError unless `seconds` is a number from 0 on
   */
  advance(seconds: number): void {
    if (!Number.isFinite(seconds) || seconds < 0)
      throw new TypeError('latchkey: auth.testing.advance: give a number of seconds; time does not go back');
    if (seconds > 0) this.#core.database.clock.skip(seconds * 1000);
  }

  /**
   * Empties all of latchkey's tables, and the table of `user.model`; forgets the emails, and goes back to the real time.
   *
   * @throws Error if the database is not in memory, and has no `test` in its name or in `tablePrefix`: it may be one whose
   *   data you need; or if rows of the app refer to users and may not go
   */
  async reset(): Promise<void> {
    await this.#empty();
    this.#mailbox.clear();
    this.administrators.clear();
    this.#core.database.clock.skip(0);
  }
}
