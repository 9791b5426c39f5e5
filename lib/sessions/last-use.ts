import { inTurns } from '../database/batches.js';
import type { Database } from '../database/database.js';
import type { Replacements } from '../database/statements.js';
import type { Log } from '../logger.js';
import { performance, timers } from '../timers.js';

/** How long a use waits, so that other uses can be saved in the same statement. */
const DELAY_MS = 1000;
/**
 * A use does not wait if its row would expire within this time, which exceeds the delay plus a statement's deadline.
 */
const URGENT_MS = 6000;
const MAX_ROWS = 200;
const MAX_WAITING = 10_000;
const MAX_TRIES = 3;

/** The column with the time of the last use. */
export interface LastUseColumn {
  readonly table: string;
  readonly column: string;
  /** The name of this time, for the log. */
  readonly what: string;
}

interface Use {
  /** The time that the column contained. */
  readonly seen: Date | null;
  readonly at: Date;
  readonly tries: number;
}

/**
 * Saves when rows were last used, for many rows in one statement, at most a second later. Requests do not wait for it,
 * and do not fail if it fails. A failure is logged, and its uses are retried, three times in total. At most 10,000 uses
 * wait. Further uses are dropped, which is logged, and the next request with the same row records its use again.
 *
 * The statement is an UPDATE, never an upsert, and it changes only rows whose column has not changed in the meantime.
 * So it cannot restore a revoked row, set a time back, or change a session that has a new token.
 */
export class LastUse {
  readonly #waiting = new Map<string, Use>();
  #writing: ReadonlyMap<string, Use> = new Map();
  #flushing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  /** Called when no use waits any longer. */
  #end: (() => void) | undefined;
  #due = 0;
  /** After a failure, by `performance.now()`. */
  #notBefore = 0;
  #dropped = 0;

  constructor(
    private readonly database: Database,
    private readonly log: Log,
    private readonly of: LastUseColumn,
  ) {}

  /**
   * Records a use. In a transaction of the app, it counts after the commit.
   *
   * @param seen the value of the column
   * @param at in milliseconds since 1970, by the database's clock
   * @param endsAt when the row expires unless its use is saved, in milliseconds since 1970
   */
  record(id: string, seen: Date | null, at: number, endsAt = Number.POSITIVE_INFINITY): void {
    const use = { seen, at: new Date(at), tries: 0 };
    const inMs = endsAt - at < URGENT_MS ? 0 : DELAY_MS;
    // Wait for the commit, because the app's transaction can hold the row's lock, and can be rolled back.
    this.database.afterCommit(undefined, () => this.#add(id, use, inMs));
  }

  /** Returns the time of the last use, saved or not. A waiting use can be older than one saved in the meantime. */
  latest<Saved extends Date | null>(id: string, saved: Saved): Saved | Date {
    const { at } = this.#waiting.get(id) ?? this.#writing.get(id) ?? {};
    return at && (!saved || at > saved) ? at : saved;
  }

  /** Saves the waiting uses. */
  settle(): Promise<void> {
    return this.#flush(true);
  }

