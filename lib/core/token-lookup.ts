import { digestToken, isWellFormedToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { BatchedLookup } from '../database/lookup.js';
import type { Logger } from '../logger.js';
import type { Selection } from '../models/table.js';
import type { User } from '../models/user.js';

/** What a token opens, its user, and the database's time. */
export interface Found<Row> {
  readonly row: Row;
  readonly user: User;
  readonly now: number;
}

/** Which rows a token opens: `row` and `user` are joined `on` a condition where the column `hash` is the token's. */
interface Lookup<Row> {
  readonly prefix: string;
  readonly row: Selection<Row>;
  readonly hash: string;
  readonly user: Selection<User>;
  readonly on: string;
}

interface Raw {
  readonly token_digest: Buffer;
  readonly db_now: number | string;
}

/** Finds what tokens open. One statement at most, shared with other requests at a busy time. */
export class TokenLookup<Row> {
  readonly #batches: BatchedLookup<Raw>;

  constructor(
    private readonly database: Database,
    private readonly lookup: Lookup<Row>,
  ) {
    this.#batches = new BatchedLookup((digests, deadlineMs) =>
      database.share(() => this.#fetch(digests, deadlineMs)),
    );
  }

  async find(token: string): Promise<Found<Row> | null> {
    if (!isWellFormedToken(this.lookup.prefix, token)) return null;
    const digest = digestToken(token).toString('hex');
    const raw = await this.database.awaitShared(() => this.#batches.find(digest));
    if (!raw) return null;
    const now = Number(raw.db_now);
    this.database.clock.observe(now);
    return { row: this.lookup.row.read(raw), user: this.lookup.user.read(raw), now };
  }

  async #fetch(digests: readonly string[], deadlineMs: number): Promise<Map<string, Raw>> {
    const { row, hash, user, on } = this.lookup;
    const list = this.database.digestList(digests.map((digest) => Buffer.from(digest, 'hex')));
    const rows = await this.database.select<Raw>(
      `SELECT ${hash} AS token_digest, ${row.columns}, ${user.columns}, ${this.database.nowSql} AS db_now
       FROM ${row.from} JOIN ${user.from} ON ${on} WHERE ${hash} IN (${list})`,
      undefined,
      undefined,
      deadlineMs,
    );
    return new Map(rows.map((one) => [one.token_digest.toString('hex'), one]));
  }
}

/** Writes for which no request waits: they delay none and fail none. At most one at a time for each row. */
export class BackgroundWrites {
  readonly #running = new Map<string, Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly logger: Logger,
    /** For the log. */
    private readonly what: string,
  ) {}

  start(id: string, write: () => Promise<unknown>): void {
    if (this.#running.has(id)) return;
    const running = this.database
      .share(write)
      .then(() => undefined)
      .catch((error) => this.logger.warn(`latchkey: ${this.what} was not written`, error))
      .finally(() => this.#running.delete(id));
    this.#running.set(id, running);
  }

  async settle(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
