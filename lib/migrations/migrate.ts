import { QueryTypes, Transaction } from 'sequelize';
import { z } from 'zod';
import { readOptions } from '../config/options.js';
import type { Database } from '../database/database.js';
import { isRetryable, wasNotSent } from '../database/faults.js';
import { columnTypes } from './column-types.js';
import { Journal } from './journal.js';
import { type Migration, type MigrationContext, ownerOf } from './migration.js';

/** Options of `auth.migrate()`. */
export interface MigrateOptions {
  /**
   * How many applied migrations to undo, or `'all'`, which drops all of latchkey's tables and their data. Plugins'
   * migrations are undone first, in descending order of their names, then the core's, regardless of when they were
   * applied. Every plugin that was migrated must be in the config.
   * @default 0, which applies pending migrations
   */
  undo?: number | 'all';
}

const INVALID_UNDO = "must be 'all' or the number of migrations to undo: 0, 1, 2 …";
const schema = z.strictObject({
  undo: z.union([z.literal('all'), z.int().min(0, INVALID_UNDO)], INVALID_UNDO).default(0),
});

const LOCK_SECONDS = 30;

/**
 * Applies pending migrations, or undoes applied ones. Any number of processes may call this at once: one of them
 * migrates, the others wait and find nothing left to do. On PostgreSQL and SQLite it is atomic. MySQL commits each
 * statement, and a migration that one process left unfinished is completed by the next.
 *
 * @param migrations in the order in which they are applied; they are undone in reverse
 * @returns the names of the migrations that ran
 * @throws TypeError on invalid options
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  options: MigrateOptions = {},
): Promise<string[]> {
  const { undo } = readOptions('migrate', schema, options);
  return locked(database, async (transaction) => {
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
    await journal.open();
    if (undo !== 0) requireAll(await journal.begun(), migrations);
    const finished = await journal.finish(migrations);
    const direction = undo === 0 ? 'up' : 'down';
    // A migration completed in the same direction counts as part of this call.
    const begun = finished?.direction === direction ? [finished.name] : [];
    const applied = new Set(await journal.applied());
    const due =
      undo === 0
        ? migrations.filter(({ name }) => !applied.has(name))
        : migrations
            .filter(({ name }) => applied.has(name))
            .reverse()
            .slice(0, undo === 'all' ? undefined : undo - begun.length);
    for (const migration of due) await journal.carryOut(migration, direction);
    if (undo === 'all') await journal.drop();
    return [...begun, ...due.map(({ name }) => name)];
  });
}

/** A plugin's remaining table would reference dropped tables, and break the next migration. */
function requireAll(begun: readonly string[], migrations: readonly Migration[]): void {
  const unknown = begun.filter((name) => !migrations.some((migration) => migration.name === name));
  if (unknown.length === 0) return;
  const plugins = unknown.map((name) => {
    const owner = ownerOf(name);
    return owner ? `${owner} (${name})` : `the plugin of ${name}`;
  });
  throw new Error(
    `latchkey: migrate: undo requires every plugin that was migrated: add ${new Intl.ListFormat('en').format(plugins)} to plugins first`,
  );
}

type LockAnswer = [{ held: unknown }[], unknown];

/** Polls for the lock, because a statement that waits for it could exceed the connection's timeouts. */
async function untilHeld(take: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + LOCK_SECONDS * 1000; !(await take()); ) {
    if (Date.now() > end) {
      throw new Error(`latchkey: another process has been migrating for ${LOCK_SECONDS} seconds`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Runs `work` on one connection while holding the migration lock. */
async function locked<T>(database: Database, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const { sequelize, dialect } = database;
  const name = database.table('latchkey_migrations');
  if (dialect === 'sqlite')
    return whenFree(() => sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, work));
  const attempt = async (transaction: Transaction) => {
    const run = (sql: string) => sequelize.query(sql, { transaction, replacements: { name } });
    if (dialect === 'postgres') {
      await run(`SET LOCAL statement_timeout = '${LOCK_SECONDS}s'`);
      await run(`SET LOCAL lock_timeout = '${LOCK_SECONDS}s'`);
      await untilHeld(async () => {
        const sql = 'SELECT pg_try_advisory_xact_lock(hashtext(current_schema() || :name)) AS held';
        return ((await run(sql)) as LockAnswer)[0][0]?.held === true;
      });
      return work(transaction);
    }
    // The lock belongs to the connection, so it survives MySQL's implicit commits.
    const lock = 'MD5(CONCAT(DATABASE(), :name))';
    const take = async () => {
      const [[answer]] = (await run(`SELECT GET_LOCK(${lock}, 1) AS held`)) as LockAnswer;
      // The app may have configured mysql2 to return numbers as strings.
      return Number(answer?.held) === 1;
    };
    await untilHeld(take);
    try {
      return await work(transaction);
    } finally {
      await run(`SELECT RELEASE_LOCK(${lock})`);
    }
  };
  return whenFree(() => sequelize.transaction(attempt));
}

async function whenFree<T>(attempt: () => Promise<T>): Promise<T> {
  const end = Date.now() + LOCK_SECONDS * 1000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(isRetryable(error) || wasNotSent(error)) || Date.now() > end) throw withoutWrapping(error);
      await new Promise((resolve) => setTimeout(resolve, 50 + 50 * Math.random()));
    }
  }
}

/** Unwraps latchkey's own errors, such as one about a missing driver, from Sequelize's. */
function withoutWrapping(error: unknown): unknown {
  const { parent } = error as { parent?: Error };
  return parent?.message?.startsWith('latchkey: ') ? parent : error;
}
