import { QueryTypes, type Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import { violatedUnique } from '../database/faults.js';
import { existingTables } from './checks.js';
import type { ColumnTypes, Migration, Reading } from './migration.js';
import type { Direction } from './steps.js';

/** The name of the journal's table. */
export const JOURNAL = 'latchkey_migrations';

/** A migration in progress, and the step at which it stopped. */
export interface Unfinished {
  readonly migration: Migration;
  readonly direction: Direction;
  readonly step: number;
}

/** The rows of a journal: the applied migrations, and the progress of an incomplete one. */
export class Entries {
  /** @param hasTable whether the journal's table exists */
  constructor(
    private readonly rows: readonly string[],
    readonly hasTable = true,
  ) {}

  /** The names of the applied migrations. */
  get applied(): string[] {
    return this.rows.filter((row) => !row.includes(' '));
  }

  /** The names of the applied and the partially applied migrations. */
  get begun(): string[] {
    return this.rows.map((row) => row.replace(/ .*/, ''));
  }

  /** Returns the migration that another process left unfinished, or null. */
  unfinished(migrations: readonly Migration[]): Unfinished | null {
    for (const row of this.rows) {
      const [name, direction, step] = row.split(' ');
      const migration = migrations.find((one) => one.name === name);
      if (migration && step) return { migration, direction: direction as Direction, step: Number(step) };
    }
    return null;
  }
}

/** Thrown if another process has changed the journal since this process read it. */
export class Overtaken extends Error {}

/**
 * Records the applied migrations, and the progress of the current migration, so that the next process can complete a
 * migration if a process is killed. The row of a migration in progress is `<name> <up or down> <step>`. On PostgreSQL
 * and SQLite, it is written in the transaction of that step, unless the step requires several transactions. On MySQL,
 * which commits each statement, it is written before the step, so the step might or might not have been carried out.
 */
export class Journal {
  readonly #table: string;

  constructor(
    private readonly database: Database,
    private readonly types: ColumnTypes,
  ) {
    this.#table = database.table(JOURNAL);
  }

  /** The statement that creates the table. */
  get creation(): string {
    const { exactText, tableOptions } = this.types;
    return `CREATE TABLE IF NOT EXISTS ${this.#table} (name ${exactText(100)} NOT NULL PRIMARY KEY) ${tableOptions}`;
  }

  /** Returns the statement that records a migration. */
  recording(name: string): string {
    return `INSERT INTO ${this.#table} (name) VALUES ('${name}')`;
  }

  async read(transaction: Transaction | null): Promise<Entries> {
    const reading: Reading = { database: this.database, transaction };
    // If nothing is pending, a database user without the right to create tables must be able to call `auth.migrate()`.
    if ((await existingTables(reading, [this.#table])).length === 0) return new Entries([], false);
    const rows = await this.database.sequelize.query<{ name: string }>(
      `SELECT name FROM ${this.#table} ORDER BY name`,
      { transaction, type: QueryTypes.SELECT },
    );
    return new Entries(rows.map(({ name }) => name));
  }

  async create(transaction: Transaction): Promise<void> {
    await this.database.sequelize.query(this.creation, { transaction });
  }

  async drop(transaction: Transaction): Promise<void> {
    await this.database.sequelize.query(`DROP TABLE ${this.#table}`, { transaction });
  }

  /**
   * Replaces a row with another one, in a single statement, so that the journal always has exactly one of the two.
   *
   * @param from null to add a row
   * @param to null to delete it
   * @throws Overtaken if the journal does not have the old row, or already has the new row
   */
  async move(from: string | null, to: string | null, transaction: Transaction): Promise<void> {
    if (from === to) return;
    const changed = await this.#change(from, to, transaction).catch((error) => {
      throw violatedUnique(error) === null ? error : new Overtaken();
    });
    if (from !== null && changed !== 1) throw new Overtaken();
  }

  #change(from: string | null, to: string | null, transaction: Transaction): Promise<number> {
    const sql =
      from === null
        ? `INSERT INTO ${this.#table} (name) VALUES (:to)`
        : to === null
          ? `DELETE FROM ${this.#table} WHERE name = :from`
          : `UPDATE ${this.#table} SET name = :to WHERE name = :from`;
    return this.database.sequelize.query(sql, {
      transaction,
      type: QueryTypes.BULKUPDATE,
      replacements: { from, to },
    }) as Promise<unknown> as Promise<number>;
  }
}

/** Returns the applied migrations, and the progress of an incomplete one, if the schema has been created. */
export async function namesInJournal(database: Database): Promise<string[]> {
  const rows = await database.select<{ name: string }>(`SELECT name FROM ${database.table(JOURNAL)}`);
  return rows.map(({ name }) => name);
}
