import { QueryTypes } from 'sequelize';
import { type Column, type Columns, columnName } from '../models/column.js';
import { Table } from '../models/table.js';
import { type UserColumns, usersWith } from '../models/user.js';
import type { MigrationContext } from './migration.js';

/** The columns of the app's fields, and the values that users get who were there before. */
export interface FieldColumns {
  readonly columns: Columns;
  readonly defaults: Readonly<Record<string, unknown>>;
}

/**
 * Adds the columns of fields that the table of users does not have yet, with their defaults. It never drops or narrows
 * one, so that leaving a field out of the config loses nothing.
 *
 * @returns what was added, as `users.<column>`
 */
export async function addFieldColumns(
  context: MigrationContext,
  { columns, defaults }: FieldColumns,
): Promise<string[]> {
  const { database, transaction, run } = context;
  const users = new Table(database, usersWith(columns));
  const existing = await columnsOf(context, users.name);
  const missing = Object.entries(columns).filter(([name, column]) => !existing.has(columnName(name, column)));
  for (const [name, column] of missing) {
    await run(
      `ALTER TABLE ${users.name} ADD COLUMN ${columnName(name, column)} ${typeOf(column, context)} NULL`,
    );
    const value = defaults[name] ?? null;
    if (value === null) continue;
    const [filled, empty] = [{ [name]: value }, { [name]: null }] as Partial<UserColumns>[];
    await users.update(filled as never, empty as never, transaction);
  }
  return missing.map(([name, column]) => `users.${columnName(name, column)}`);
}

async function columnsOf({ database, transaction }: MigrationContext, table: string): Promise<Set<string>> {
  const rows = await database.sequelize.query<{ name: string }>(COLUMNS[database.dialect], {
    transaction,
    type: QueryTypes.SELECT,
    replacements: { table },
  });
  return new Set(rows.map(({ name }) => name.toLowerCase()));
}

const COLUMNS = {
  mysql: `SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = :table`,
  postgres: `SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = :table`,
  sqlite: 'SELECT name FROM pragma_table_info(:table)',
};

function typeOf({ kind, length = 255 }: Column, { types, database }: MigrationContext): string {
  switch (kind) {
    case 'text':
      return types.text(length);
    case 'time':
      return types.time;
    case 'boolean':
      return types.boolean;
    case 'integer':
      return 'INTEGER';
    case 'number':
      return database.dialect === 'mysql' ? 'DOUBLE' : 'DOUBLE PRECISION';
    default:
      return types.longText;
  }
}
