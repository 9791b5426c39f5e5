import type { Database } from '../database/database.js';
import { type FieldColumns, fieldChanges } from './field-columns.js';
import { JOURNAL, Journal } from './journal.js';
import { reading } from './lock.js';
import { planOf, typesOf } from './migrate.js';
import type { Migration } from './migration.js';
import { stepsOf, type Unit, unitsOf } from './steps.js';

/** A statement of a script. */
export interface Statement {
  readonly sql: string;
  /** How `auth.migrate()` carries it out, if that differs from the statement. */
  readonly note: string | null;
}

/** The statements of one migration. */
export interface ScriptSection {
  /** The name of the migration, or of the column of a field. */
  readonly name: string;
  readonly statements: readonly Statement[];
}

const BATCHES =
  'auth.migrate() changes these rows in batches. This statement locks all of the rows until it ends.';
const CONCURRENTLY = 'This statement cannot run in a transaction.';

/**
 * Returns the pending migrations as SQL. After the script has run, nothing is pending, because it also records the
 * migrations. It is complete, because every step of a migration is SQL.
 *
 * @throws Error if a migration was interrupted, because on MySQL only the next call can find out which of its steps
 *   have been carried out. Also throws the errors that `auth.migrate()` throws before it changes anything
 */
export function pendingScript(
  database: Database,
  migrations: readonly Migration[],
  fields: FieldColumns,
): Promise<ScriptSection[]> {
  return reading(database, async () => {
    const types = await typesOf(database);
    const journal = new Journal(database, types);
    const plan = await planOf({ database, types, journal }, migrations, 0, null);
    const { entries, unfinished, due, included } = plan;
    if (unfinished)
      throw new Error(
        `latchkey: migrate: ${unfinished.migration.name} has been interrupted, and only auth.migrate() can complete it`,
      );
    const parts: ScriptSection[] = [];
    const add = (name: string, statements: readonly (Statement | string)[]) => {
      if (statements.length === 0) return;
      parts.push({
        name,
        statements: statements.map((one) => (typeof one === 'string' ? { sql: one, note: null } : one)),
      });
    };
    add(database.table(JOURNAL), entries.hasTable ? [] : [journal.creation]);
    // As in `apply`, these migrations are recorded before the migration that includes them.
    for (const { name } of included) add(name, [journal.recording(name)]);
    for (const migration of due.filter((one) => !included.includes(one))) {
      const steps = await stepsOf(migration, 'up', { database, types });
      const units = unitsOf(steps, database.dialect);
      add(migration.name, [...units.flatMap(statementsOf), journal.recording(migration.name)]);
    }
    for (const { name, sql } of await fieldChanges({ database, types, transaction: null }, fields))
      add(name, [sql]);
    return parts;
  });
}

function statementsOf({ steps, index }: Unit): Statement[] {
  if (index) return [{ sql: `CREATE INDEX CONCURRENTLY ${index.name} ${index.on}`, note: CONCURRENTLY }];
  return steps.map(({ sql, rows }) => ({ sql, note: rows ? BATCHES : null }));
}
