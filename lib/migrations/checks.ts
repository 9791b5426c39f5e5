import { QueryTypes } from 'sequelize';
import type { Reading } from './migration.js';

/**
 * Requires that the tables to create do not exist yet.
 *
 * @throws Error naming the existing tables, and `tablePrefix`
 */
export async function requireFreeNames(reading: Reading, wanted: readonly string[]): Promise<void> {
  if (wanted.length === 0) return;
  const existing = await existingTables(reading, wanted);
  if (existing.length === 0) return;
  const [one, several] = existing.length === 1 ? ['table', 'it is'] : ['tables', 'they are'];
  throw new Error(
    `latchkey: migrate: the ${one} ${listed(existing)} exists already, and ${several} not latchkey's. ` +
      `Set tablePrefix to another value, such as 'auth_', so that latchkey's tables have their own names`,
  );
}

/** Returns the names for which a table already exists. */
export async function existingTables(reading: Reading, names: readonly string[]): Promise<string[]> {
  const existing = await query<{ name: string }>(reading, EXISTING[reading.database.dialect], names);
  return existing.map(({ name }) => name);
}

// SQLite ignores case when it compares names, and so does MySQL unless lower_case_table_names is 0.
const asMysqlCompares = (name: string) =>
  `(CASE @@lower_case_table_names WHEN 0 THEN BINARY ${name} ELSE LOWER(${name}) END)`;

// On PostgreSQL and SQLite, indexes and views share the namespace of tables.
const EXISTING = {
  mysql: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()
    AND ${asMysqlCompares('table_name')} IN (:tables)`,
  postgres: `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relname IN (:tables)`,
  sqlite: 'SELECT name FROM sqlite_master WHERE LOWER(name) IN (:tables)',
};

/**
 * Requires that no other table refers to the tables that would be dropped. Otherwise the database would delete the rows
 * that refer to them, or would refuse to drop them after other tables have been dropped, which MySQL cannot roll back.
 *
 * @throws Error naming the tables that refer to tables to drop
 */
export async function requireUnreferenced(reading: Reading, dropped: readonly string[]): Promise<void> {
  if (dropped.length === 0) return;
  const references = await query<{ name: string; target: string }>(
    reading,
    REFERENCES[reading.database.dialect],
    dropped,
  );
  // The comparison is case-sensitive, because `Sessions` might be a table of the app.
  const foreign = references.filter(({ name }) => !dropped.includes(name));
  if (foreign.length === 0) return;
  const pairs = new Set(foreign.map(({ name, target }) => `${name} (to ${target})`));
  throw new Error(
    `latchkey: migrate: undo would drop tables that others refer to: ${listed([...pairs])}. ` +
      'Nothing has been changed. Drop these foreign keys or tables first',
  );
}

const REFERENCES = {
  mysql: `SELECT CASE table_schema WHEN DATABASE() THEN table_name ELSE CONCAT(table_schema, '.', table_name) END AS name,
      referenced_table_name AS target
    FROM information_schema.key_column_usage
    WHERE referenced_table_schema = DATABASE() AND ${asMysqlCompares('referenced_table_name')} IN (:tables)`,
  postgres: `SELECT f.conrelid::regclass::text AS name, c.relname AS target FROM pg_constraint f
    JOIN pg_class c ON c.oid = f.confrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE f.contype = 'f' AND n.nspname = current_schema() AND c.relname IN (:tables)`,
  sqlite: `SELECT m.name AS name, f."table" AS target FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table' AND LOWER(f."table") IN (:tables)`,
};

function query<Row extends object>(
  { database, transaction }: Reading,
  sql: string,
  tables: readonly string[],
): Promise<Row[]> {
  return database.sequelize.query<Row>(sql, {
    transaction,
    type: QueryTypes.SELECT,
    replacements: { tables },
  });
}

function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en').format(names);
}
