import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import type { Value } from '../database/literal.js';
import type { Replacements } from '../database/statements.js';
import {
  type Column,
  type ColumnKind,
  type Columns,
  columnName,
  isShown,
  keyOf,
  type NewRow,
  type RowOf,
  type ShownOf,
  snakeCase,
} from './column.js';
import { listOf, type Selected } from './packed.js';

/** The columns of a constraint or index, by their attributes and in their order. */
type Attributes<C extends Columns> = readonly (keyof C & string)[];

/** The declaration of a table. Its first migration is derived from it too. */
export interface TableDeclaration<C extends Columns = Columns> {
  /** The name in the database, without the configured prefix. */
  readonly name: string;
  /**
   * The alias of an association from `User`. Only for tables whose primary key the app's code can see, because
   * Sequelize distinguishes included rows by it.
   */
  readonly ofUser?: string;
  /** The columns, by attribute and in their order. The first one is the primary key. */
  readonly columns: C;
  /** The unique constraints, by name: `email` of `users` is called `users_email_unique` in the database. */
  readonly unique?: Readonly<Record<string, Attributes<C>>>;
  /**
   * The columns that contain the primary key of another table. A row is deleted with the row that it refers to (ON
   * DELETE CASCADE). So the column must be the primary key, or the first column of an index or unique constraint.
   */
  readonly foreignKeys?: { readonly [A in keyof C]?: { readonly name: string; readonly columns: Columns } };
  /** The indexes, by name: `userId` of `sessions` is called `sessions_user_id` in the database. */
  readonly indexes?: Readonly<Record<string, Attributes<C>>>;
  /** Whether sign-ins use the table, if its plugin has sign-in methods. @default true */
  readonly isForSignIns?: boolean;
  /** How the rows of a user are exported, or the reason why they are not, as a sentence. */
  readonly exported: ExportedRows | string;
}

/** How the rows of a table are exported with the data of the user that they belong to. */
export interface ExportedRows {
  /** Their key in the export. */
  readonly as: string;
  /** The attribute that contains the user's id. */
  readonly by: string;
  /**
   * Removes what the user must not see from a row.
   *
   * @param fields the names of the user's fields that the export contains
   * @default nothing
   */
  without?(row: Raw, fields: ReadonlySet<string>): Raw;
}

/** The columns that do not declare whether they are exported. */
type Undeclared<C extends Columns> = {
  [A in keyof C & string]: undefined extends C[A]['inExport'] ? A : never;
}[keyof C & string];

/** Requires that all columns of a table declare whether they are exported. */
export type Declaring<C extends Columns> = [Undeclared<C>] extends [never]
  ? { readonly by: keyof C }
  : { readonly undeclared: Undeclared<C> };

/**
 * Declares a table. If its rows are exported, each column must declare whether it is exported, so that no new column is
 * exported or forgotten by accident.
 */
export function declareTable<C extends Columns>(
  declaration: TableDeclaration<C> & { readonly exported: string | (ExportedRows & Declaring<C>) },
): TableDeclaration<C> {
  return declaration;
}

/** How the constraints and indexes of a table are called in the database. */
export const nameOf = {
  primaryKey: (table: string) => `${table}_pk`,
  unique: (table: string, key: string) => `${table}_${snakeCase(key)}_unique`,
  foreignKey: (table: string, column: string) => `${table}_${column}_fk`,
  index: (table: string, key: string) => `${table}_${snakeCase(key)}`,
};

/** Returns the names of a table, its constraints and its indexes, which share a namespace in most databases. */
export function namesIn({
  name,
  columns,
  unique = {},
  foreignKeys = {},
  indexes = {},
}: TableDeclaration): string[] {
  const referring = Object.entries(columns).filter(([attribute]) => Object.hasOwn(foreignKeys, attribute));
  return [
    name,
    nameOf.primaryKey(name),
    ...Object.keys(unique).map((key) => nameOf.unique(name, key)),
    ...referring.map((column) => nameOf.foreignKey(name, columnName(...column))),
    ...Object.keys(indexes).map((key) => nameOf.index(name, key)),
  ];
}

type Raw = Readonly<Record<string, unknown>>;

/** A condition in SQL that is read with a row, such as whether rows of another table refer to it. */
export interface Fact {
  /** The attribute of the row. A symbol, so that it is neither in JSON nor a name that the app could use. */
  readonly key: symbol;
  /** The name in the result. */
  readonly name: string;
  /**
   * @param alias the alias of the table
   * @param lock the SQL after the condition's own SELECT, which makes it read the commits of other transactions
   */
  sql(alias: string, lock: string): string;
}

