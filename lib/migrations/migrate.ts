import { QueryTypes, type Transaction } from 'sequelize';
import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../config/options.js';
import type { Database } from '../database/database.js';
import { carryOut, type Tools } from './carry-out.js';
import { requireFreeNames, requireUnreferenced } from './checks.js';
import { type FieldChange, type FieldColumns, fieldChanges } from './field-columns.js';
import { type Entries, Journal, Overtaken, type Unfinished } from './journal.js';
import { locked, reading } from './lock.js';
import { type ColumnTypes, columnTypes, type Migration } from './migration.js';
import { createdBy, type Direction, droppedBy, type Step, stepsOf } from './steps.js';

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
 * them migrates, and the others wait and find nothing left to do. If nothing is pending, the call only reads, so the
 * database user does not need the right to create tables.
 *
 * The app can continue to use the tables meanwhile. Each change of a table is a separate transaction, which gives up
 * soon if other transactions hold the table, and is retried for up to 30 seconds. Rows are changed in batches, and on
 * PostgreSQL, indexes of existing tables are created concurrently. The next call completes a migration that a process
 * has left unfinished. It completes an unfinished undo only if the call is an undo too.
 *
 * @param fields the app's fields of users, whose missing columns are added
 * @param migrations in the order in which they are applied; they are undone in reverse
 * @returns the names of the migrations that ran, and of the columns of fields that were added
 * @throws TypeError on invalid options
 * @throws Error before anything is changed, if a table to create already exists, if a table of the app refers to a
 *   table to drop, or if an undo was interrupted and this call is not an undo
 * @throws Error if another process has been migrating for 30 seconds, or if other transactions have held a table for
 *   that long. The changes that were applied until then stay, and the next call continues
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  fields: FieldColumns,
  options: MigrateOptions = {},
): Promise<string[]> {
  const { undo, dryRun } = readOptions('migrate', schema, options);
  const types = await typesOf(database);
  const journal = new Journal(database, types);
  const toAdd = (transaction: Transaction | null) =>
    undo === 0 ? fieldChanges({ database, types, transaction }, fields) : Promise.resolve([]);
  const isNeeded = async () => {
    const entries = await journal.read(null);
    const isComplete = migrations.every(({ name }) => entries.applied.includes(name));
    return !isComplete || entries.unfinished(migrations) !== null || (await toAdd(null)).length > 0;
  };
  const ran =
    undo !== 0 || (await reading(database, isNeeded))
      ? await locked(database, (held) => {
          const tools = { database, types, held, journal };
          return dryRun ? wouldRun(tools, migrations, undo, toAdd) : run(tools, migrations, undo, toAdd);
        })
      : [];
  if (undo === 0) await fields.check?.();
  return ran;
}

/** Returns the column types of the database's server. */
export async function typesOf(database: Database): Promise<ColumnTypes> {
  const { sequelize, dialect } = database;
  const sql = `SELECT ${dialect === 'sqlite' ? 'sqlite_version()' : 'version()'} AS version`;
  const [row] = await reading(database, () =>
    sequelize.query<{ version: string }>(sql, { transaction: null, type: QueryTypes.SELECT }),
  );
  return columnTypes(dialect, row?.version ?? '');
}

/** The work of a call. */
export interface Plan {
  readonly entries: Entries;
  readonly direction: Direction;
  readonly unfinished: Unfinished | null;
  readonly due: readonly Migration[];
  /** The migrations in `due` that are only recorded. */
  readonly included: readonly Migration[];
  /** The names of the migrations that will have run. */
  readonly names: readonly string[];
  readonly isPending: boolean;
}

type Planning = Omit<Tools, 'held'>;

/**
 * Returns the work of a call.
 *
 * @param undo the number of migrations to undo, `'all'`, or 0 to apply
 */
