import { dialectIn, rows, type SpecDatabase } from './database.js';
import { tablesOf } from './plans.js';

/** Returns the tables of a database with their columns, constraints and indexes, as the database describes them. */
export async function schemaOf(database: SpecDatabase): Promise<Record<string, string[]>> {
  const tables = (await tablesOf(database)).sort();
  const described = tables.map(
    async (table) => [table, await LINES[dialectIn(database)](database, table)] as const,
  );
  return Object.fromEntries(await Promise.all(described));
}

const LINES = {
  async mysql(database: SpecDatabase, table: string) {
    const [row] = await rows<{ 'Create Table': string }>(database, `SHOW CREATE TABLE ${table}`);
    return String(row?.['Create Table']).split('\n');
  },

  async postgres(database: SpecDatabase, table: string) {
    const found = await rows<{ line: string }>(
      database,
      `(SELECT CONCAT_WS(' ', a.attname, format_type(a.atttypid, a.atttypmod), c.collname,
          CASE WHEN a.attnotnull THEN 'NOT NULL' END, pg_get_expr(d.adbin, d.adrelid)) AS line
        FROM pg_attribute a LEFT JOIN pg_collation c ON c.oid = a.attcollation
          LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = :table::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum)
      UNION ALL
      (SELECT CONCAT(conname, ' ', pg_get_constraintdef(oid)) FROM pg_constraint
        WHERE conrelid = :table::regclass ORDER BY conname)
      UNION ALL
      (SELECT CONCAT(pg_get_indexdef(indexrelid), ' ', indisvalid) FROM pg_index
        WHERE indrelid = :table::regclass ORDER BY 1)`,
      { table },
    );
    return found.map(({ line }) => line);
  },

  async sqlite(database: SpecDatabase, table: string) {
    const found = await rows<{ sql: string | null }>(
      database,
      'SELECT sql FROM sqlite_master WHERE tbl_name = :table ORDER BY type DESC, name',
      { table },
    );
    // SQLite keeps the statements as they were written.
    return found.flatMap(({ sql }) =>
      String(sql)
        .split(/[,(]\s/)
        .map(onOneLine),
    );
  },
};

function onOneLine(text: string): string {
  return text.replaceAll('"', '').replace(/\s+/g, ' ').trim();
}
