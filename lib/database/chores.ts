import type { Database } from './database.js';

/** Upkeep of one table, such as the deletion of its expired rows. */
export interface Chore {
  /** The name of the table, with the configured prefix. */
  readonly table: string;
  /** Does it, or only counts the rows that it would treat. @returns their number */
  run(dryRun: boolean): Promise<number>;
}

/** Does chores one after another, or only counts. @returns the number of rows, in all and in each table */
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

/** It reads everything that has expired, which may be much. */
const COUNTING_MS = 60_000;

/** The rows of a table whose time has come. They are deleted in batches: see {@link inBatches}. */
export class ExpiredRows implements Chore {
  /**
   * @param key the table's primary key: an id or a digest
   * @param ages for each column with a time, which has an index, how many milliseconds ago that must be. One is enough
   */
  constructor(
    private readonly database: Database,
    readonly table: string,
    private readonly key: string,
    private readonly ages: Readonly<Record<string, number>>,
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
    // In order, since SQLite would read a table as a whole whose statistics say that most rows have the same value.
    const found = `SELECT ${this.key} AS key_value FROM ${this.table} WHERE ${isOld(column)} ORDER BY ${column} LIMIT ${BATCH}`;
    // A row may have changed in the meantime.
    const deleted = `DELETE FROM ${this.table} WHERE ${this.key} IN (:keys) AND ${isOld(column)}`;
    return inBatches(
      () => this.database.select<{ key_value: string | Buffer }>(found, ends),
      (rows) => {
        const keys = rows.map((row) => row.key_value) as string[] | Buffer[];
        return this.database.change(deleted, { ...ends, keys });
      },
    );
  }
}

/** Times by column. */
export type Ends = Readonly<Record<string, Date>>;

/** The times that were so many milliseconds ago, by the database's clock. */
export async function endsOf(database: Database, ages: Readonly<Record<string, number>>): Promise<Ends> {
  await database.ready();
  return Object.fromEntries(
    Object.entries(ages).map(([column, ageMs]) => [column, database.clock.date(-ageMs)]),
  );
}

/** The condition that a column's time has come, with its end as `:column`. */
export function isOld(column: string): string {
  return `${column} <= :${column}`;
}

/** @param from the SQL after FROM */
export async function countRows(database: Database, from: string, ends: Ends): Promise<number> {
  const sql = `SELECT COUNT(*) AS n FROM ${from}`;
  const [row] = await database.select<{ n: number | string }>(sql, ends, undefined, COUNTING_MS);
  return Number(row?.n ?? 0);
}

/** The number of rows that are found at once. */
export const BATCH = 500;
// The more rows a statement deletes, the longer it holds up other writers, most of all while MySQL's redo log is full.
const AT_ONCE = 100;
const LEAST_PAUSE_MS = 10;

/**
 * Deletes rows a few at a time, since one large DELETE would block other statements for seconds. Each time is followed by a
 * pause as long as it took, so that others get at least half of the database's time.
 *
 * @param find selects up to {@link BATCH} of the rows that are left
 * @param treat deletes rows, or sees to it that they are not found again. @returns how many it has deleted
 * @returns the number of deleted rows
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
