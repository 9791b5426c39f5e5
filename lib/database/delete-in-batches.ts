import type { Database } from './database.js';

/** The number of rows that a batch treats. */
export const BATCH = 500;
const LEAST_PAUSE_MS = 10;

/**
 * Deletes rows in batches, since one large DELETE would block other statements for seconds. Each is followed by a pause as
 * long as it took, so that others get at least half of the database's time.
 *
 * @param batch treats up to {@link BATCH} rows, and says how many it found, and how many of them it deleted
 * @returns the number of deleted rows
 */
export async function inBatches(
  batch: () => Promise<{ readonly found: number; readonly deleted: number }>,
): Promise<number> {
  for (let total = 0; ; ) {
    const begun = performance.now();
    const { found, deleted } = await batch();
    total += deleted;
    if (found < BATCH) return total;
    const pauseMs = Math.max(LEAST_PAUSE_MS, performance.now() - begun);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/**
 * Deletes the rows whose time has come: see {@link inBatches}.
 *
 * @param key the table's primary key: an id or a digest
 * @param column the time, which has an index
 */
export function deleteInBatches(
  database: Database,
  table: string,
  key: string,
  column: string,
  end: Date,
): Promise<number> {
  return inBatches(async () => {
    // In order, since SQLite would read a table as a whole whose statistics say that most rows have the same value.
    const rows = await database.select<{ key_value: string | Buffer }>(
      `SELECT ${key} AS key_value FROM ${table} WHERE ${column} <= :end ORDER BY ${column} LIMIT ${BATCH}`,
      { end },
    );
    if (rows.length === 0) return { found: 0, deleted: 0 };
    const keys = rows.map((row) => row.key_value) as string[] | Buffer[];
    // A row may have changed in the meantime.
    const sql = `DELETE FROM ${table} WHERE ${key} IN (:keys) AND ${column} <= :end`;
    return { found: rows.length, deleted: await database.change(sql, { end, keys }) };
  });
}