export async function planOf(
  { database, types, journal }: Planning,
  migrations: readonly Migration[],
  undo: number | 'all',
  transaction: Transaction | null,
): Promise<Plan> {
  const entries = await journal.read(transaction);
  const unfinished = entries.unfinished(migrations);
  if (undo === 0) {
    if (unfinished?.direction === 'down') throw new Error(undoInterrupted(unfinished.migration));
  } else requireAll(entries.begun, migrations);
  const direction = undo === 0 ? 'up' : 'down';
  // A migration completed in the same direction counts as part of this call.
  const resumed = unfinished?.direction === direction ? [unfinished.migration] : [];
  const applied = new Set(entries.applied);
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
  // Check the tables before anything is changed.
  const here = { database, transaction };
  const tables = async (those: readonly Migration[], name: (step: Step) => string | undefined) => {
    const steps = await Promise.all(those.map((one) => stepsOf(one, direction, { database, types })));
    return steps.flat().flatMap((step) => name(step) ?? []);
  };
  if (undo === 0) await requireFreeNames(here, await tables(due, createdBy));
  else await requireUnreferenced(here, await tables([...resumed, ...due], droppedBy));
  return {
    entries,
    direction,
    unfinished,
    due,
    // The tables that a first migration creates already include the changes of later migrations. So the later ones are
    // only recorded. They are recorded before the first one runs, because they must not run if it is interrupted.
    included: undo === 0 ? due.filter(({ first }) => due.some(({ name }) => name === first)) : [],
    names: [...resumed, ...due].map(({ name }) => name),
    // An undo of everything drops the journal too.
    isPending: due.length > 0 || unfinished !== null || (undo === 'all' && entries.hasTable),
  };
}

type ToAdd = (transaction: Transaction) => Promise<readonly FieldChange[]>;

async function wouldRun(
  tools: Tools,
  migrations: readonly Migration[],
  undo: number | 'all',
  toAdd: ToAdd,
): Promise<string[]> {
  return tools.held.transaction(async (transaction) => {
    const { names } = await planOf(tools, migrations, undo, transaction);
    return [...names, ...(await toAdd(transaction)).map(({ name }) => name)];
  });
}

async function run(
  tools: Tools,
  migrations: readonly Migration[],
  undo: number | 'all',
  toAdd: ToAdd,
): Promise<string[]> {
  const ran = await applyAll(tools, migrations, undo);
  return [...ran, ...(await addColumns(tools, toAdd))];
}

/** @returns the names of the migrations that ran */
async function applyAll(
  tools: Tools,
  migrations: readonly Migration[],
  undo: number | 'all',
): Promise<string[]> {
  const ran: string[] = [];
  for (;;) {
    const left = typeof undo === 'number' ? undo - ran.length : undo;
    if (undo !== 0 && left === 0) return ran;
    const plan = await tools.held.transaction((transaction) =>
      planOf(tools, migrations, undo === 0 ? 0 : left, transaction),
    );
    const done = new Set<string>();
    try {
      await apply(tools, plan, undo === 'all', done);
    } catch (error) {
      // On SQLite, another process can migrate between two transactions of this one.
      if (!(error instanceof Overtaken)) throw error;
      continue;
    } finally {
      ran.push(...plan.names.filter((name) => done.has(name)));
    }
    return ran;
  }
}

/** @param done gets the names of the migrations that ran */
async function apply(
  tools: Tools,
  { entries, direction, unfinished, due, included, isPending }: Plan,
  isUndone: boolean,
  done: Set<string>,
): Promise<void> {
  const { held, journal } = tools;
  if (!isPending) return;
  if (!entries.hasTable) await held.transaction((transaction) => journal.create(transaction));
  if (included.length > 0) {
    await held.transaction(async (transaction) => {
      for (const { name } of included) await journal.move(null, name, transaction);
    });
    for (const { name } of included) done.add(name);
  }
  if (unfinished) {
    await carryOut(tools, unfinished.migration, unfinished.direction, unfinished.step);
    if (unfinished.direction === direction) done.add(unfinished.migration.name);
  }
  for (const migration of due) {
    if (included.includes(migration)) continue;
    await carryOut(tools, migration, direction);
    done.add(migration.name);
  }
  if (isUndone) await held.transaction((transaction) => journal.drop(transaction));
}

/** Adds the columns of fields, each in a separate transaction. @returns their names */
async function addColumns({ database, held }: Tools, toAdd: ToAdd): Promise<string[]> {
  const added: string[] = [];
  for (;;) {
    const name = await held.ofTables(async (transaction) => {
      // Read the columns again, because on SQLite, another process can have added one.
      const [next] = await toAdd(transaction);
      if (next) await database.sequelize.query(next.sql, { transaction });
      return next?.name;
    });
    if (name === undefined) return added;
    added.push(name);
  }
}

function undoInterrupted({ name }: Migration): string {
  return (
    `latchkey: migrate: undoing ${name} has been interrupted, so some of its tables are missing. ` +
    "Call auth.migrate({ undo: 1 }) or { undo: 'all' } to complete the undo, which drops its other tables too, " +
    'or restore a backup of the database'
  );
}

/**
 * Requires all migrated plugins, because the tables of a missing plugin would refer to dropped tables, and break later
 * migrations.
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