/**
 * Reads and writes one table with its own SQL, and converts columns, values and rows. Sequelize models are not used,
 * because settings of the app's Sequelize instance could change the values that they store and read.
 */
export class Table<C extends Columns> {
  /** The name in the database, with the prefix. */
  readonly name: string;
  /** The primary key: its attribute, and the name of its column. */
  readonly key: ReturnType<typeof keyOf>;
  readonly #columns: readonly NamedColumn[];
  /** The values of omitted columns. */
  readonly #omitted: object;
  /** The part of a statement that follows INSERT. */
  readonly #into: string;
  readonly #hasSecrets: boolean;

  constructor(
    private readonly database: Database,
    declaration: TableDeclaration<C>,
    private readonly facts: readonly Fact[] = [],
  ) {
    this.name = database.table(declaration.name);
    this.key = keyOf(declaration.columns);
    this.#columns = Object.entries(declaration.columns).map(([attribute, column]) => {
      const name = columnName(attribute, column);
      return { attribute, column, name, sql: column.isQuoted ? database.statements.quote(name) : name };
    });
    this.#omitted = Object.fromEntries(
      this.#columns.map(({ attribute, column }) => [
        attribute,
        column.defaultValue === undefined ? null : decoder(column, database)(column.defaultValue),
      ]),
    );
    this.#into = `INTO ${this.name} (${this.#columns.map(({ sql }) => sql).join(', ')})`;
    this.#hasSecrets = this.#columns.some(({ column }) => column.visibility === 'secret');
  }

  /** Selects the columns that the app's code can see, with this alias for the table. */
  shown(alias: string): Selection<ShownOf<C>> {
    return this.#selection(alias, isShown, this.facts);
  }

  /** Selects the columns that administrators can see too. */
  forAdmins(alias: string): Selection<ShownOf<C>> {
    return this.#selection(alias, (column) => isShown(column) || column.visibility === 'admin');
  }

  /** Selects the columns that are not secret. */
  withoutSecrets(alias: string): Selection<ShownOf<C> & Raw> {
    return this.#selection(alias, ({ visibility }) => visibility !== 'secret', this.facts);
  }

  /** Selects all columns, including secrets. */
  whole(alias: string): Selection<RowOf<C>> {
    return this.#selection(alias, () => true, this.facts);
  }

  /**
   * Selects only the facts, as they are now, and not as of the start of the transaction. Null if there are no facts.
   */
  factsNow(alias: string): Selection<object> | null {
    if (this.facts.length === 0) return null;
    const { currentRead } = this.database;
    const facts = this.facts.map((fact) => ({ ...fact, sql: (of: string) => fact.sql(of, currentRead) }));
    return new Selection(this.database, { table: this.name, alias, columns: [], facts });
  }

  /** Selects these columns. */
  only<A extends keyof C & string>(alias: string, ...attributes: A[]): Selection<Pick<RowOf<C>, A>> {
    return this.#selection(alias, (_column, attribute) => attributes.some((one) => one === attribute));
  }

  /** Fills in the defaults of omitted columns, or null. */
  complete(row: NewRow<C>): RowOf<C> {
    return { ...this.#omitted, ...row } as RowOf<C>;
  }

  /** Inserts rows. */
  async insert(rows: NewRow<C> | readonly NewRow<C>[], transaction?: Transaction): Promise<void> {
    await this.#insert('INSERT', [rows].flat() as NewRow<C>[], '', transaction);
  }

  /** Inserts a row, unless another row has the same unique values. @returns whether it was inserted */
  async insertUnlessThere(row: NewRow<C>, transaction?: Transaction): Promise<boolean> {
    const isMysql = this.database.dialect === 'mysql';
    const rest = isMysql ? '' : 'ON CONFLICT DO NOTHING';
    return (await this.#insert(isMysql ? 'INSERT IGNORE' : 'INSERT', [row], rest, transaction)) > 0;
  }

  #insert(
    verb: string,
    rows: readonly NewRow<C>[],
    rest: string,
    transaction?: Transaction,
  ): Promise<number> {
    const lists: Record<string, readonly Value[]> = {};
    const tuples = rows.map((row, index) => {
      const name = `row_${index}`;
      lists[name] = this.#columns.map(({ attribute, column }) =>
        encode((row as Raw)[attribute] ?? null, column),
      );
      return `(:${name})`;
    });
    const sql = `${verb} ${this.#into} VALUES ${tuples.join(', ')} ${rest}`;
    return this.database.change(sql, lists, { transaction, isSecret: this.#hasSecrets });
  }

  /**
   * Updates the rows whose columns equal all of `where`.
   *
   * @returns the number of updated rows; MySQL does not count rows that already have these values
   */
  update(values: Partial<RowOf<C>>, where: Partial<RowOf<C>>, transaction?: Transaction): Promise<number> {
    const set = this.#bind(values, 'set');
    const at = this.where(where);
    const assignments = set.terms.map(({ column, value }) => `${column} = ${value ?? 'NULL'}`);
    const sql = `UPDATE ${this.name} SET ${assignments.join(', ')} WHERE ${at.sql}`;
    const isSecret = set.isSecret || at.isSecret;
    return this.database.change(sql, { ...set.values, ...at.values }, { transaction, isSecret });
  }

  /** Deletes the rows whose columns equal all of `where`. @returns the number of rows */
  delete(where: Partial<RowOf<C>>, transaction?: Transaction): Promise<number> {
    const { sql, values, isSecret } = this.where(where);
    return this.database.change(`DELETE FROM ${this.name} WHERE ${sql}`, values, { transaction, isSecret });
  }

  /** Returns the condition that a row's columns equal all of `where`. */
  where(where: Partial<RowOf<C>>): Condition {
    const { terms, values, isSecret } = this.#bind(where, 'where');
    // Without a condition, the statement would affect every row.
    if (terms.length === 0) throw new TypeError('a condition is empty');
    const sql = terms.map(({ column, value }) => `${column} ${value ? `= ${value}` : 'IS NULL'}`);
    return { sql: sql.join(' AND '), values, isSecret };
  }

  #selection<Row>(
    alias: string,
    isIncluded: (column: Column, attribute: string) => boolean,
    facts: readonly Fact[] = [],
  ): Selection<Row> {
    const columns = this.#columns.filter(({ column, attribute }) => isIncluded(column, attribute));
    return new Selection(this.database, { table: this.name, alias, columns, facts });
  }

  #bind(row: Partial<RowOf<C>>, prefix: string) {
    const values: Record<string, Value> = {};
    let isSecret = false;
    const terms = Object.entries(row).map(([attribute, value]): Term => {
      const { column, sql } = this.#columns.find((one) => one.attribute === attribute) ?? {};
      if (!column || !sql || value === undefined)
        throw new TypeError(`${this.name}: no value for ${attribute}`);
      isSecret ||= column.visibility === 'secret';
      if (value === null) return { column: sql, value: null };
      values[`${prefix}_${attribute}`] = encode(value, column);
      return { column: sql, value: `:${prefix}_${attribute}` };
    });
    return { terms, values, isSecret };
  }
}

