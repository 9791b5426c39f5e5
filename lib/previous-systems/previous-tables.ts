import type { Sequelize } from 'sequelize';
import { isSequelize } from '../database/connect.js';

/** A row of a previous system's table, as the database's driver returned it. */
export type SourceRow = Readonly<Record<string, unknown>>;

const BATCH = 500;

/** @param what the name of the importer, for the message @throws TypeError if it is not a Sequelize instance */
export function requireSequelize(sequelize: unknown, what: string): void {
  if (!isSequelize(sequelize))
    throw new TypeError(
      `latchkey: ${what}: the first argument must be a Sequelize instance of the database to read`,
    );
}

/** The tables of a previous system: importers read all of their rows, and bridges look up and delete single ones. */
export class PreviousTables {
  constructor(private readonly sequelize: Sequelize) {}

  /**
   * Reads all rows in batches, in the order of their key. Each batch continues after the last key of the previous
   * batch, so rows that are added or deleted in the meantime do not shift others, and batches stay fast however large
   * the table is.
   *
   * @param key a column whose values are unique and not null
   */
  async *batches(table: string, key: string): AsyncGenerator<SourceRow[]> {
    const column = this.#quote(key);
    for (let after: unknown; ; ) {
      const condition = after === undefined ? '' : `WHERE ${column} > :after`;
      const rows = await this.#select(table, `${condition} ORDER BY ${column} LIMIT ${BATCH}`, { after });
      const last = rows.at(-1);
      if (!last) return;
      yield rows;
      after = last[key];
      if (after === undefined || after === null)
        throw new TypeError(
          `latchkey: ${table} cannot be read by its column ${key}, which must exist and have a value in each row`,
        );
      if (rows.length < BATCH) return;
    }
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

// A bridge's values are tokens, which must not be logged. Without `transaction: null`, its statements would join the
// app's transaction if Sequelize uses CLS.
const UNSEEN = { logging: false, transaction: null };