  #add(id: string, use: Use, inMs: number): void {
    const known = this.#waiting.get(id);
    if (this.#writing.has(id) || (known && known.at > use.at)) return;
    if (!known && this.#waiting.size >= MAX_WAITING) this.#dropped++;
    else this.#waiting.set(id, use);
    this.#end ??= this.database.context.background.begin();
    this.#schedule(this.#waiting.size < MAX_ROWS ? inMs : 0);
  }

  #schedule(inMs: number): void {
    const now = performance.now();
    const due = Math.max(now + inMs, this.#notBefore);
    if (this.#timer && this.#due <= due) return;
    timers.clearTimeout(this.#timer);
    this.#due = due;
    // The timer does not keep the process alive, because `auth.close()` saves the waiting uses.
    this.#timer = timers.setTimeout(() => void this.#flush(false), due - now).unref();
  }

  #flush(isLast: boolean): Promise<void> {
    timers.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.database.share(() => this.#saveAll(isLast)));
    return this.#flushing;
  }

  async #saveAll(isLast: boolean): Promise<void> {
    this.#reportDropped();
    for await (const uses of inTurns(this.#takeAll())) {
      try {
        const saved = await this.#write(uses);
        // The other rows might have been locked.
        if (saved < uses.size && !isLast) this.#tryAgain(uses);
      } catch (error) {
        this.#notBefore = performance.now() + DELAY_MS;
        const lost = isLast ? this.#giveUp(uses) : this.#tryAgain(uses);
        const outcome = lost > 0 ? `it is lost for ${lost}` : 'it will be retried';
        this.log.warn(
          'last_use.not_saved',
          `${this.of.what} could not be saved for ${uses.size} rows: ${outcome}`,
          { cause: lost > 0 ? 'lost' : 'retried', err: error },
        );
        break;
      }
    }
    if (this.#waiting.size > 0) return this.#schedule(DELAY_MS);
    this.#end?.();
    this.#end = undefined;
  }

  /** Takes the uses that are waiting now. Uses that are added or retried in the meantime are behind them. */
  *#takeAll(): Generator<ReadonlyMap<string, Use>> {
    for (let left = this.#waiting.size; left > 0; left -= MAX_ROWS)
      yield this.#take(Math.min(left, MAX_ROWS));
  }

  #take(count: number): ReadonlyMap<string, Use> {
    const uses = new Map<string, Use>();
    for (const [id, use] of this.#waiting) {
      if (uses.size >= count) break;
      uses.set(id, use);
      this.#waiting.delete(id);
    }
    return uses;
  }

  async #write(uses: ReadonlyMap<string, Use>): Promise<number> {
    this.#writing = uses;
    try {
      return await this.#update(uses);
    } finally {
      this.#writing = new Map();
    }
  }

  /** @returns how many uses are lost, because they have reached the maximum number of tries */
  #tryAgain(uses: ReadonlyMap<string, Use>): number {
    const left = [...uses].filter(([, { tries }]) => tries + 1 < MAX_TRIES);
    for (const [id, use] of left) this.#add(id, { ...use, tries: use.tries + 1 }, DELAY_MS);
    return uses.size - left.length;
  }

  /** Drops all waiting uses too, because the database does not respond. @returns how many uses are lost */
  #giveUp(uses: ReadonlyMap<string, Use>): number {
    const lost = uses.size + this.#waiting.size;
    this.#waiting.clear();
    return lost;
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const why = `${MAX_WAITING} rows were waiting already`;
    this.log.warn(
      'last_use.dropped',
      `${this.of.what} was not recorded for ${this.#dropped} requests: ${why}`,
      { cause: null, count: this.#dropped },
    );
    this.#dropped = 0;
  }

  /**
   * Skips locked rows, because a transaction of the app can hold a lock for long. A statement that waits for such a
   * lock would keep the other rows locked in the meantime, and so delay the sign-outs of other users.
   */
  #update(uses: ReadonlyMap<string, Use>): Promise<number> {
    const { table, column } = this.of;
    const values: Record<string, Replacements[string]> = {};
    const times: string[] = [];
    const rows: string[] = [];
    const time = this.database.dialect === 'postgres' ? '::timestamptz' : '';
    // All processes use the same order of rows.
    for (const [index, [id, { seen, at }]] of [...uses].sort(([a], [b]) => (a < b ? -1 : 1)).entries()) {
      values[`id_${index}`] = id;
      values[`at_${index}`] = at;
      times.push(`WHEN :id_${index} THEN :at_${index}${time}`);
      rows.push(
        `(id = :id_${index} AND ${column} ${seen ? `BETWEEN :from_${index} AND :to_${index}` : 'IS NULL'})`,
      );
      if (!seen) continue;
      // Allow a difference of a millisecond: on SQLite, times are text, and the app might write them with another
      // precision.
      values[`from_${index}`] = new Date(seen.getTime() - 1);
      values[`to_${index}`] = new Date(seen.getTime() + 1);
    }
    const which = rows.join(' OR ');
    const value = (id: string) => `CASE ${id} ${times.join(' ')} END`;
    return this.database.change(this.#sql(table, column, which, value), values);
  }

  #sql(table: string, column: string, which: string, value: (id: string) => string): string {
    switch (this.database.dialect) {
      case 'postgres':
        return `UPDATE ${table} AS t SET ${column} = ${value('t.id')} FROM (
          SELECT id FROM ${table} WHERE ${which} ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
        ) AS unlocked WHERE t.id = unlocked.id`;
      case 'mysql':
        // The primary key is forced, because a scan of a small table would lock rows that it does not change. LIMIT
        // keeps MySQL from merging the subquery into the statement, which must not read the table that it changes. The
        // comments disable `sql_safe_updates`, which would reject the join: the first is SQL for MariaDB, the second is
        // a hint for MySQL.
        return `/*M! SET STATEMENT sql_safe_updates = 0 FOR */ UPDATE /*+ SET_VAR(sql_safe_updates = 0) */ (
          SELECT id FROM ${table} FORCE INDEX (PRIMARY) WHERE ${which} ORDER BY id LIMIT ${MAX_ROWS} FOR UPDATE SKIP LOCKED
        ) AS unlocked STRAIGHT_JOIN ${table} AS t FORCE INDEX (PRIMARY) ON t.id = unlocked.id
        SET t.${column} = ${value('t.id')}`;
      case 'sqlite':
        return `UPDATE ${table} SET ${column} = ${value('id')} WHERE ${which}`;
    }
  }
}
