import type { CallContext } from '../context/call.js';
import type { Database } from '../database/database.js';
import type { Limiter } from '../limits/limiter.js';
import type { Log } from '../logger.js';
import type { Events } from '../outbox/events.js';
import type { HeldCounts, Holding, OpenEntry } from '../outbox/lane.js';
import type { User } from '../tables/core.js';

/** The number of windows of `rateLimit.strangers` that the held emails can fill. */
const WINDOWS = 10;

/** What decides whether an email that a request has caused counts. */
export interface AskedMail {
  /** Whether the limit exempts it: see {@link MailsToStrangers.isOwn}. */
  readonly isOwn: boolean;
  /** Whether it will be sent, to an address that no account has proven at `app` or above. */
  readonly isToStranger: boolean;
}

/** What {@link MailsToStrangers} need. */
export interface StrangersNeeds {
  readonly context: CallContext;
  readonly database: Pick<Database, 'clock'>;
  readonly limiter: Limiter;
  readonly events: Events;
  readonly settings: { readonly log: Log };
}

/**
 * The limit on emails that requests cause to strangers, for the whole app. One request for each address passes every
 * other limit. Emails beyond the limit are held in the outbox.
 */
export class MailsToStrangers implements Holding {
  constructor(private readonly core: StrangersNeeds) {}

  get most(): number {
    return WINDOWS * (this.core.limiter.mostToStrangers ?? 0);
  }

  /**
   * Whether an email to an account's own address is exempt, because its owner asks for it. A new account's is not, because a
   * bot gets a session and a known browser from each sign-up with a stranger's address.
   *
   * @param isKnown whether the email is requested in the account's session, or in a browser that the account knows
   */
  isOwn(user: Pick<User, 'createdAt'> | null, isKnown: boolean): boolean {
    if (!user || !isKnown) return false;
    const { database, limiter } = this.core;
    return user.createdAt.getTime() + limiter.windowOfStrangersMs <= database.clock.now();
  }

  /**
   * Counts an email that a request has caused. Emails to others, and emails that are not sent, are counted elsewhere, so
   * that the statements do not reveal whether an account has the address. Retries were counted already, and emails that
   * were held have a place.
   *
   * @returns whether it can be sent now
   */
  async hasRoom({ isRetry, wasHeld }: OpenEntry, { isOwn, isToStranger }: AskedMail): Promise<boolean> {
    return isRetry || wasHeld || isOwn || this.core.limiter.allowsAsked(isToStranger);
  }

  /** Undoes {@link hasRoom}, if it has counted an email that is not sent after all. */
  async takeBack({ isRetry, wasHeld }: OpenEntry, { isOwn, isToStranger }: AskedMail): Promise<void> {
    if (!isRetry && !wasHeld && !isOwn) await this.core.limiter.takeBackAsked(isToStranger);
  }

  takePlace(): Promise<boolean> {
    return this.core.limiter.allowsAsked(true);
  }

  giveBackPlace(): Promise<void> {
    return this.core.limiter.takeBackAsked(true);
  }

  report({ held, deleted }: HeldCounts): void {
    const { settings, context, events } = this.core;
    const others = deleted === 0 ? '' : `, and were not kept, because too many wait already: ${deleted}`;
    settings.log.warn(
      'mail.held',
      `emails to addresses that no account has proven wait, because rateLimit.strangers is reached: ${held}${others}`,
      { cause: null, limit: 'strangers', count: held },
    );
    if (held === 0) return;
    context.background.add(context.detached(() => events.emitAndWait('mail.held', { count: held })));
  }
}
