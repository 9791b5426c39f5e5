import type { Database } from './database.js';
import type { Replacements } from './statements.js';

/** The number of rows that a batch treats. */
export const BATCH = 1000;
const PAUSE_MS = 10;

/**
 * Deletes rows in batches with pauses, since one large DELETE would block other statements for seconds.
 *
 * @param batch treats up to {@link BATCH} rows, and says how many it found, and how many of them it deleted
 * @returns the number of deleted rows
 */
export async function inBatches(
  batch: () => Promise<{ readonly found: number; readonly deleted: number }>,
): Promise<number> {
  for (let total = 0; ; await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))) {
    const { found, deleted } = await batch();
    total += deleted;
    if (found < BATCH) return total;
  }
}

/**
 * Deletes the rows that match a condition: see {@link inBatches}.
 *
 * @param key the table's primary key: an id or a digest
 * @param condition selects the rows; it is checked again by the DELETE, since a row may have changed in the meantime
 */
export function deleteInBatches(
  database: Database,
  table: string,
  key: string,
  condition: string,
  replacements: Replacements,
): Promise<number> {
  return inBatches(async () => {
    const rows = await database.select<{ key_value: string | Buffer }>(
      `SELECT ${key} AS key_value FROM ${table} WHERE ${condition} LIMIT ${BATCH}`,
      replacements,
    );
    if (rows.length === 0) return { found: 0, deleted: 0 };
    const keys = rows.map((row) => row.key_value) as string[] | Buffer[];
    const sql = `DELETE FROM ${table} WHERE ${key} IN (:keys) AND ${condition}`;
    return { found: rows.length, deleted: await database.change(sql, { ...replacements, keys }) };
  });
}
