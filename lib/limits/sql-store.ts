import { hash } from 'node:crypto';
import { Database } from '../database/database.js';
import { deleteInBatches } from '../database/delete-in-batches.js';
import { AuthError } from '../errors.js';
import { FORGET_AFTER_MS, type LimitStore, type PausePolicy, pauseAfter } from './store.js';

interface Row {
  hits: number;
  blocked_until: Date | string | null;
  expires_at: Date | string;
}

// Each round lost means that another got through, and after a few of those nobody does.
const MAX_ROUNDS = 50;

/**
 * Counters in the database that the app has anyway. Every decision is one conditional UPDATE or INSERT, whose count of
 * affected rows says who got through; where something is read before, the write holds only if it is so still.
 */
export class SqlLimitStore implements LimitStore {
  readonly #table: string;

  constructor(private readonly database: Database) {
    this.#table = database.table('rate_limits');
  }

  async hit(key: string, limit: number, windowMs: number): Promise<number | null> {
    const at = this.#where(key);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const now = this.#now();
      const counted = await this.database.change(
        `UPDATE ${this.#table} SET hits = hits + 1 WHERE ${at} AND expires_at > :now AND hits < :limit`,
        { now, limit },
      );
      if (counted > 0 || (await this.#begin(key, now, windowMs))) return null;
      const row = await this.#read(at);
      const left = row ? Database.toDate(row.expires_at).getTime() - now.getTime() : 0;
      if (row && row.hits >= limit && left > 0) return left;
    }
    throw new AuthError('unavailable');
  }

  async reserve(key: string, policy: PausePolicy): Promise<number | null> {
    const at = this.#where(key);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const now = this.#now();
      if (await this.#begin(key, now, FORGET_AFTER_MS, pauseAfter(1, policy))) return null;
      const row = await this.#read(at);
      if (!row) continue;
      const left = row.blocked_until ? Database.toDate(row.blocked_until).getTime() - now.getTime() : 0;
      if (left > 0) return left;
      const hits = row.hits + 1;
      const taken = await this.database.change(
        `UPDATE ${this.#table} SET hits = :hits, blocked_until = :blocked, expires_at = :end
         WHERE ${at} AND hits = :seen`,
        {
          hits,
          seen: row.hits,
          blocked: later(now, pauseAfter(hits, policy)),
          end: later(now, FORGET_AFTER_MS),
        },
      );
      if (taken > 0) return null;
    }
    throw new AuthError('unavailable');
  }

  async clear(key: string): Promise<void> {
    await this.database.change(`DELETE FROM ${this.#table} WHERE ${this.#where(key)}`);
  }

  prune(): Promise<number> {
    return deleteInBatches(this.database, this.#table, 'key_hash', 'expires_at <= :now', {
      now: this.#now(),
    });
  }

  async close(): Promise<void> {}

  /** Begins a counter at one, where there is none or it has run out. */
  async #begin(key: string, now: Date, lifeMs: number, pauseMs = 0): Promise<boolean> {
    const values = { now, blocked: later(now, pauseMs), end: later(now, lifeMs) };
    const ignore = this.database.dialect === 'mysql' ? 'IGNORE' : '';
    const unlessThere = this.database.dialect === 'mysql' ? '' : 'ON CONFLICT (key_hash) DO NOTHING';
    const begun = await this.database.change(
      `INSERT ${ignore} INTO ${this.#table} (key_hash, hits, blocked_until, expires_at)
       VALUES (${this.#digest(key)}, 1, :blocked, :end) ${unlessThere}`,
      values,
    );
    if (begun > 0) return true;
    const again = await this.database.change(
      `UPDATE ${this.#table} SET hits = 1, blocked_until = :blocked, expires_at = :end
       WHERE ${this.#where(key)} AND expires_at <= :now`,
      values,
    );
    return again > 0;
  }

  async #read(at: string): Promise<Row | undefined> {
    const sql = `SELECT hits, blocked_until, expires_at FROM ${this.#table} WHERE ${at}`;
    return (await this.database.select<Row>(sql))[0];
  }

  #where(key: string): string {
    return `key_hash = ${this.#digest(key)}`;
  }

  // Hashed, so that the table holds no addresses of people.
  #digest(key: string): string {
    return this.database.digestLiterals([hash('sha256', key, 'hex')]);
  }

  #now(): Date {
    return new Date(Math.floor(this.database.clock.now()));
  }
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}
