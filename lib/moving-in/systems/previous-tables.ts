import type { Sequelize } from 'sequelize';
import { readBatches } from '../../database/batches.js';
import { isSequelize } from '../../database/connect.js';

/** A row of a previous system's table, as the database's driver returned it. */
export type SourceRow = Readonly<Record<string, unknown>>;

/** The names that a previous system gives a table and its columns, and how apps change them. */
export interface TableShape<Key extends string = string> {
  readonly table: string;
  readonly columns: Readonly<Record<Key, string>>;
  /** The columns that only some apps have. */
  readonly optional?: readonly string[];
  /**
   * Patterns of columns that show that the app has an optional column under a name that cannot be guessed. The import
   * must not continue without this column.
   */
  readonly hints?: Readonly<Record<string, RegExp>>;
}

/** The names that the app uses. Null means that the app does not have an optional column. */
export interface GivenNames {
  readonly table?: string | undefined;
  readonly columns?: Readonly<Record<string, string | null | undefined>> | undefined;
}

/** A table that was found, and its columns by key. The name of an optional column that does not exist is empty. */
export interface FoundTable<Key extends string = string> {
  readonly table: string;
  readonly columns: Readonly<Record<Key, string>>;
}

/** @param what the name of the importer, for the message @throws TypeError if it is not a Sequelize instance */
export function requireSequelize(sequelize: unknown, what: string): void {
  if (!isSequelize(sequelize))
    throw new TypeError(
      `latchkey: ${what}: the first argument must be a Sequelize instance of the database to read`,
    );
}

/**
 * The tables of a previous system: importers read all of their rows, and bridges look up and delete individual rows.
 */
export class PreviousTables {
  constructor(private readonly sequelize: Sequelize) {}

  /**
   * Finds a table and its columns. Names that the app has not set can be written in another form: in camelCase or
   * snake_case, and the table in the singular or plural.
   *
   * @param where the name of the importer or bridge, for messages
   * @returns null if there is no such table
   * @throws TypeError naming a column that cannot be found
   */
  async locate<Key extends string>(
    where: string,
    shape: TableShape<Key>,
    given: GivenNames = {},
  ): Promise<FoundTable<Key> | null> {
    const names = given.table === undefined ? namesOf(shape.table) : [given.table];
    for (const table of names) {
      const columns = await this.#columnsOf(table);
      if (columns.length > 0)
        return { table, columns: columnsIn(where, { ...shape, table }, columns, given.columns ?? {}) };
    }
    return null;
  }

  /** Like {@link locate}. @throws TypeError if there is no such table */
  async require<Key extends string>(
    where: string,
    shape: TableShape<Key>,
    given: GivenNames = {},
  ): Promise<FoundTable<Key>> {
    const found = await this.locate(where, shape, given);
    if (found) return found;
    throw new TypeError(
      `latchkey: ${where}: there is no table ${given.table ?? shape.table}: name it in tables, or check the database`,
    );
  }

  async #columnsOf(table: string): Promise<string[]> {
    const dialect = this.sequelize.getDialect();
    const [name = '', schema = null] = table.split('.').reverse();
    const quoted = dialect === 'postgres' ? this.#quoteTable(table) : name;
    const sql = CATALOGS[dialect] ?? CATALOGS.mysql;
    const rows = await this.#query(sql as string, 'SELECT', { table: quoted, schema }, UNSEEN);
    return (rows as { name: string }[]).map((row) => row.name);
  }

  /**
   * Reads all rows in batches, in the order of their key. Each batch continues after the last key of the previous
   * batch, so rows that are added or deleted in the meantime do not shift others, and batches stay fast however large
   * the table is.
   *
   * @param key a column whose values are unique and not null
   */
  batches(table: string, key: string): AsyncGenerator<readonly SourceRow[]> {
    const column = this.#quote(key);
    return readBatches<SourceRow>(async (last, size) => {
      const condition = last ? `WHERE ${column} > :after` : '';
      const rows = await this.#select(table, `${condition} ORDER BY ${column} LIMIT ${size}`, {
        after: last?.[key],
      });
      if (rows.length > 0 && (rows.at(-1)?.[key] ?? null) === null)
        throw new TypeError(
          `latchkey: ${table} cannot be read by its column ${key}, which must exist and have a value in each row`,
        );
      return rows;
    });
  }

  /** Finds the rows whose column has one of these values, and groups them by the value. */
  async by(table: string, column: string, values: readonly unknown[]): Promise<Map<string, SourceRow[]>> {
    const found = new Map<string, SourceRow[]>();
    if (values.length === 0) return found;
    for (const row of await this.#select(table, `WHERE ${this.#quote(column)} IN (:values)`, { values })) {
      const key = String(row[column]);
      found.set(key, [...(found.get(key) ?? []), row]);
    }
    return found;
  }

  /** Finds the row whose column has exactly this value, which is not logged. Null if there is no such row. */
  async find(table: string, column: string, value: unknown): Promise<SourceRow | null> {
    const condition = `WHERE ${this.#quote(column)} = :value`;
    const rows = await this.#select(table, condition, { value }, UNSEEN);
    // MySQL's collations ignore case and trailing spaces.
    return rows.find((row) => String(row[column]) === String(value)) ?? null;
  }

  /** Deletes the rows whose column has this value, for which {@link find} must have found a row. */
  async delete(table: string, column: string, value: unknown): Promise<void> {
    const sql = `DELETE FROM ${this.#quoteTable(table)} WHERE ${this.#quote(column)} = :value`;
    await this.#query(sql, 'BULKDELETE', { value }, UNSEEN);
  }

  async #select(table: string, rest: string, replacements: object, options = {}): Promise<SourceRow[]> {
    const sql = `SELECT * FROM ${this.#quoteTable(table)} ${rest}`;
    return (await this.#query(sql, 'SELECT', replacements, options)) as SourceRow[];
  }

  #query(sql: string, type: string, replacements: object, options: object): Promise<unknown> {
    return this.sequelize.query(sql, { type, replacements, raw: true, ...options } as never);
  }

  /** @param name can include a schema, as in `auth.session` */
  #quoteTable(name: string): string {
    return name
      .split('.')
      .map((part) => this.#quote(part))
      .join('.');
  }

  /** Quotes a name exactly as it is, even if the app's instance has `quoteIdentifiers: false`. */
  #quote(name: string): string {
    const interfaces = this.sequelize.getQueryInterface() as unknown as {
      quoteIdentifier(name: string, force: boolean): string;
    };
    return interfaces.quoteIdentifier(name, true);
  }
}