/** A column of a table, with its name and its SQL. */
interface NamedColumn {
  readonly attribute: string;
  readonly column: Column;
  readonly name: string;
  readonly sql: string;
}

/** A condition in SQL, with the values of its placeholders. */
export interface Condition {
  readonly sql: string;
  readonly values: Readonly<Record<string, Value>>;
  /** Whether a value is secret, so that the statement must not be logged. */
  readonly isSecret: boolean;
}

/** A column, and the placeholder of its value, or null for NULL. */
interface Term {
  readonly column: string;
  readonly value: string | null;
}

/** How an attribute is read from the result. */
interface Reader {
  readonly attribute: string | symbol;
  readonly key: string;
  decode(value: unknown): unknown;
}

/** The kinds of short texts and integers. JSON has no bytes, and some versions of SQLite shorten other numbers in it. */
const PLAIN: ReadonlySet<ColumnKind> = new Set([
  'uuid',
  'text',
  'words',
  'time',
  'integer',
  'boolean',
] as const);

/** What a {@link Selection} selects. */
interface SelectedColumns {
  /** The name of the table in the database. */
  readonly table: string;
  readonly alias: string;
  readonly columns: readonly NamedColumn[];
  readonly facts: readonly Fact[];
}

/** Selects columns of a table with names that are unique in a join, and reads them from the result. */
export class Selection<Row> {
  /** The table and its alias, for FROM and JOIN. */
  readonly from: string;
  /** What {@link columns} contains. */
  readonly selected: readonly Selected[];
  /** `s.id AS s_id, s.user_id AS s_user_id, …` */
  readonly columns: string;
  /** The names in the result: `s_id`, `s_user_id`, … */
  readonly names: readonly string[];
  readonly #readers: readonly Reader[];
  /**
   * A row of nulls, whose copies have room for all attributes, because an object that grows is copied several times.
   */
  readonly #blank: Readonly<Record<string | symbol, unknown>>;

