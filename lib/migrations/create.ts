import { type Column, type Columns, columnName, keyOf } from '../tables/column.js';
import { sessions, users } from '../tables/core.js';
import { nameOf, type TableDeclaration } from '../tables/table.js';
import type { ColumnTypes, Migration, MigrationContext } from './migration.js';

/** The tables and columns that the core or a plugin declares. */
export interface Declared {
  readonly tables?: Readonly<Record<string, TableDeclaration>>;
  /** The columns that a plugin adds to users. */
  readonly userColumns?: Columns;
  /** The columns that a plugin adds to sessions, and their indexes. */
  readonly sessionColumns?: Columns;
  readonly sessionIndexes?: NonNullable<TableDeclaration['indexes']>;
  /** The changes of these tables and columns, for databases that were created before the changes. */
  readonly migrations?: readonly Migration[];
}

/**
 * Returns the migrations of the core or of a plugin.
 *
 * @param owner `core`, or the name of the plugin
 */
export function migrationsOf(owner: string, declared: Declared): Migration[] {
  const { tables, userColumns, sessionColumns, migrations = [] } = declared;
  if (!tables && !userColumns && !sessionColumns) return [...migrations];
  const added = migrations.flatMap(({ userColumns: later = {} }) => Object.keys(later));
  const first = firstMigration(owner, declared, added);
  return [first, ...migrations.map((one) => ({ ...one, first: first.name }))];
}

/**
 * Derives the migration that creates the tables, in the order of their declaration, because some refer to earlier
 * tables.
 *
 * @param added the columns of users that later migrations add. When this migration is undone, the undo of the later
 *   migrations has already removed them
 */
function firstMigration(
  owner: string,
  { tables: named = {}, userColumns = {}, sessionColumns = {}, sessionIndexes = {} }: Declared,
  added: readonly string[],
): Migration {
  const tables = Object.values(named);
  const ofSessions: TableDeclaration = { ...sessions, columns: sessionColumns };
  const own = Object.entries(userColumns).filter(([attribute]) => !added.includes(attribute));
  return {
    name: `0001-${owner}`,

    async up(context) {
      await addColumns(users, userColumns, context);
      await addColumns(sessions, sessionColumns, context);
      await createIndexes(ofSessions, sessionIndexes, context);
      for (const declaration of tables) await createTable(declaration, context);
    },

    async down(context) {
      for (const declaration of [...tables].reverse()) await dropTable(declaration, context);
      await dropIndexes(sessions, sessionIndexes, context);
      await dropColumns(sessions, sessionColumns, context);
      await dropColumns(users, Object.fromEntries(own), context);
    },
  };
}

/** Returns a migration of a plugin that adds columns to users. */
export function addsUserColumns(name: string, userColumns: Columns): Migration {
  return {
    name,
    userColumns,
    up: (context) => addColumns(users, userColumns, context),
    down: (context) => dropColumns(users, userColumns, context),
  };
}

/** Adds columns to a table. If the table can have rows, the columns must be nullable or have a default. */
export async function addColumns(
  { name }: TableDeclaration,
  columns: Columns,
  context: MigrationContext,
): Promise<void> {
  const { database, run } = context;
  for (const column of Object.entries(columns))
    await run(`ALTER TABLE ${database.table(name)} ADD COLUMN ${definitionOf(column, context)}`);
}

/** Removes columns from a table. No index can contain them: see {@link dropIndexes}. */
export async function dropColumns(
  { name }: TableDeclaration,
  columns: Columns,
  { database, run }: MigrationContext,
): Promise<void> {
  for (const column of Object.entries(columns).reverse())
    await run(`ALTER TABLE ${database.table(name)} DROP COLUMN ${columnName(...column)}`);
}

/** Creates indexes of a table. @param indexes some of the indexes that the table declares */
export async function createIndexes(
  { name, columns }: TableDeclaration,
  indexes: NonNullable<TableDeclaration['indexes']>,
  { database, run }: MigrationContext,
): Promise<void> {
  const table = database.table(name);
  for (const [key, attributes] of Object.entries(indexes))
    await run(`CREATE INDEX ${nameOf.index(table, key)} ON ${table} (${listedIn(columns, attributes)})`);
}

