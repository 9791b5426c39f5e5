import { QueryTypes } from 'sequelize';
import type { Migration, MigrationContext } from './migration.js';

type Direction = 'up' | 'down';

// MySQL's errors for a statement that has been carried out before.
const DONE_ALREADY = new Set([
  'ER_TABLE_EXISTS_ERROR',
  'ER_DUP_KEYNAME',
  'ER_DUP_FIELDNAME',
  'ER_BAD_TABLE_ERROR',
  'ER_CANT_DROP_FIELD_OR_KEY',
]);

/**
 * Which migrations are applied, and how far the current one has got. MySQL commits each CREATE TABLE by itself, so a
 * process that is killed between two of them leaves half a migration behind, and the next one continues where it stopped.
 * The row of a migration in progress is `<name> <up or down> <statement>`, and is written before that statement runs.
 */
export class Journal {
  readonly #table: string;

  constructor(private readonly context: MigrationContext) {
    this.#table = context.database.table('latchkey_migrations');
  }

  /** Creates its table if there is none. */
  async open(): Promise<void> {
    const { run, types } = this.context;
    await run(
      `CREATE TABLE IF NOT EXISTS ${this.#table} (name ${types.exactText(100)} NOT NULL PRIMARY KEY) ${types.tableOptions}`,
    );
  }

  drop(): Promise<void> {
    return this.context.run(`DROP TABLE ${this.#table}`);
  }

  /** The names of the migrations that are applied. */
  async applied(): Promise<string[]> {
    return (await this.#rows()).filter((row) => !row.includes(' '));
  }

  /** The names of the migrations that are applied or half done. */
  async begun(): Promise<string[]> {
    return (await this.#rows()).map((row) => row.replace(/ .*/, ''));
  }

  /** Completes a migration that a process has left half done. @returns which, if any */
  async finish(
    migrations: readonly Migration[],
  ): Promise<{ readonly name: string; readonly direction: Direction } | null> {
    for (const row of await this.#rows()) {
      const [name, direction, step] = row.split(' ');
      const migration = migrations.find((one) => one.name === name);
      if (!migration || !step) continue;
      const left = { name: migration.name, direction: direction as Direction };
      await this.carryOut(migration, left.direction, Number(step));
      return left;
    }
    return null;
  }

  /**
   * Applies a migration, or undoes it.
   *
   * @param begun the statement that another process had begun, which may or may not have been carried out
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
        // It was refused, so it was certainly not carried out. If this fails too, that stays unknown.
        await this.#move(markOf(step), markOf(step - 1)).catch(() => undefined);
        throw error;
      }
    };
    await migration[direction]({ ...this.context, run });
    if (direction === 'up') await this.#move(markOf(step), migration.name);
    else await this.#change('DELETE FROM', 'WHERE name IN (:name, :mark)', migration.name, markOf(step));
  }

  // In one statement, so that there is never both or neither.
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