  constructor(
    private readonly database: Database,
    { table, alias, columns, facts }: SelectedColumns,
  ) {
    this.from = `${table} ${alias}`;
    const selected: Selected[] = columns.map(({ column, name, sql }) => ({
      sql: expressionOf(alias, column, sql, database),
      name: `${alias}_${name}`,
      isPlain: PLAIN.has(column.kind),
    }));
    const readers: Reader[] = columns.map(({ attribute, column, name }) => ({
      attribute,
      key: `${alias}_${name}`,
      decode: decoder(column, database),
    }));
    for (const { key: attribute, name, sql } of facts) {
      // No name of the app's fields has two underscores.
      const key = `${alias}__${name}`;
      selected.push({ sql: `CASE WHEN ${sql(alias, '')} THEN 1 ELSE 0 END`, name: key, isPlain: true });
      readers.push({ attribute, key, decode: toBoolean });
    }
    this.selected = selected;
    this.columns = listOf(selected);
    this.names = selected.map(({ name }) => name);
    this.#readers = readers;
    this.#blank = Object.fromEntries(readers.map(({ attribute }) => [attribute, null]));
  }

  /** Reads this table's row from a row of the result. */
  read(raw: object): Row {
    const row = { ...this.#blank };
    for (const { attribute, key, decode } of this.#readers) {
      const value = (raw as Raw)[key];
      if (value !== null) row[attribute] = decode(value);
    }
    return row as Row;
  }

  /** Returns the part of a complete row that this selection covers. */
  pick(row: object): Row {
    const part = { ...this.#blank };
    for (const { attribute } of this.#readers)
      part[attribute] = (row as Record<string | symbol, unknown>)[attribute];
    return part as Row;
  }

  /** Selects from this table only. @param rest the SQL after FROM: `WHERE … ORDER BY …` */
  async select(rest: string, replacements?: Replacements, transaction?: Transaction): Promise<Row[]> {
    const sql = `SELECT ${this.columns} FROM ${this.from} ${rest}`;
    const raws = await this.database.read<Raw>(sql, this.names, replacements, transaction);
    return raws.map((raw) => this.read(raw));
  }
}

function expressionOf(alias: string, column: Column, sql: string, database: Database): string {
  const own = readable(`${alias}.${sql}`, column, database);
  return column.fallback === undefined ? own : `COALESCE(${own}, ${alias}.${snakeCase(column.fallback)})`;
}

/** Returns the SQL expression that reads a column. */
export function readable(sql: string, { kind }: Column, { dialect, statements }: Database): string {
  if (kind === 'time') return statements.milliseconds(sql) ?? sql;
  // MySQL's driver reads the years 1 to 99 as recent years, so such times are read as strings.
  return kind === 'any-time' && dialect === 'mysql' ? `CAST(${sql} AS CHAR)` : sql;
}

/** Converts an attribute's value to the value in a statement. */
export function encode(value: unknown, { kind }: Column): Value {
  if (value === null) return null;
  if (kind === 'words') return (value as readonly string[]).join(' ');
  return (kind === 'json' || kind === 'document' ? JSON.stringify(value) : value) as Value;
}

const asIs = (value: unknown) => value;
const toWords = (value: unknown) => String(value).split(' ').filter(Boolean);
const ofMilliseconds = (value: unknown) => new Date(Math.round(Number(value)));
// MySQL and SQLite return numbers, which the app's `typeCast` might convert to strings.
const toBoolean = (value: unknown) => value === true || Number(value) === 1;

/** Returns a function that converts a value of a result, which is not null, to the attribute's value. */
function decoder({ kind }: Column, database: Database): (value: unknown) => unknown {
  switch (kind) {
    case 'time':
      if (database.statements.milliseconds('')) return ofMilliseconds;
      return (value) => database.statements.toDate(value as Date | string);
    case 'any-time':
      return (value) => database.statements.toDate(value as Date | string);
    case 'boolean':
      return toBoolean;
    case 'integer':
    case 'big-integer':
    case 'number':
      return Number;
    case 'words':
      return toWords;
    case 'json':
    case 'document':
      return (value) => JSON.parse(String(value));
    default:
      return asIs;
  }
}
