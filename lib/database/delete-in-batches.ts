import type { Database } from './database.js';
import type { Replacements } from './statements.js';

const BATCH = 1000;
const PAUSE_MS = 10;

/**
 * Deletes rows in batches of 1000 with pauses, since one large DELETE would block other statements for seconds.
 *
 * @param key the table's primary key: an id or a digest
 * @param condition selects the rows
 * @param again checked by the DELETE, since a row may have changed in the meantime; MySQL reads no table that it deletes from
 * @returns the number of deleted rows
 */
export async function deleteInBatches(
  database: Database,
  table: string,
  key: string,
  condition: string,
  replacements: Replacements,
  again = condition,
): Promise<number> {
  for (let deleted = 0; ; await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))) {
    const rows = await database.select<{ key_value: string | Buffer }>(
      `SELECT ${key} AS key_value FROM ${table} WHERE ${condition} LIMIT ${BATCH}`,
      replacements,
    );
    if (rows.length === 0) return deleted;
    const keys = rows.map((row) => row.key_value) as string[] | Buffer[];
    const sql = `DELETE FROM ${table} WHERE ${key} IN (:keys) AND ${again}`;
    deleted += await database.change(sql, { ...replacements, keys });
    if (rows.length < BATCH) return deleted;
  }
}
