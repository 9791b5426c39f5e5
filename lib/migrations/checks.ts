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

// SQLite ignores case when it compares names, and so does MySQL unless lower_case_table_names is 0.
const asMysqlCompares = (name: string) =>
  `(CASE @@lower_case_table_names WHEN 0 THEN BINARY ${name} ELSE LOWER(${name}) END)`;

/**
 * Requires that the columns to add do not exist yet, because the values of a former field of the app would become those
 * of a plugin.
 *
 * @param wanted such as `users.suspended_at`
 * @throws Error naming the existing columns
 */
export async function requireFreeColumns(reading: Reading, wanted: readonly string[]): Promise<void> {
  if (wanted.length === 0) return;
  const existing = await query<{ name: string }>(reading, COLUMNS[reading.database.dialect], wanted);
  if (existing.length === 0) return;
  const names = listed(existing.map(({ name }) => name));
  const [one, several, it] =
    existing.length === 1
      ? ['column', 'exists already, and it is', 'it']
      : ['columns', 'exist already, and they are', 'them'];
  throw new Error(
    `latchkey: migrate: the ${one} ${names} ${several} not latchkey's. If your app needs ${it}, rename ${it}. Otherwise, drop ${it}`,
  );
}

/**
 * Reads which of some columns exist, such as `users.suspended_at`, for each dialect. SQLite and MySQL ignore case when
 * they compare the names of columns.
 */
export const COLUMNS = {
  mysql: `SELECT CONCAT(table_name, '.', column_name) AS name FROM information_schema.columns
    WHERE table_schema = DATABASE() AND CONCAT(${asMysqlCompares('table_name')}, '.', LOWER(column_name)) IN (:names)`,
  postgres: `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name || '.' || column_name IN (:names)`,
  sqlite: `SELECT m.name || '.' || c.name AS name FROM sqlite_master m JOIN pragma_table_info(m.name) c
    WHERE m.type = 'table' AND LOWER(m.name || '.' || c.name) IN (:names)`,
};

/** Returns the names for which a table already exists. */
export async function existingTables(reading: Reading, names: readonly string[]): Promise<string[]> {
  const existing = await query<{ name: string }>(reading, EXISTING[reading.database.dialect], names);
  return existing.map(({ name }) => name);
}

// On PostgreSQL and SQLite, indexes and views share the namespace of tables.
const EXISTING = {
  mysql: `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()
    AND ${asMysqlCompares('table_name')} IN (:names)`,
  postgres: `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = current_schema() AND c.relname IN (:names)`,
  sqlite: 'SELECT name FROM sqlite_master WHERE LOWER(name) IN (:names)',
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
    WHERE referenced_table_schema = DATABASE() AND ${asMysqlCompares('referenced_table_name')} IN (:names)`,
  postgres: `SELECT f.conrelid::regclass::text AS name, c.relname AS target FROM pg_constraint f
    JOIN pg_class c ON c.oid = f.confrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE f.contype = 'f' AND n.nspname = current_schema() AND c.relname IN (:names)`,
  sqlite: `SELECT m.name AS name, f."table" AS target FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table' AND LOWER(f."table") IN (:names)`,
};

function query<Row extends object>(
  { database, transaction }: Reading,
  sql: string,
  names: readonly string[],
): Promise<Row[]> {
  return database.sequelize.query<Row>(sql, {
    transaction,
    type: QueryTypes.SELECT,
    replacements: { names },
  });
}

function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en').format(names);
}