/** Removes indexes of a table. */
export async function dropIndexes(
  { name }: TableDeclaration,
  indexes: NonNullable<TableDeclaration['indexes']>,
  { database, run }: MigrationContext,
): Promise<void> {
  const table = database.table(name);
  const where = database.dialect === 'mysql' ? ` ON ${table}` : '';
  for (const key of Object.keys(indexes)) await run(`DROP INDEX ${nameOf.index(table, key)}${where}`);
}

/**
 * Changes rows of a table, a few at a time: see {@link MigrationContext.change}.
 *
 * @param set the SQL after SET
 * @param where the SQL after WHERE
 */
export async function changeRows(
  { name, columns }: TableDeclaration,
  set: string,
  where: string,
  { database, change }: MigrationContext,
): Promise<void> {
  await change({ table: database.table(name), key: keyOf(columns).name, set, where });
}

function listedIn(columns: Columns, attributes: readonly string[]): string {
  return attributes.map((attribute) => columnName(attribute, columns[attribute] as Column)).join(', ');
}

/** Drops a table, if it exists. If a later migration added the table, its undo has already dropped it. */
export async function dropTable(
  { name }: TableDeclaration,
  { database, run }: MigrationContext,
): Promise<void> {
  await run(`DROP TABLE IF EXISTS ${database.table(name)}`);
}

/** Creates a table with its constraints and indexes. */
export async function createTable(declaration: TableDeclaration, context: MigrationContext): Promise<void> {
  const { name, columns, unique = {}, foreignKeys = {}, indexes = {} } = declaration;
  const { database, types, run } = context;
  const table = database.table(name);
  const listed = (attributes: readonly string[]) => listedIn(columns, attributes);
  const parts = [
    ...Object.entries(columns).map((column) => definitionOf(column, context)),
    `CONSTRAINT ${nameOf.primaryKey(table)} PRIMARY KEY (${keyOf(columns).name})`,
    ...Object.entries(unique).map(
      ([key, attributes]) => `CONSTRAINT ${nameOf.unique(table, key)} UNIQUE (${listed(attributes)})`,
    ),
    ...Object.entries(foreignKeys as Readonly<Record<string, TableDeclaration>>).map(
      ([attribute, target]) => {
        const column = listed([attribute]);
        const key = `${database.table(target.name)} (${keyOf(target.columns).name})`;
        return `CONSTRAINT ${nameOf.foreignKey(table, column)} FOREIGN KEY (${column}) REFERENCES ${key} ON DELETE CASCADE`;
      },
    ),
  ];
  await run(`CREATE TABLE ${table} (\n  ${parts.join(',\n  ')}\n) ${types.tableOptions}`);
  await createIndexes(declaration, indexes, context);
}

type NamedColumn = readonly [attribute: string, column: Column];

function definitionOf([attribute, column]: NamedColumn, { database, types }: MigrationContext): string {
  const nullable = column.isNullable ? 'NULL' : 'NOT NULL';
  const { defaultValue: value } = column;
  const byDefault = value === undefined ? '' : ` DEFAULT ${database.statements.literal(value)}`;
  return `${columnName(attribute, column)} ${typeOf(column, types)} ${nullable}${byDefault}`;
}

/** Returns the type of a column in the database. */
export function typeOf(
  { kind, length, isExact }: Pick<Column, 'kind' | 'isExact'> & { readonly length?: number | undefined },
  types: ColumnTypes,
): string {
  switch (kind) {
    case 'uuid':
      return types.id;
    case 'huge-text':
      return types.hugeText;
    case 'digest':
      return types.digest;
    case 'time':
    case 'any-time':
      return types.time;
    case 'integer':
      return 'INTEGER';
    case 'big-integer':
      return 'BIGINT';
    case 'number':
      return types.number;
    case 'boolean':
      return types.boolean;
    default:
      if (length === undefined) return types.longText;
      return isExact ? types.exactText(length) : types.text(length);
  }
}
