import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import { type AppModel, columnOf, quotedTable } from './app-model.js';

/** What the database has of the app's table. */
export interface RowTable {
  /** The types of the columns. */
  readonly types: ReadonlyMap<string, string>;
  /** The columns of each unique index, by its name. */
  readonly uniques: ReadonlyMap<string, readonly string[]>;
}

interface ColumnRow {
  readonly name: string;
  readonly type: string;
  readonly collation: string | null;
}

/**
 * Looks at the app's table. Null if it does not exist.
 *
 * @throws Error if accounts cannot be joined with its rows in one step, naming the mend
 */
export async function inspectTable(
  database: Database,
  model: AppModel,
  foreignKey: string,
  transaction?: Transaction,
): Promise<RowTable | null> {
  const { dialect } = database;
  const quoted = quotedTable(model);
  const table = dialect === 'postgres' ? quoted : quoted.replaceAll('`', '');
  const columns = await database.select<ColumnRow>(COLUMNS[dialect], { table }, transaction);
  if (columns.length === 0) return null;
  const indexed = await database.select<{ index_name: string; name: string }>(
    UNIQUES[dialect],
    { table },
    transaction,
  );
  const uniques = new Map<string, string[]>();
  for (const { index_name, name } of indexed)
    uniques.set(index_name, [...(uniques.get(index_name) ?? []), name]);
  const column = columnOf(model, foreignKey);
  const found = columns.find(({ name }) => name === column);
  const what = `user.foreignKey: the column ${table.replaceAll('"', '')}.${column}`;
  if (!found) throw new Error(`latchkey: ${what} does not exist: add it with a migration of the app`);
  if (dialect !== 'sqlite') requireType(dialect, what, quoted, found);
  if (![...uniques.values()].some((list) => list.length === 1 && list[0] === column))
    throw new Error(
      `latchkey: ${what} has no unique index, so an account could have several rows: ` +
        `CREATE UNIQUE INDEX ${table.replace(/\W+/g, '_').replace(/^_|_$/g, '')}_${column} ON ${quoted} (${column})`,
    );
  return { types: new Map(columns.map(({ name, type }) => [name, type])), uniques };
}

// If the types or collations differ, the database does not use the index, or refuses to compare.
function requireType(dialect: 'mysql' | 'postgres', what: string, table: string, found: ColumnRow): void {
  const { name, type, collation } = found;
  if (dialect === 'postgres' ? type === 'uuid' : type === 'char(36)' && collation === 'utf8mb4_bin') return;
  const is = collation ? `${type} with the collation ${collation}` : type;
  const mend =
    dialect === 'postgres'
      ? `ALTER TABLE ${table} ALTER COLUMN "${name}" TYPE UUID USING "${name}"::uuid`
      : `ALTER TABLE ${table} MODIFY \`${name}\` CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
  throw new Error(`latchkey: ${what} is of the type ${is}, which is not that of account ids: ${mend}`);
}

const COLUMNS = {
  mysql: `SELECT column_name AS name, column_type AS type, collation_name AS collation
    FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = :table`,
  postgres: `SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NULL AS collation
    FROM pg_attribute WHERE attrelid = to_regclass(:table) AND attnum > 0 AND NOT attisdropped`,
  sqlite: 'SELECT name, type, NULL AS collation FROM pragma_table_info(:table)',
};

// In SQLite, the index of an INTEGER PRIMARY KEY is not listed, but that cannot be the id of an account.
const UNIQUES = {
  mysql: `SELECT index_name AS index_name, column_name AS name FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = :table AND non_unique = 0`,
  postgres: `SELECT c.relname AS index_name, a.attname AS name FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indrelid = to_regclass(:table) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL`,
  sqlite: `SELECT l.name AS index_name, i.name AS name FROM pragma_index_list(:table) l
    JOIN pragma_index_info(l.name) i WHERE l."unique" = 1 AND l.partial = 0`,
};
