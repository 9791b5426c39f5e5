import { QueryTypes } from 'sequelize';
import type { Database } from '../database/database.js';
import { existingTables } from './checks.js';
import { renamed } from './former.js';
import type { Migration, MigrationContext } from './migration.js';

type Direction = 'up' | 'down';

/** A migration in progress, and the statement at which it stopped. */
interface Unfinished {
  readonly migration: Migration;
  readonly direction: Direction;
  readonly step: number;
}

// MySQL's errors for a statement that has already been executed.
const DONE_ALREADY = new Set([
  'ER_TABLE_EXISTS_ERROR',
  'ER_DUP_KEYNAME',
  'ER_DUP_FIELDNAME',
  'ER_BAD_TABLE_ERROR',
  'ER_CANT_DROP_FIELD_OR_KEY',
]);

/**
 * Records the applied migrations, and the progress of the current one. MySQL commits implicitly after each CREATE
 * TABLE, so a process that is killed between two statements leaves a partial migration, which the next process
 * completes. The row of a migration in progress is `<name> <up or down> <statement>`, written before that statement
 * runs.
 */
export class Journal {
  readonly #table: string;
  /** Whether the journal's table does not exist, in a dry run before the first migration. */
  #isMissing = false;

  constructor(private readonly context: MigrationContext) {
    this.#table = context.database.table('latchkey_migrations');
  }

  /**
   * Creates the journal's table if it does not exist, and replaces the names of migrations of earlier commits. A dry
   * run changes nothing.
   */
  async open(dryRun: boolean): Promise<void> {
    const { run, types } = this.context;
    if (dryRun) {
      this.#isMissing = (await existingTables(this.context, [this.#table])).length === 0;
      return;
    }
    await run(
      `CREATE TABLE IF NOT EXISTS ${this.#table} (name ${types.exactText(100)} NOT NULL PRIMARY KEY) ${types.tableOptions}`,
    );
    await this.#rename();
  }

  drop(): Promise<void> {
    return this.context.run(`DROP TABLE ${this.#table}`);
  }

  /** Returns the names of the applied migrations. */
  async applied(): Promise<string[]> {
    return (await this.#rows()).filter((row) => !row.includes(' '));
  }

  /** Returns the names of the applied and the partially applied migrations. */
  async begun(): Promise<string[]> {
    return (await this.#rows()).map((row) => row.replace(/ .*/, ''));
  }

  /** Returns the migration that another process left unfinished, or null. */
  async unfinished(migrations: readonly Migration[]): Promise<Unfinished | null> {
    for (const row of await this.#rows()) {
      const [name, direction, step] = row.split(' ');
      const migration = migrations.find((one) => one.name === name);
      if (migration && step) return { migration, direction: direction as Direction, step: Number(step) };
    }
    return null;
  }

  /** Records that a migration is applied. */
  record({ name }: Migration): Promise<void> {
    return this.#move(null, name);
  }

  /**
   * Applies a migration, or undoes it.
   *
   * @param begun the statement at which another process stopped, which may or may not have been executed
   */
  async carryOut(migration: Migration, direction: Direction, begun = 0): Promise<void> {
    const markOf = (step: number) => (step > 0 ? `${migration.name} ${direction} ${step}` : null);
    let step = 0;
    const run = async (sql: string) => {
      step += 1;
      if (step < begun) return;
      if (step > begun) await this.#move(markOf(step - 1), markOf(step));
      try {
        await this.context.run(sql);
      } catch (error) {
        if (step === begun && isDoneAlready(error)) return;
        // The statement failed, so it was not executed. If this update fails too, the journal leaves both possible.
        await this.#move(markOf(step), markOf(step - 1)).catch(() => undefined);
        throw error;
      }
    };
    await migration[direction]({ ...this.context, run });
    if (direction === 'up') await this.#move(markOf(step), migration.name);
    else await this.#change('DELETE FROM', 'WHERE name IN (:name, :mark)', migration.name, markOf(step));
  }

  // MySQL commits each statement, but `renamed` can also read a journal between two of them.
  async #rename(): Promise<void> {
    const rows = await this.#stored();
    const names = renamed(rows);
    for (const name of names) if (!rows.includes(name)) await this.#move(null, name);
    for (const row of rows) if (!names.includes(row)) await this.#move(row, null);
  }

  // This is a single statement, so that the journal never has both rows or neither.
  #move(from: string | null, to: string | null): Promise<void> {
    if (from === null) return this.#change('INSERT INTO', '(name) VALUES (:name)', to);
    if (to === null) return this.#change('DELETE FROM', 'WHERE name = :name', from);
    return this.#change('UPDATE', 'SET name = :mark WHERE name = :name', from, to);
  }

  async #change(verb: string, rest: string, name: string | null, mark: string | null = null): Promise<void> {
    const { database, transaction } = this.context;
    await database.sequelize.query(`${verb} ${this.#table} ${rest}`, {
      transaction,
      replacements: { name, mark },
    });
  }

  async #rows(): Promise<string[]> {
    return renamed(this.#isMissing ? [] : await this.#stored());
  }

  async #stored(): Promise<string[]> {
    const { database, transaction } = this.context;
    const sql = `SELECT name FROM ${this.#table} ORDER BY name`;
    const rows = await database.sequelize.query<{ name: string }>(sql, {
      transaction,
      type: QueryTypes.SELECT,
    });
    return rows.map(({ name }) => name);
  }
}

function isDoneAlready(error: unknown): boolean {
  return DONE_ALREADY.has((error as { parent?: { code?: string } }).parent?.code ?? '');
}

/** Returns the applied migrations, and the progress of an incomplete one, if the schema has been created. */
export async function namesInJournal(database: Database): Promise<string[]> {
  const rows = await database.select<{ name: string }>(
    `SELECT name FROM ${database.table('latchkey_migrations')}`,
  );
  return renamed(rows.map(({ name }) => name));
}
