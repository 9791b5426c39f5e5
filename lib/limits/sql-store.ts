import { hash } from 'node:crypto';
import { ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import type { Replacements } from '../database/statements.js';
import { AuthError } from '../errors.js';
import type { RowOf } from '../tables/column.js';
import type { rateLimits } from '../tables/core.js';
import type { Selection, Table } from '../tables/table.js';
import {
  FORGET_AFTER_MS,
  type LimitStore,
  type Paused,
  type PausePolicy,
  pauseAfter,
  type WindowPolicy,
} from './store.js';

type Columns = typeof rateLimits.columns;

// A round fails only if another call has succeeded, so the limit is reached after a few rounds.
const MAX_ROUNDS = 50;

/**
 * Counters in the app's database. Each decision is one conditional UPDATE or INSERT whose number of affected rows shows
 * whether it was allowed. If a row is read first, the write takes effect only if the row has not changed.
 */
export class SqlLimitStore implements LimitStore {
  readonly #counter: Selection<RowOf<Columns>>;

  constructor(
    private readonly database: Database,
    private readonly table: Table<Columns>,
  ) {
    this.#counter = table.whole('r');
  }

  async hit(name: string, { limit, windowMs }: WindowPolicy): Promise<number | null> {
    const key = keyOf(name);
    await this.database.ready();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const now = this.database.clock.date();
      const counted = await this.#update('hits = hits + 1', 'expires_at > :now AND hits < :limit', {
        key,
        now,
        limit,
      });
      if (counted || (await this.#begin(key, now, windowMs))) return null;
      const counter = await this.#read(key);
      const left = counter ? counter.expiresAt.getTime() - now.getTime() : 0;
      if (counter && counter.hits >= limit && left > 0) return left;
    }
    throw new AuthError('unavailable');
  }

  takeBack(name: string): Promise<void> {
    return this.giveBack(name);
  }

  async reserve(name: string, policy: PausePolicy): Promise<Paused | null> {
    const key = keyOf(name);
    await this.database.ready();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const now = this.database.clock.date();
      const firstPauseMs = pauseAfter(1, policy);
      if (await this.#begin(key, now, firstPauseMs + FORGET_AFTER_MS, firstPauseMs)) return null;
      const counter = await this.#read(key);
      if (!counter) continue;
      const leftMs = counter.blockedUntil ? counter.blockedUntil.getTime() - now.getTime() : 0;
      if (leftMs > 0) return { leftMs, isFirst: await this.#report(key, counter) };
      const hits = counter.hits + 1;
      const pauseMs = pauseAfter(hits, policy);
      const reserved = await this.#update(
        'hits = :hits, blocked_until = :blocked, expires_at = :end, reported = NULL',
        'hits = :seen',
        {
          key,
          hits,
          seen: counter.hits,
          blocked: pauseEnd(now, pauseMs),
          end: later(now, pauseMs + FORGET_AFTER_MS),
        },
      );
      if (reserved) return null;
    }
    throw new AuthError('unavailable');
  }

  async giveBack(name: string): Promise<void> {
    await this.#update('hits = hits - 1, blocked_until = NULL', 'hits > 0', { key: keyOf(name) });
  }

  async clear(name: string): Promise<void> {
    await this.table.delete({ keyHash: keyOf(name) });
  }

  prune(dryRun: boolean): AsyncIterable<number> {
    return new ExpiredRows(this.database, this.table.name, 'key_hash', { expires_at: 0 }).run(dryRun);
  }

  async close(): Promise<void> {}

  /** Starts a counter at one, if the counter does not exist or has expired. @returns whether it did */
  async #begin(key: Buffer, now: Date, lifeMs: number, pauseMs = 0): Promise<boolean> {
    const values = { key, now, blocked: pauseEnd(now, pauseMs), end: later(now, lifeMs) };
    const row = {
      keyHash: key,
      hits: 1,
      blockedUntil: values.blocked,
      expiresAt: values.end,
      reported: null,
    };
    if (await this.table.insertUnlessThere(row)) return true;
    return this.#update(
      'hits = 1, blocked_until = :blocked, expires_at = :end, reported = NULL',
      'expires_at <= :now',
      values,
    );
  }

  /** Marks the current pause as reported. @returns whether this call did */
  async #report(key: Buffer, { hits, reported }: RowOf<Columns>): Promise<boolean> {
    if (reported) return false;
    return this.#update('reported = TRUE', 'reported IS NULL AND hits = :hits', { key, hits });
  }

  async check(): Promise<void> {
    await this.#read(keyOf('check'));
  }

  async #read(key: Buffer): Promise<RowOf<Columns> | undefined> {
    return (await this.#counter.select('WHERE r.key_hash = :key', { key }))[0];
  }

  async #update(assignments: string, condition: string, values: Replacements): Promise<boolean> {
    const sql = `UPDATE ${this.table.name} SET ${assignments} WHERE key_hash = :key AND ${condition}`;
    return (await this.database.change(sql, values)) > 0;
  }
}

function keyOf(name: string): Buffer {
  return hash('sha256', name, 'buffer');
}

/**
 * Returns null if there is no pause, because concurrent calls with a slightly earlier time would read `now` as a pause.
 */
function pauseEnd(now: Date, pauseMs: number): Date | null {
  return pauseMs > 0 ? later(now, pauseMs) : null;
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}
