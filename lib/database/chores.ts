import { performance, sleep } from '../timers.js';
import { inTurns } from './batches.js';
import type { Database } from './database.js';

/** A maintenance task for one table, such as the deletion of its expired rows. */
export interface Chore {
  /** The name of the table, with the configured prefix. */
  readonly table: string;
  /**
   * Does the work in steps, or only counts the rows that it would affect. Yields the number of rows of each step. If
   * the caller stops iterating, no further step is taken.
   */
  run(dryRun: boolean): AsyncIterable<number>;
}

/** How to run chores. */
export interface ChoresOptions {
  /** Ends the work after the current step. Counting ends immediately. */
  readonly signal?: AbortSignal;
  /** Called after each step. @param rows the number of rows of this table so far */
  readonly onProgress?: (table: string, rows: number) => void;
}

/**
 * Runs chores one after another, or only counts rows.
 *
 * @returns the number of rows, in total and for each table; with an aborted signal, for the tables that were reached
 */
export async function runChores(
  chores: readonly Chore[],
  dryRun: boolean,
  { signal, onProgress }: ChoresOptions = {},
): Promise<{ readonly rows: number; readonly tables: Readonly<Record<string, number>> }> {
  const tables: Record<string, number> = {};
  const work = async () => {
    for await (const chore of inTurns(chores)) {
      if (signal?.aborted) return;
      for await (const rows of inTurns(chore.run(dryRun))) {
        const total = (tables[chore.table] ?? 0) + rows;
        tables[chore.table] = total;
        onProgress?.(chore.table, total);
        if (signal?.aborted) return;
      }
      tables[chore.table] ??= 0;
    }
  };
  await (dryRun && signal ? Promise.race([work(), aborted(signal)]) : work());
  const rows = Object.values(tables).reduce((sum, count) => sum + count, 0);
  return { rows, tables: { ...tables } };
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', resolve, { once: true });
  });
}

/** The deadline for counting, which reads all expired rows of a table. */
const COUNTING_MS = 60_000;

/** Deletes the expired rows of a table in batches: see {@link inBatches}. */
export class ExpiredRows implements Chore {
  /**
   * @param key the table's primary key: an id or a digest
   * @param ages for each column with a time, the age in milliseconds at which a row is expired. Each column has an
   *   index. A row is expired if one of the columns is old enough
   * @param before called with the keys of a few rows before they are deleted
   */
  constructor(
    private readonly database: Database,
    readonly table: string,
    private readonly key: string,
    private readonly ages: Readonly<Record<string, number>>,
    private readonly before?: (keys: readonly string[]) => Promise<void>,
  ) {}

  async *run(dryRun: boolean): AsyncGenerator<number> {
    const ends = await endsOf(this.database, this.ages);
    const columns = Object.keys(this.ages);
    if (dryRun)
      yield countRows(this.database, `${this.table} WHERE ${columns.map(isOld).join(' OR ')}`, ends);
    else for (const column of columns) yield* this.#deleteBy(column, ends);
  }

  #deleteBy(column: string, ends: Ends): AsyncGenerator<number> {
    // Without ORDER BY, SQLite reads the whole table if its statistics say that most rows have the same value.
    const found = `SELECT ${this.key} AS key_value FROM ${this.table} WHERE ${isOld(column)} ORDER BY ${column} LIMIT ${BATCH}`;
    // Check the time again, because a row might have changed in the meantime.
    const deleted = `DELETE FROM ${this.table} WHERE ${this.key} IN (:keys) AND ${isOld(column)}`;
    return inBatches(
      () => this.database.select<{ key_value: string | Buffer }>(found, ends),
      async (rows) => {
        const keys = rows.map((row) => row.key_value) as string[] | Buffer[];
        await this.before?.(keys as string[]);
        return this.database.change(deleted, { ...ends, keys });
      },
    );
  }
}

/** Times by column. */
export type Ends = Readonly<Record<string, Date>>;

/** Returns the times that were this many milliseconds ago by the database's clock. */
export async function endsOf(database: Database, ages: Readonly<Record<string, number>>): Promise<Ends> {
  await database.ready();
  return Object.fromEntries(
    Object.entries(ages).map(([column, ageMs]) => [column, database.clock.date(-ageMs)]),
  );
}

/** Returns the condition that a column's time is not after `:column`. */
export function isOld(column: string): string {
  return `${column} <= :${column}`;
}

/** Counts rows. @param from the SQL after FROM */
export async function countRows(database: Database, from: string, ends: Ends): Promise<number> {
  const sql = `SELECT COUNT(*) AS n FROM ${from}`;
  const [row] = await database.select<{ n: number | string }>(sql, ends, undefined, COUNTING_MS);
  return Number(row?.n ?? 0);
}

/** The number of rows that one SELECT finds. */
export const BATCH = 500;
// The more rows a statement deletes, the longer it delays other writers, especially while MySQL's redo log is full.
const AT_ONCE = 100;
const LEAST_PAUSE_MS = 10;

/**
 * Deletes or changes rows a few at a time, because one large statement would block other statements for seconds. After
 * each part, it pauses for as long as the part took, so that other statements get at least half of the database's time.
 *
 * @param find selects up to {@link BATCH} of the rows that are left
 * @param treat processes rows, makes sure that they are not found again, and returns the number of rows that it counts
 * @returns the numbers that `treat` returned, one for each part
 */
export async function* inBatches<Row>(
  find: () => Promise<Row[]>,
  treat: (rows: readonly Row[]) => Promise<number>,
): AsyncGenerator<number> {
  for (let begun = performance.now(); ; ) {
    const rows = await find();
    const isLast = rows.length < BATCH;
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      yield treat(rows.slice(at, at + AT_ONCE));
      if (isLast && at + AT_ONCE >= rows.length) break;
      const pauseMs = Math.max(LEAST_PAUSE_MS, performance.now() - begun);
      await sleep(pauseMs);
      begun = performance.now();
    }
    if (isLast) return;
  }
}
