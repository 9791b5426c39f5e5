import type { MailKind, MailMessage } from '../mail/messages.js';
import { timers } from '../timers.js';

// Less than the 5 seconds that Jest and Vitest allow a test, so that the test fails with the error below.
const WITHIN_SECONDS = 4;

/** The email to wait for. */
export interface MailFilter {
  /** Its kind, such as `reset-password`. @default any */
  kind?: MailKind;
  /** Its recipient, in canonical form: `ada@example.com`. @default any */
  to?: string;
  /** How long to wait, in seconds. @default 4 */
  within?: number;
}

interface Waiter {
  readonly filter: MailFilter;
  resolve(mail: MailMessage): void;
}

/** Keeps the emails in memory, in place of sending them. */
export class Mailbox {
  /** The emails, in the order in which they were sent. */
  readonly mails: MailMessage[] = [];
  readonly #returned = new WeakSet<MailMessage>();
  readonly #waiting = new Set<Waiter>();

  receive(mail: MailMessage): void {
    this.mails.push(mail);
    for (const waiter of this.#waiting) {
      const found = this.#take(waiter.filter);
      if (found) waiter.resolve(found);
    }
  }

  /** Returns the oldest email that matches and has not been returned yet. @throws Error if none arrives in time */
  next(filter: MailFilter): Promise<MailMessage> {
    const { within = WITHIN_SECONDS } = filter;
    const found = this.#take(filter);
    if (found) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const end = () => {
        timers.clearTimeout(timer);
        this.#waiting.delete(waiter);
      };
      const timer = timers.setTimeout(() => {
        end();
        reject(new Error(`latchkey: no email${describe(filter)} within ${within} seconds${this.#others()}`));
      }, within * 1000);
      const waiter = {
        filter,
        resolve: (mail: MailMessage) => {
          end();
          resolve(mail);
        },
      };
      this.#waiting.add(waiter);
    });
  }

  clear(): void {
    this.mails.length = 0;
  }

  #take({ kind, to }: MailFilter): MailMessage | undefined {
    const mail = this.mails.find(
      (one) =>
        !this.#returned.has(one) &&
        (kind === undefined || one.kind === kind) &&
        (to === undefined || one.to === to),
    );
    if (mail) this.#returned.add(mail);
    return mail;
  }

  #others(): string {
    const others = this.mails
      .filter((one) => !this.#returned.has(one))
      .map(({ kind, to }) => `${kind} to ${to}`);
    return others.length > 0 ? `; the other emails are: ${others.join(', ')}` : '';
  }
}

function describe({ kind, to }: MailFilter): string {
  return `${kind === undefined ? '' : ` of the kind ${kind}`}${to === undefined ? '' : ` to ${to}`}`;
}
