import type { Settings } from '../config/config.js';
import { CallContext } from '../context/call.js';
import { EmailedCodes } from '../crypto/emailed-codes.js';
import { SecretBox } from '../crypto/secret-box.js';
import { type Database, openDatabase } from '../database/database.js';
import { Degraded } from '../degraded.js';
import { Limiter } from '../limits/limiter.js';
import { openLimitStore } from '../limits/open.js';
import { Refusals, type Refused } from '../limits/refusals.js';
import type { LimitStore } from '../limits/store.js';
import { Events } from '../outbox/events.js';
import { Outbox } from '../outbox/outbox.js';
import type { AddedToUsers } from '../users/users.js';

/** The services that the parts of the core stand on. They exist before any part is created. */
export class Infrastructure {
  readonly context = new CallContext();
  readonly database: Database;
  /** The counters of the rate limits. Null if rate limits are disabled. */
  readonly limits: LimitStore | null;
  readonly limiter: Limiter;
  readonly events: Events;
  readonly outbox: Outbox;
  /** Encrypts secrets that must be readable later. */
  readonly box: SecretBox;
  /** The codes in emails. */
  readonly codes: EmailedCodes;
  /** The parts that currently do less than they should. */
  readonly degraded = new Degraded();

  /** @throws TypeError if the database's URL or instance cannot be used */
  constructor(
    readonly settings: Settings,
    secrets: readonly string[],
    /** What plugins add to users. */
    readonly addedToUsers: AddedToUsers,
  ) {
    const { rateLimit } = settings;
    this.database = openDatabase(settings.database, settings.tablePrefix, this.context);
    this.limits = rateLimit && openLimitStore(rateLimit.store, this.database);
    this.limiter = new Limiter(this, new Refusals((refused) => this.#report(refused)));
    this.events = new Events(this.database, settings.log);
    this.box = new SecretBox(secrets);
    this.codes = new EmailedCodes(secrets);
    this.outbox = new Outbox(this);
  }

  /** Emits an event about the requests that a limit has rejected, and logs their number without the address. */
  #report(refused: Refused): void {
    const { limit, count } = refused;
    this.settings.log.warn(
      'rate_limit.refused',
      `the limit ${limit} has rejected requests because of their IP addresses within a minute: ${count}`,
      { cause: null, status: 429, code: 'rate_limited', limit, count },
    );
    void this.context.detached(async () => this.events.emit('rate_limit.refused', refused));
  }
}
