import type { Database, Replacements } from './database.js';

const BATCH = 1000;
const PAUSE_MS = 10;

/**
 * Deletes rows a thousand at a time with a pause between: one big DELETE would hold up everybody else for seconds.
 *
 * @param key the table's primary key: an id, or a digest
 * @param condition which rows; asked again when they are deleted, because one may have changed meanwhile
 * @returns how many rows went
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
    const keys = rows.map((row) => row.key_value);
    const digests = keys.filter((one) => typeof one !== 'string').map((one) => one.toString('hex'));
    const list = digests.length > 0 ? database.digestLiterals(digests) : ':keys';
    deleted += await database.change(`DELETE FROM ${table} WHERE ${key} IN (${list}) AND ${condition}`, {
      ...replacements,
      keys: keys.filter((one) => typeof one === 'string'),
    });
    if (rows.length < BATCH) return deleted;
  }
}
