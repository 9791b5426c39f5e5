import type { Sequelize } from 'sequelize';
import { digestInHex } from '../../crypto/token.js';
import type { ImportRow } from '../../users/imported.js';
import { SOURCE } from '../imported-rows.js';
import { PreviousTables, requireSequelize, type SourceRow } from './previous-tables.js';
import { flagOf, type ImportSource, named, textOf, timeOf } from './values.js';

/** The name of a column, or a function that gets the whole row. */
type From<Value> = string | ((row: SourceRow) => Value | Promise<Value>);

/** The sources of the values of {@link fromTable}. */
export type TableColumns = { readonly [K in Exclude<keyof ImportRow, 'fields'>]?: From<ImportRow[K]> } & {
  /** The app's fields, each from a column or a function, or all of them from one function. @default none */
  readonly fields?: Readonly<Record<string, From<unknown>>> | ((row: SourceRow) => ImportRow['fields']);
};

/** Options of {@link fromTable}. */
export interface TableOptions {
  /** The name of the table, which can include a schema, as in `auth.users`. @default none, required */
  readonly table: string;
  /**
   * For each key of the imported rows, the column that contains its value, or a function of the row. Flags can be of
   * any type, and times are as the driver returns them; a string without a time zone is UTC.
   * @default none, required
   */
  readonly columns: TableColumns;
  /**
   * The column that sets the order in which the rows are read: unique, not null, and indexed.
   * @default the column of `ref`, otherwise `id`
   */
  readonly key?: string;
}

/**
 * Reads the users in the app's own table, or in a table of another framework, for `auth.movingIn.importUsers`.
 *
 * @example
 * const rows = fromTable(sequelize, {
 *   table: 'users',
 *   columns: { ref: 'id', email: 'email', emailVerified: 'confirmed_at', passwordHash: 'password_hash' },
 * });
 * await auth.movingIn.importUsers(rows);
 *
 * @param sequelize an instance on the database with the table, which is only read
 * @throws TypeError if an option is missing, or the table has no such column
 */
export function fromTable(sequelize: Sequelize, options: TableOptions): ImportSource<ImportRow> {
  return named(sourceOf(String(options.table)), readUsers(sequelize, options));
}

/** Returns the name of the source, which contains the table, because two tables can have the same keys. */
function sourceOf(table: string): string {
  const plain = `table:${table}`;
  if (SOURCE.test(plain)) return plain;
  const readable = table.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 40);
  return `table:${readable}-${digestInHex(table).slice(0, 16)}`;
}

async function* readUsers(
  sequelize: Sequelize,
  { table, columns, key }: TableOptions,
): AsyncGenerator<ImportRow, void, undefined> {
  if (typeof table !== 'string' || typeof columns !== 'object' || columns === null)
    throw new TypeError('latchkey: fromTable: pass { table, columns }, such as { email: "email" }');
  requireSequelize(sequelize, 'fromTable');
  const reader = new PreviousTables(sequelize);
  const { fields, ...others } = columns;
  const orderedBy = key ?? (typeof columns.ref === 'string' ? columns.ref : 'id');
  for await (const rows of reader.batches(table, orderedBy))
    for (const row of rows) {
      const entries: [string, unknown][] = [];
      for (const [name, from] of Object.entries(others))
        entries.push([name, converted(name, await read(from as From<unknown>, row, table))]);
      if (fields) entries.push(['fields', await fieldsOf(fields, row, table)]);
      yield Object.fromEntries(entries) as ImportRow;
    }
}

async function fieldsOf(
  fields: NonNullable<TableColumns['fields']>,
  row: SourceRow,
  table: string,
): Promise<ImportRow['fields']> {
  if (typeof fields === 'function') return fields(row);
  const values: [string, unknown][] = [];
  for (const [name, from] of Object.entries(fields)) values.push([name, await read(from, row, table)]);
  return Object.fromEntries(values);
}

async function read(from: From<unknown>, row: SourceRow, table: string): Promise<unknown> {
  if (typeof from === 'function') return from(row);
  if (Object.hasOwn(row, from)) return row[from];
  throw new TypeError(
    `latchkey: fromTable: ${table} has no column ${from}: it has ${Object.keys(row).join(', ')}`,
  );
}

function converted(name: string, value: unknown): unknown {
  if (name === 'emailVerified') return flagOf(value);
  if (name === 'createdAt') return timeOf(value);
  const isText = ['email', 'username', 'usernameDisplay', 'passwordHash', 'totpSecret', 'id'].includes(name);
  return isText ? textOf(value) : value;
}
