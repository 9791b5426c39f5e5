import type { Sequelize } from 'sequelize';

/** A row of a table of another system, as the database's driver returned it. */
export type SourceRow = Readonly<Record<string, unknown>>;

const BATCH = 500;

/** What Sequelize's types omit. */
interface Generator {
  quoteTable(table: string | { readonly tableName: string; readonly schema: string }): string;
  quoteIdentifier(name: string): string;
}

/** Reads tables of other systems, with the app's Sequelize instance. */
export class TableReader {
  readonly #generator: Generator;

  /** @param what the importer, for messages @throws TypeError if it is no Sequelize instance */
  constructor(
    private readonly sequelize: Sequelize,
    what: string,
  ) {
    if (typeof sequelize?.query !== 'function' || typeof sequelize.getQueryInterface !== 'function')
      throw new TypeError(
        `latchkey: ${what}: the first argument must be a Sequelize instance of the database to read`,
      );
    this.#generator = sequelize.getQueryInterface().queryGenerator as Generator;
  }

  /**
   * All rows in the order of their key, in batches, each of which continues after the last key of the one before. So rows
   * that come and go meanwhile neither shift others nor cost more, however large the table is.
   *
   * @param key a column whose values are unique and not null
   */
  async *batches(table: string, key: string): AsyncGenerator<SourceRow[]> {
    const column = this.#generator.quoteIdentifier(key);
    for (let after: unknown; ; ) {
      const condition = after === undefined ? '' : `WHERE ${column} > :after`;
      const rows = await this.#select(table, `${condition} ORDER BY ${column} LIMIT ${BATCH}`, { after });
      const last = rows.at(-1);
      if (!last) return;
      yield rows;
      after = last[key];
      if (after === undefined || after === null)
        throw new TypeError(
          `latchkey: ${table} has no column ${key} with a value in each row, by which it can be read`,
        );
      if (rows.length < BATCH) return;
    }
  }

  /** The rows whose column has one of these values, by that value. */
  async by(table: string, column: string, values: readonly unknown[]): Promise<Map<string, SourceRow[]>> {
    const found = new Map<string, SourceRow[]>();
    if (values.length === 0) return found;
    const condition = `WHERE ${this.#generator.quoteIdentifier(column)} IN (:values)`;
    for (const row of await this.#select(table, condition, { values })) {
      const key = String(row[column]);
      found.set(key, [...(found.get(key) ?? []), row]);
    }
    return found;
  }

  async #select(table: string, rest: string, replacements: Record<string, unknown>): Promise<SourceRow[]> {
    const [schema, name] = table.includes('.') ? (table.split('.', 2) as [string, string]) : [null, table];
    const quoted = this.#generator.quoteTable(schema === null ? name : { tableName: name, schema });
    return (await this.sequelize.query(`SELECT * FROM ${quoted} ${rest}`, {
      type: 'SELECT' as never,
      replacements,
      raw: true,
    })) as unknown as SourceRow[];
  }
}
