import { QueryTypes } from 'sequelize';
import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../config/options.js';
import type { Database } from '../database/database.js';
import { requireFreeNames, requireUnreferenced } from './checks.js';
import { addFieldColumns, type FieldColumns } from './field-columns.js';
import { Journal } from './journal.js';
import { locked } from './lock.js';
import { columnTypes, type Migration, type MigrationContext } from './migration.js';

/** Options of `auth.migrate()`. */
export interface MigrateOptions {
  /**
   * The number of applied migrations to undo, or `'all'`, which drops all of latchkey's tables and their data. Plugins'
   * migrations are undone first, in descending order of their names, then the core's, regardless of when they were
   * applied. Every plugin that was migrated must be in the config.
   * @default 0, which applies pending migrations
   */
  undo?: number | 'all';
  /** Whether to change nothing, and only resolve to the names of the migrations that would run. @default false */
  dryRun?: boolean;
}

const INVALID_UNDO = "must be 'all' or the number of migrations to undo: 0, 1, 2 …";
/** @internal */
export const schema = () =>
  schemaOf<MigrateOptions>()({
    undo: z.union([z.literal('all'), z.int().min(0, INVALID_UNDO)], INVALID_UNDO).default(0),
    dryRun: flag.default(false),
  });

/**
 * Applies pending migrations, or undoes applied ones. Any number of processes can call this at the same time: one of
 * them migrates, and the others wait and find nothing left to do. On PostgreSQL and SQLite it is atomic. MySQL commits
 * each statement, and the next process completes a migration that one process left unfinished. It completes an
 * unfinished undo only if it undoes too.
 *
 * @param fields the app's fields of users, whose missing columns are added
 * @param migrations in the order in which they are applied; they are undone in reverse
 * @returns the names of the migrations that ran, and of the columns of fields that were added
 * @throws TypeError on invalid options
 * @throws Error before anything is changed, if a table to create already exists, if a table of the app refers to one to
 *   drop, if an undo was interrupted and this call does not undo, or if the tables are not as the last earlier commit
 *   left them
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  fields: FieldColumns,
  options: MigrateOptions = {},
): Promise<string[]> {
  const { undo, dryRun } = readOptions('migrate', schema, options);
  const ran = await locked(database, async (transaction) => {
    const run = async (sql: string) => void (await database.sequelize.query(sql, { transaction }));
    const [version] = await database.sequelize.query<{ version: string }>(
      `SELECT ${database.dialect === 'sqlite' ? 'sqlite_version()' : 'version()'} AS version`,
      { transaction, type: QueryTypes.SELECT },
    );
    const context: MigrationContext = {
      database,
      transaction,
      run,
      types: columnTypes(database.dialect, version?.version ?? ''),
    };
    const journal = new Journal(context);
    await journal.open(dryRun);
    const unfinished = await journal.unfinished(migrations);
    if (undo === 0) {
      if (unfinished?.direction === 'down') throw new Error(undoInterrupted(unfinished.migration));
    } else requireAll(await journal.begun(), migrations);
    const direction = undo === 0 ? 'up' : 'down';
    // A migration completed in the same direction counts as part of this call.
    const resumed = unfinished?.direction === direction ? [unfinished.migration] : [];
    const applied = new Set(await journal.applied());
    // The unfinished migration is completed first.
    if (unfinished?.direction === 'up') applied.add(unfinished.migration.name);
    else if (unfinished) applied.delete(unfinished.migration.name);
    const due =
      undo === 0
        ? migrations.filter(({ name }) => !applied.has(name))
        : migrations
            .filter(({ name }) => applied.has(name))
            .reverse()
            .slice(0, undo === 'all' ? undefined : undo - resumed.length);
    // Check this before anything is changed.
    if (undo === 0) await requireFreeNames(context, due);
    else await requireUnreferenced(context, [...resumed, ...due]);
    // The tables that a first migration creates already have the changes of later ones. So these are only recorded, and
    // before it runs: if it is interrupted, they must not run afterwards.
    const included = undo === 0 ? due.filter(({ first }) => due.some(({ name }) => name === first)) : [];
    if (!dryRun) {
      for (const migration of included) await journal.record(migration);
      if (unfinished) await journal.carryOut(unfinished.migration, unfinished.direction, unfinished.step);
      for (const migration of due)
        if (!included.includes(migration)) await journal.carryOut(migration, direction);
      if (undo === 'all') await journal.drop();
    }
    const forFields = dryRun ? { ...context, run: async () => undefined } : context;
    const added = undo === 0 ? await addFieldColumns(forFields, fields) : [];
    return [...[...resumed, ...due].map(({ name }) => name), ...added];
  });
  if (undo === 0) await fields.check?.();
  return ran;
}

function undoInterrupted({ name }: Migration): string {
  return (
    `latchkey: migrate: undoing ${name} has been interrupted, so some of its tables are missing. ` +
    "Call auth.migrate({ undo: 1 }) or { undo: 'all' } to complete the undo, which drops its other tables too, " +
    'or restore a backup of the database'
  );
}

/**
 * Requires all migrated plugins: the tables of a missing one would refer to dropped tables, and break later migrations.
 */
function requireAll(begun: readonly string[], migrations: readonly Migration[]): void {
  const unknown = begun.filter((name) => !migrations.some((migration) => migration.name === name));
  if (unknown.length === 0) return;
  // Name each plugin as it is written in the config.
  const plugins = unknown.map((name) => `${name.replace(/^\d+-/, '')}() (${name})`);
  throw new Error(
    `latchkey: migrate: undo requires every plugin that was migrated: add ${new Intl.ListFormat('en').format(plugins)} to plugins first`,
  );
}