/** Calls a function until it succeeds, and then returns its result. */
export function remembered<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  return () => {
    found ??= find().catch((error) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

const CATALOGS: Readonly<Record<string, string>> = {
  mysql: `SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = COALESCE(:schema, DATABASE()) AND table_name = :table`,
  postgres: `SELECT attname AS name FROM pg_attribute
    WHERE attrelid = to_regclass(:table) AND attnum > 0 AND NOT attisdropped`,
  sqlite: "SELECT name FROM pragma_table_info(:table, COALESCE(:schema, 'main'))",
};

/** The names that a table can have: in camelCase or snake_case, in the singular or plural, or as a model of Prisma. */
function namesOf(table: string): readonly string[] {
  const snake = table.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const other = (name: string) => (name.endsWith('s') ? name.slice(0, -1) : `${name}s`);
  const pascal = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
  const names = [table, snake, other(table), other(snake)];
  return [...new Set([...names, ...[table, other(table)].map(pascal)])];
}

/** @throws TypeError naming a column that cannot be found, or that several columns match */
function columnsIn<Key extends string>(
  where: string,
  { table, columns, optional = [], hints = {} }: TableShape<Key>,
  existing: readonly string[],
  given: NonNullable<GivenNames['columns']>,
): Record<Key, string> {
  const has = `it has ${existing.join(', ')}`;
  const mistake = (what: string) => new TypeError(`latchkey: ${where}: ${what}`);
  const found = (Object.entries(columns) as [Key, string][]).map(([key, usual]): [Key, string] => {
    const named = given[key];
    if (named === null && optional.includes(key)) return [key, ''];
    if (named === null) throw mistake(`columns must name a column of ${table} for ${key}, not null`);
    if (typeof named === 'string') {
      if (existing.includes(named)) return [key, named];
      throw mistake(`${table} has no column ${named}, which columns names for ${key}: ${has}`);
    }
    if (existing.includes(usual)) return [key, usual];
    const [one, ...others] = existing.filter((name) => folded(name) === folded(usual));
    if (one !== undefined && others.length === 0) return [key, one];
    if (one !== undefined)
      throw mistake(`${table} has ${[one, ...others].join(' and ')}: name the one for ${key} in columns`);
    if (!optional.includes(key))
      throw mistake(`${table} has no column ${usual}: name the one for ${key} in columns; ${has}`);
    return [key, ''];
  });
  const used = new Set(found.map(([, name]) => name));
  for (const [key, name] of found) {
    const pattern = name === '' && given[key] !== null ? hints[key] : undefined;
    const hint = pattern && existing.find((one) => pattern.test(one) && !used.has(one));
    if (hint !== undefined)
      throw mistake(
        `${table} has no column ${columns[key]}, but ${hint}: name the one for ${key} in columns, or set it to null if there is no such column`,
      );
  }
  return Object.fromEntries(found) as Record<Key, string>;
}

/** `email_verified`, `emailVerified` and `emailverified` are the same. */
function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

// A bridge's values are tokens, which must not be logged. Without `transaction: null`, its statements would join the
// app's transaction if Sequelize uses CLS.
const UNSEEN = { logging: false, transaction: null };
