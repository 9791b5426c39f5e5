import { digestInHex, isWellFormedToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import type { Selection } from '../tables/table.js';
import type { User } from '../tables/user.js';
import type { UserSelection } from '../users/record.js';
import { BatchedLookup } from './lookup.js';

/** The row with a token, its user, and the database's time in milliseconds. */
export interface Found<Row, Owner> {
  readonly row: Row;
  readonly user: Owner;
  readonly now: number;
}

/** Where tokens are looked up: `row` is joined with `user` on the condition `on`, and `hash` is the token's column. */
interface Lookup<Row, Owner> {
  readonly prefix: string;
  readonly row: Selection<Row>;
  readonly hash: string;
  readonly user: UserSelection<Owner>;
  readonly on: string;
}

interface Raw {
  readonly token_digest: Buffer;
  readonly db_now: number | string;
}

/**
 * Finds rows by token. Each lookup sends at most one statement, which concurrent lookups share. A lookup within a
 * transaction of the app has its own, since it must see what that has written.
 */
export class TokenLookup<Row, Owner extends User = User> {
  readonly #batches: BatchedLookup<Raw>;

  constructor(
    private readonly database: Database,
    private readonly lookup: Lookup<Row, Owner>,
  ) {
    this.#batches = new BatchedLookup((digests, deadlineMs) =>
      database.share(() => this.#fetch(digests, deadlineMs)),
    );
  }

  /**
   * @param token a token, or the digest of one
   * @param use what the row becomes, if there is one; null counts as none
   */
  async find<Result>(
    token: string | Buffer,
    use: (found: Found<Row, Owner>) => Result | null,
  ): Promise<Result | null> {
    if (typeof token === 'string' && !isWellFormedToken(this.lookup.prefix, token)) return null;
    const digest = typeof token === 'string' ? digestInHex(token) : token.toString('hex');
    const raw = this.database.isJoined
      ? (await this.#fetch([digest])).get(digest)
      : await this.database.awaitShared(() => this.#batches.find(digest));
    if (!raw) return null;
    const { row, user: owner } = this.lookup;
    const user = owner.read(raw);
    if (owner.isPresent && !(await owner.isPresent(user))) return null;
    return use({ row: row.read(raw), user, now: this.database.clock.at(raw.db_now) });
  }

  async #fetch(digests: readonly string[], deadlineMs?: number): Promise<Map<string, Raw>> {
    const { row, hash, user, on } = this.lookup;
    await user.ready();
    const rows = await this.database.lookUp<Raw>(
      `SELECT ${hash} AS token_digest, ${row.columns}, ${user.columns}, ${this.database.nowSql} AS db_now
       FROM ${row.from} JOIN ${user.from} ON ${on} WHERE ${hash} IN`,
      digests,
      deadlineMs,
    );
    if (rows[0]) this.database.clock.observe(rows[0].db_now);
    return new Map(rows.map((one) => [one.token_digest.toString('hex'), one]));
  }
}
