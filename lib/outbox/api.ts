import type { AppTransaction, Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import { endingWithObject, requireKnownKeys } from '../known-keys.js';
import { cutPage, type PageOptions, readPage } from '../tables/pages.js';
import { MAIL_LANE } from './lane.js';
import type { Delivered, Outbox } from './outbox.js';
import { HELD, OUTBOX_STATES, type ShownRow } from './rows.js';

/**
 * The state of an email or webhook: `waiting` to be sent or retried, or held by `rateLimit.strangers`; `sent`; `dropped`, because it had no recipient;
 * `failed`, because it was rejected, or could not be sent for three days.
 */
export type OutboxState = (typeof OUTBOX_STATES)[number];

/** An email or webhook in the outbox, without its content. */
export interface OutboxEntry {
  readonly id: string;
  readonly channel: 'email' | 'webhook';
  /** The kind of the email, or the name of the event. */
  readonly kind: string;
  /** The URL of the webhook. Null for an email, and for a webhook that is no longer in the config. */
  readonly endpoint: string | null;
  readonly state: OutboxState;
  /** Whether it waits because `rateLimit.strangers` is reached. */
  readonly held: boolean;
  /** The number of attempts to send it. */
  readonly attempts: number;
  /**
   * The kind of the error of the last attempt, without its message, which can quote the email. Null if there was no
   * error.
   */
  readonly lastError: string | null;
  readonly createdAt: Date;
  /** The earliest time of the next attempt. Null once it is finished, and while it is held. */
  readonly nextAttemptAt: Date | null;
  /** When it was sent, dropped or given up. Null until then. */
  readonly finishedAt: Date | null;
}

/** Options of `auth.outbox.retry`. */
export interface RetryOutboxOptions {
  /**
   * A transaction of the Sequelize instance that is the config's `database`. The entry is sent after its commit.
   * @default none
   */
  transaction?: AppTransaction | null | undefined;
}

/** Selects a page of the outbox. */
export interface ListOutboxOptions extends PageOptions {
  /** A transaction of the Sequelize instance that is the config's `database`. @default none */
  transaction?: AppTransaction | null | undefined;
  /** Only entries in this state. @default all of them */
  state?: OutboxState;
}

/** `auth.outbox`: the emails and webhooks that are waiting to be sent, and recent ones. */
export class OutboxApi {
  readonly #outbox: Outbox;
  readonly #database: Database;

  /** @internal */
  constructor(outbox: Outbox, database: Database) {
    this.#outbox = outbox;
    this.#database = database;
    endingWithObject('auth.outbox', this);
  }

  /**
   * Lists entries page by page, newest first.
   *
   * @throws AuthError `invalid_request` for an invalid state, limit or cursor
   */
  async list(options: ListOutboxOptions = {}): Promise<{
    entries: OutboxEntry[];
    nextCursor: string | null;
  }> {
    requireKnownKeys('auth.outbox.list', options, ['state', 'limit', 'cursor', 'transaction']);
    const { state, transaction } = options;
    const { limit, before } = readPage(options);
    if (state !== undefined && !OUTBOX_STATES.includes(state))
      throw new AuthError('invalid_request', { detail: `state must be one of ${OUTBOX_STATES.join(', ')}.` });
    const rows = await this.#database.join(transaction, () =>
      this.#outbox.rows.list(state ?? null, before, limit + 1),
    );
    const { page: shown, nextCursor } = cutPage(rows, limit);
    return { entries: shown.map((row) => this.#present(row)), nextCursor };
  }

  /**
   * Retries an entry that has failed, even if it was given up, without waiting for its next attempt. If it fails again,
   * it is retried for three more days. In a transaction of the app, it is sent after the commit.
   *
   * @returns whether there is such an entry
   */
  async retry(id: string, options: RetryOutboxOptions = {}): Promise<boolean> {
    requireKnownKeys('auth.outbox.retry', options, ['transaction']);
    return this.#database.join(options.transaction, () => this.#outbox.retry(id));
  }

  /**
   * Sends all due entries. Resolves when this is done, and when the entries are sent that this process is sending
   * already. Call it in a scheduled job if no process runs for long, or if `outbox: { interval: false }` is set.
   *
   * @throws AuthError `unavailable` (503) if the database is unavailable
   */
  deliver(): Promise<Delivered> {
    return this.#outbox.deliver(true);
  }

  #present({
    id,
    lane,
    kind,
    state,
    attempts,
    lastError,
    createdAt,
    dueAt,
    finishedAt,
  }: ShownRow): OutboxEntry {
    return {
      id,
      channel: lane === MAIL_LANE ? 'email' : 'webhook',
      kind,
      endpoint: this.#outbox.destination(lane)?.url ?? null,
      state: state === HELD ? 'waiting' : (state as OutboxState),
      held: state === HELD,
      attempts,
      lastError,
      createdAt,
      nextAttemptAt: dueAt,
      finishedAt,
    };
  }
}
