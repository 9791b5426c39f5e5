import { type Auth, internalsOf } from '../../auth.js';
import { type Dialect, searchPathOf } from '../../database/connect.js';
import type { Database } from '../../database/database.js';
import { storedLength } from '../../migrations/field-columns.js';
import { journalTable } from '../../migrations/journal.js';
import { type Column, columnName, isInModels, keyOf, snakeCase } from '../../tables/column.js';
import { nameOf, type TableDeclaration } from '../../tables/table.js';

/** The type of a column: the kinds of columns that databases distinguish. */
export type ShownType =
  | 'uuid'
  | 'text'
  | 'long-text'
  | 'huge-text'
  | 'time'
  | 'integer'
  | 'big-integer'
  | 'number'
  | 'boolean';

/** A column that the app's own queries can read. */
export interface ShownColumn {
  readonly attribute: string;
  readonly name: string;
  readonly type: ShownType;
  /** The maximum number of characters of a `text`. */
  readonly length: number | undefined;
  readonly isNullable: boolean;
  readonly isKey: boolean;
  /** The value that the database stores if a statement does not contain one. */
  readonly byDefault: string | number | boolean | undefined;
}

/** A constraint or an index, with its name in the database. */
export interface Named {
  readonly name: string;
  readonly attributes: readonly string[];
}

/** A foreign key. A row is deleted with the row that it refers to. */
export interface Relation {
  /** The name in the database. */
  readonly name: string;
  readonly from: ShownTable;
  readonly attribute: string;
  readonly isNullable: boolean;
  readonly to: ShownTable;
  /** The attribute that it refers to. */
  readonly key: string;
  /** The name of the row that is referred to, such as `user`. */
  readonly forwards: string;
  /** The name of the rows that refer to it, such as `sessions`, or of the row, such as `totpSecret`. */
  readonly backwards: string;
  /** Whether at most one row refers to each row. */
  readonly isOneToOne: boolean;
}

/** A table without the columns that only latchkey reads. */
export interface ShownTable {
  /** The name in the database. */
  readonly name: string;
  /** The name of a model of its rows, such as `AuthSession`: that of the Sequelize model, after the prefix. */
  readonly model: string;
  readonly columns: readonly ShownColumn[];
  readonly unique: readonly Named[];
  readonly indexes: readonly Named[];
}

/** The tables of an Auth, for another tool. */
export interface ShownSchema {
  readonly dialect: Dialect;
  readonly tables: readonly ShownTable[];
  readonly relations: readonly Relation[];
  /** The schema of PostgreSQL that contains the tables. */
  readonly pgSchema: string;
  /** The time zone of the stored times. Null if that is UTC, or if the database stores it. */
  readonly timeZone: string | null;
}

/** Returns the tables of an Auth. It does not connect to the database. */
export function schemaOf(auth: Auth): ShownSchema {
  const { core, tables: declared } = internalsOf(auth);
  const { database, users } = core;
  const { columns: fields, defaults } = users.fieldColumns;
  const all = Object.entries({ ...declared, LatchkeyMigration: journalTable });
  const tables = all.map(([model, declaration]) => {
    const isUsers = declaration.name === users.declaration.name;
    return shown(database, model, declaration, (attribute, column) => {
      const isField = isUsers && Object.hasOwn(fields, attribute);
      const length = isField ? storedLength(column) : column.length;
      return {
        length,
        byDefault: isField ? storedDefault(column, defaults[attribute]) : column.defaultValue,
      };
    });
  });
  const { timezone } = (database.sequelize as unknown as { options: { timezone: string } }).options;
  return {
    dialect: database.dialect,
    tables,
    relations: all.flatMap(([model, declaration]) => relationsOf(model, declaration, database, tables)),
    pgSchema: searchPathOf(database.sequelize) ?? 'public',
    timeZone: database.dialect === 'mysql' && timezone !== '+00:00' ? timezone : null,
  };
}

type OfField = (attribute: string, column: Column) => Pick<ShownColumn, 'length' | 'byDefault'>;

