import type { Database } from './database.js';

/** Upkeep of one table, such as the deletion of its expired rows. */
export interface Chore {
  /** The name of the table, with the configured prefix. */
  readonly table: string;
  /** Does the work, or only counts the rows that it would affect. @returns the number of rows */
  run(dryRun: boolean): Promise<number>;
}

/** Runs chores one after another, or only counts rows. @returns the number of rows, in total and for each table */
export async function runChores(
  chores: readonly Chore[],
  dryRun: boolean,
): Promise<{ readonly rows: number; readonly tables: Readonly<Record<string, number>> }> {
  const tables: Record<string, number> = {};
  let rows = 0;
  for (const chore of chores) {
    const treated = await chore.run(dryRun);
    tables[chore.table] = treated;
    rows += treated;
  }
  return { rows, tables };
}

/** The deadline for counting, which reads all expired rows of a table. */
const COUNTING_MS = 60_000;

/** Deletes the expired rows of a table in batches: see {@link inBatches}. */
export class ExpiredRows implements Chore {
  /**
   * @param key the table's primary key: an id or a digest
   * @param ages for each column with a time, how many milliseconds ago that time must be. Each column has an index, and
   *   a row is expired if one of the columns is old enough
   * @param before called with the keys of a few rows before they are deleted
   */
  constructor(
    private readonly database: Database,
    readonly table: string,
    private readonly key: string,
    private readonly ages: Readonly<Record<string, number>>,
    private readonly before?: (keys: readonly string[]) => Promise<void>,
  ) {}

  async run(dryRun: boolean): Promise<number> {
    const ends = await endsOf(this.database, this.ages);
    const columns = Object.keys(this.ages);
    if (dryRun)
      return countRows(this.database, `${this.table} WHERE ${columns.map(isOld).join(' OR ')}`, ends);
    let deleted = 0;
    for (const column of columns) deleted += await this.#deleteBy(column, ends);
    return deleted;
  }

  #deleteBy(column: string, ends: Ends): Promise<number> {
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
 * @param treat treats rows, makes sure that they are not found again, and returns the number of rows that it counts
 * @returns the sum of these numbers
 */
export async function inBatches<Row>(
  find: () => Promise<Row[]>,
  treat: (rows: readonly Row[]) => Promise<number>,
): Promise<number> {
  for (let total = 0, begun = performance.now(); ; ) {
    const rows = await find();
    const isLast = rows.length < BATCH;
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      total += await treat(rows.slice(at, at + AT_ONCE));
      if (isLast && at + AT_ONCE >= rows.length) break;
      const pauseMs = Math.max(LEAST_PAUSE_MS, performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      begun = performance.now();
    }
    if (isLast) return total;
  }
}
