import type { Transaction } from 'sequelize';
import { uuidv7 } from '../crypto/uuid.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { type RecentBrowserColumns, recentBrowsers } from '../tables/core.js';
import { Table } from '../tables/table.js';

const LIFETIME_MS = 24 * 60 * 60 * 1000;

/** The maximum number of a browser's rows that are copied to its new value. The latest rows are copied. */
const MAX_COPIED = 10;

/**
 * Browsers in which an account was created, or access to its mailbox was proven, in the last 24 hours. The account does
 * not know them as devices: a sign-in there sends a notice, as in any new browser, and they do not prove who undoes a
 * change.
 */
export class RecentBrowsers {
  readonly #table: Table<RecentBrowserColumns>;

  constructor(private readonly database: Database) {
    this.#table = new Table(database, recentBrowsers);
  }

  /** @param userId null after a sign-up that has created no account */
  async add(
    userId: string | null,
    tokenHash: Buffer,
    madeThere: boolean,
    transaction: Transaction,
  ): Promise<void> {
    const { clock } = this.database;
    const row = { id: uuidv7(clock.now()), userId, tokenHash, madeThere, expiresAt: clock.date(LIFETIME_MS) };
    await this.#table.insert(row, transaction);
  }

  /** Whether a browser belongs to an account. @param madeThere whether the account must have been created in it */
  async has(userId: string, tokenHash: Buffer, madeThere: boolean): Promise<boolean> {
    await this.database.ready();
    const now = this.database.clock.date();
    const found = await this.#table.whole('b').select(
      `WHERE b.token_hash = :tokenHash AND b.user_id = :userId AND b.expires_at > :now
           ${madeThere ? 'AND b.made_there = TRUE' : ''} LIMIT 1`,
      { tokenHash, userId, now },
    );
    return found.length > 0;
  }

  /** Gives a browser a new value. The previous value stays valid, because the response might not arrive. */
  async copy(tokenHash: Buffer, next: Buffer, transaction: Transaction): Promise<void> {
    const { clock } = this.database;
    const found = await this.#table
      .whole('b')
      .select(
        `WHERE b.token_hash = :tokenHash AND b.expires_at > :now ORDER BY b.expires_at DESC LIMIT ${MAX_COPIED}`,
        { tokenHash, now: clock.date() },
        transaction,
      );
    const copies = found.map((row) => ({ ...row, id: uuidv7(clock.now()), tokenHash: next }));
    if (copies.length > 0) await this.#table.insert(copies, transaction);
  }

  /** Forgets the browsers of an account. @param except the hash of the value of a browser to keep */
  async forget(userId: string, except: Buffer | null, transaction: Transaction): Promise<void> {
    const sql = `DELETE FROM ${this.#table.name} WHERE user_id = :userId${except ? ' AND token_hash <> :except' : ''}`;
    await this.database.change(sql, { userId, ...(except && { except }) }, { transaction });
  }

  get expired(): Chore {
    return new ExpiredRows(this.database, this.#table.name, 'id', { expires_at: 0 });
  }
}
