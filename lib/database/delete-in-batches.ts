import type { Database, Replacements } from './database.js';

const BATCH = 1000;
const PAUSE_MS = 10;

/**
 * Deletes rows a thousand at a time with a pause between: one big DELETE would block everyone else for seconds.
 *
 * @param key the table's primary key: an id, or a digest
 * @param condition which rows; checked again when they are deleted, because one may have changed in the meantime
 * @returns how many rows were deleted
 */
export async function deleteInBatches(
  database: Database,
  table: string,
  key: string,
  condition: string,
  replacements: Replacements,
): Promise<number> {
  for (let deleted = 0; ; await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))) {
    const rows = await database.select<{ key_value: string | Buffer }>(
      `SELECT ${key} AS key_value FROM ${table} WHERE ${condition} LIMIT ${BATCH}`,
      replacements,
    );
    if (rows.length === 0) return deleted;
    const keys = rows.map((row) => row.key_value) as string[] | Buffer[];
    const sql = `DELETE FROM ${table} WHERE ${key} IN (:keys) AND ${condition}`;
    deleted += await database.change(sql, { ...replacements, keys });
    if (rows.length < BATCH) return deleted;
  }
}
