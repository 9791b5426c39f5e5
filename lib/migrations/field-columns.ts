import { QueryTypes } from 'sequelize';
import { type Column, type Columns, columnName } from '../tables/column.js';
import { users } from '../tables/core.js';
import { encode } from '../tables/table.js';
import { typeOf } from './create.js';
import type { ColumnTypes, Reading } from './migration.js';

/** The columns of the app's fields, and their values for existing users. */
export interface FieldColumns {
  readonly columns: Columns;
  readonly defaults: Readonly<Record<string, unknown>>;
  /** Checks the app's own table of users afterwards. @throws Error */
  check?(): Promise<void>;
}

/** A column of the table of users, as the database describes it. */
interface Existing {
  readonly name: string;
  /** The type, such as `varchar` or `character varying`, or on SQLite `VARCHAR(80)`. */
  readonly type: string;
  /** The maximum number of characters. */
  readonly length: number | string | null;
}

/** A column to add or to widen. */
export interface FieldChange {
  /** `users.<column>` */
  readonly name: string;
  readonly sql: string;
}

type Context = Reading & { readonly types: ColumnTypes };

/**
 * Returns the statements that add the columns of fields that the table of users does not have yet, and widen the
 * columns of strings whose maximum length has increased. No statement drops or narrows a column, so that removing a
 * field from the config does not lose data.
 *
 * The default of a field is also the column's default, because databases can then add the column to a large table
 * without rewriting the table. Each column is one statement, so an interrupted call leaves nothing half done.
 *
 * @throws Error if a column has another type than its field
 */
export async function fieldChanges(context: Context, fields: FieldColumns): Promise<FieldChange[]> {
  const table = context.database.table(users.name);
  return changesOf(context, await columnsOf(context, table), fields);
}

/** Returns the statements that add the columns of all fields to a new table of users. */
export function newFieldColumns(context: Context, fields: FieldColumns): FieldChange[] {
  return changesOf(context, new Map(), fields);
}

function changesOf(
  context: Context,
  existing: ReadonlyMap<string, Existing>,
  { columns, defaults }: FieldColumns,
): FieldChange[] {
  const { database } = context;
  const table = database.table(users.name);
  const wanted = Object.entries(columns).map(([attribute, column]) => {
    const name = columnName(attribute, column);
    return { name, column, there: existing.get(name), value: defaults[attribute] ?? null };
  });
  for (const { name, column, there } of wanted) if (there) requireType(table, name, column, there, context);
  const changes: FieldChange[] = [];
  for (const { name, column, there, value } of wanted) {
    if (there && !isTooShort(there, column, context)) continue;
    const quoted = database.statements.quote(name);
    const type = typeOfField(column, context);
    const definition = `${type} NULL${defaultOf(column, value, type, context)}`;
    const change = !there
      ? `ADD COLUMN ${quoted} ${definition}`
      : database.dialect === 'mysql'
        ? `MODIFY COLUMN ${quoted} ${definition}`
        : `ALTER COLUMN ${quoted} TYPE ${type}`;
    changes.push({ name: `${users.name}.${name}`, sql: `ALTER TABLE ${table} ${change}` });
  }
  return changes;
}

// A longer VARCHAR would count in full toward MySQL's limit of 64 KiB for a row.
const MAX_VARCHAR = 255;

/** Returns the maximum length of a field's column. Undefined if the column has the type for long text. */
export function storedLength({ length }: Column): number | undefined {
  return length !== undefined && length > MAX_VARCHAR ? undefined : length;
}

function typeOfField(column: Column, { types }: Context): string {
  return typeOf({ ...column, length: storedLength(column) }, types);
}

function defaultOf(column: Column, value: unknown, type: string, { database, types }: Context): string {
  if (value === null) return '';
  const literal = database.statements.literal(encode(value, column));
  if (type !== types.longText) return ` DEFAULT ${literal}`;
  // The default of a TEXT column must be an expression on MySQL, and MariaDB does not store hexadecimal literals in
  // such an expression correctly.
  return ` DEFAULT (${literal.replace(/^_utf8mb4 x('\w*')$/, 'CONVERT(UNHEX($1) USING utf8mb4)')})`;
}

// SQLite stores strings of any length in a column of any length.
function isTooShort({ length }: Existing, { kind, length: wanted = 0 }: Column, { database }: Reading) {
  return database.dialect !== 'sqlite' && kind === 'text' && length !== null && Number(length) < wanted;
}

/** The first words of the types that databases give to the columns of {@link typeOfField}. */
const FAMILIES: Readonly<Record<string, string>> = {
  varchar: 'text',
  character: 'text',
  text: 'text',
  int: 'integer',
  integer: 'integer',
  double: 'number',
  tinyint: 'boolean',
  boolean: 'boolean',
  datetime: 'time',
  timestamp: 'time',
};

function familyOf(type: string): string | undefined {
  return FAMILIES[/^\w+/.exec(type.toLowerCase())?.[0] ?? ''];
}

function requireType(table: string, name: string, column: Column, { type }: Existing, context: Context) {
  if (familyOf(type) === familyOf(typeOfField(column, context))) return;
  throw new Error(
    `latchkey: migrate: the column ${table}.${name} is of the type ${type}, which does not match the field in the config. ` +
      'Set the field to its former type, rename it, or change the column yourself',
  );
}

async function columnsOf({ database, transaction }: Reading, table: string): Promise<Map<string, Existing>> {
  const rows = await database.sequelize.query<Existing>(COLUMNS[database.dialect], {
    transaction,
    type: QueryTypes.SELECT,
    replacements: { table },
  });
  return new Map(rows.map((row) => [row.name, row]));
}

const COLUMNS = {
  mysql: `SELECT column_name AS name, data_type AS type, character_maximum_length AS length
    FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = :table`,
  postgres: `SELECT column_name AS name, data_type AS type, character_maximum_length AS length
    FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = :table`,
  sqlite: 'SELECT name, type, NULL AS length FROM pragma_table_info(:table)',
};
