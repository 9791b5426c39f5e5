import type { Sequelize } from 'sequelize';

/** A row, by the names of its columns. */
export type OldRow = Readonly<Record<string, unknown>>;

/** Reads and deletes rows of an older system by one column, whatever its database takes for equal. */
export class OldTables {
  constructor(private readonly sequelize: Sequelize) {}

  /** The row whose column is exactly this value. Null if there is none. */
  async find(table: string, column: string, value: unknown): Promise<OldRow | null> {
    const sql = `SELECT * FROM ${this.#quote(table)} WHERE ${this.#quote(column)} = :value`;
    const rows = await this.#query(sql, 'SELECT', value);
    // MySQL's collations ignore case and trailing spaces.
    return (rows as OldRow[]).find((row) => String(row[column]) === String(value)) ?? null;
  }

  /** Deletes the rows whose column is this value, which must be one that {@link find} has found. */
  async delete(table: string, column: string, value: unknown): Promise<void> {
    const sql = `DELETE FROM ${this.#quote(table)} WHERE ${this.#quote(column)} = :value`;
    await this.#query(sql, 'BULKDELETE', value);
  }

  #query(sql: string, type: string, value: unknown): Promise<unknown> {
    // Tokens are not logged. Null, since with CLS it would join the app's transaction.
    const options = { type, replacements: { value }, logging: false, transaction: null, raw: true };
    return this.sequelize.query(sql, options as never);
  }

  /** @param name may have a schema, as in `auth.session` */
  #quote(name: string): string {
    const interfaces = this.sequelize.getQueryInterface() as unknown as {
      quoteIdentifier(name: string, force: boolean): string;
    };
    return name
      .split('.')
      .map((part) => interfaces.quoteIdentifier(part, true))
      .join('.');
  }
}