function shown(
  database: Database,
  model: string,
  { name, columns, unique = {}, indexes = {} }: TableDeclaration,
  ofField: OfField,
): ShownTable {
  const table = database.table(name);
  const key = keyOf(columns);
  const visible = Object.entries(columns).filter(([, column]) => isVisible(column));
  const isWhole = (attributes: readonly string[]) =>
    attributes.every((attribute) => isVisible(columns[attribute] as Column));
  const named = (all: typeof unique, inDatabase: (table: string, key: string) => string) =>
    Object.entries(all).flatMap(([key, attributes]) =>
      isWhole(attributes) ? [{ name: inDatabase(table, key), attributes }] : [],
    );
  return {
    name: table,
    model: `${pascalCase(database.table(''))}${model}`,
    columns: visible.map(([attribute, column]) => {
      const { length, byDefault } = ofField(attribute, column);
      return {
        attribute,
        name: columnName(attribute, column),
        type: typeOf(column, length),
        length,
        isNullable: column.isNullable,
        isKey: attribute === key.attribute,
        byDefault,
      };
    }),
    unique: named(unique, nameOf.unique),
    indexes: named(indexes, nameOf.index),
  };
}

/** Whether the app's queries can read a column. Hashes are of no use to them, even if no one could misuse them. */
function isVisible(column: Column): boolean {
  return isInModels(column) && column.kind !== 'digest';
}

function typeOf({ kind }: Column, length: number | undefined): ShownType {
  switch (kind) {
    case 'uuid':
    case 'huge-text':
    case 'integer':
    case 'big-integer':
    case 'number':
    case 'boolean':
    case 'time':
      return kind;
    case 'any-time':
      return 'time';
    default:
      return length === undefined ? 'long-text' : 'text';
  }
}

/** Returns a field's default as the column stores it. Undefined for a time, which each database writes in its own way. */
function storedDefault({ kind }: Column, value: unknown): ShownColumn['byDefault'] {
  if (value === undefined || kind === 'any-time') return undefined;
  return kind === 'document' ? JSON.stringify(value) : (value as ShownColumn['byDefault']);
}

function relationsOf(
  model: string,
  { name, columns, foreignKeys = {}, unique = {}, ofUser }: TableDeclaration,
  database: Database,
  tables: readonly ShownTable[],
): Relation[] {
  const find = (one: string) => tables.find((table) => table.name === database.table(one)) as ShownTable;
  const from = find(name);
  const references = Object.entries(foreignKeys as Readonly<Record<string, TableDeclaration>>);
  return references.flatMap(([attribute, target]) => {
    const column = from.columns.find((one) => one.attribute === attribute);
    const to = find(target.name);
    const key = keyOf(target.columns).attribute;
    if (!column || !to.columns.some(({ isKey }) => isKey)) return [];
    const isUnique = ([first, ...others]: readonly string[]) => first === attribute && others.length === 0;
    const isOneToOne = column.isKey || Object.values(unique).some(isUnique);
    return [
      {
        name: nameOf.foreignKey(from.name, columnName(attribute, columns[attribute] as Column)),
        from,
        attribute,
        isNullable: column.isNullable,
        to,
        key,
        forwards: freeIn(from, attribute.replace(/Id$/, '')),
        backwards: freeIn(
          to,
          ofUser ?? (isOneToOne ? camelCase(snakeCase(model).slice(1)) : camelCase(name)),
        ),
        isOneToOne,
      },
    ];
  });
}

/** Returns a name for a relation that no column has. The app can have a field with the name of a relation. */
function freeIn({ columns }: ShownTable, name: string): string {
  return columns.some(({ attribute }) => attribute === name) ? `${name}Rows` : name;
}

/** Converts `auth_users` to `authUsers`. */
export function camelCase(name: string): string {
  return name.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()).replaceAll('_', '');
}

function pascalCase(name: string): string {
  return camelCase(`_${name}`);
}

/** Sentences for the headings of several tools. */
export const HIDDEN =
  'Columns with hashes, encrypted values and other internals are left out, so that no query returns them.';
export const WRITES = 'latchkey does not validate what you write to the tables.';
