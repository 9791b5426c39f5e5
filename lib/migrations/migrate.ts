import { QueryTypes, Transaction } from 'sequelize';
import { z } from 'zod';
import type { Database } from '../database/database.js';
import { isRetryable, wasNotSent } from '../database/faults.js';
import { readOptions } from '../options.js';
import { columnTypes } from './column-types.js';
import { Journal } from './journal.js';
import type { Migration, MigrationContext } from './migration.js';

/** What `auth.migrate()` takes. */
export interface MigrateOptions {
  /**
   * How many of the applied migrations to undo, or `'all'`, which drops every table of latchkey and what is in it. Those
   * of plugins go first, the highest name before the others, and then the core's, whenever each was applied. Every
   * plugin that was migrated must be in the config.
   * @default 0, which applies what is pending
   */
  undo?: number | 'all';
}

const HOW_MANY = "must be 'all' or how many migrations to undo: 0, 1, 2 …";
const schema = z.strictObject({
  undo: z.union([z.literal('all'), z.int().min(0, HOW_MANY)], HOW_MANY).default(0),
});

/** Which plugin brings a migration: of one that is not in the config, nobody else can tell. */
const PLUGINS: Record<string, string> = {
  '0002-accounts': 'oauth()',
  '0003-api-keys': 'apiKeys()',
  '0005-one-time-tokens': 'credentialPassword()',
  '0006-audit-events': 'auditLog()',
};

const LOCK_SECONDS = 30;

/**
 * Applies pending migrations, or undoes applied ones. Any number of processes may call this at once: one works, the
 * others wait for it and find nothing left to do. On PostgreSQL and SQLite all of it happens or nothing; MySQL commits
 * each statement, and what a process has left half done there, the next one ends.
 *
 * @param migrations in the order in which they are applied; they are undone in the reverse
 * @returns the names of the migrations that ran
 * @throws TypeError on options that make no sense
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  options: MigrateOptions = {},
): Promise<string[]> {
  const { undo } = readOptions('migrate', schema, options);
  const { Umzug } = await import('umzug');
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
    const umzug = new Umzug({
      logger: undefined,
      // The journal keeps its own record, together with the migration's last statement.
      storage: {
        executed: () => journal.applied(),
        logMigration: async () => undefined,
        unlogMigration: async () => undefined,
      },
      migrations: migrations.map((migration) => ({
        name: migration.name,
        up: () => journal.carryOut(migration, 'up'),
        down: () => journal.carryOut(migration, 'down'),
      })),
    });
    // What was left half done counts as a part of this call, where both went the same way.
    const begun = finished?.direction === (undo === 0 ? 'up' : 'down') ? [finished.name] : [];
    if (undo === 0) return [...begun, ...(await umzug.up()).map(({ name }) => name)];
    const left = undo === 'all' ? undo : undo - begun.length;
    const undone = left === 0 ? [] : await umzug.down(left === 'all' ? { to: 0 } : { step: left });
    if (undo === 'all') await journal.drop();
    return [...begun, ...undone.map(({ name }) => name)];
  });
}

/** What stays behind unknown would refer to tables that are gone, and stand in the way of the next migration. */
function requireAll(begun: readonly string[], migrations: readonly Migration[]): void {
  const unknown = begun.filter((name) => !migrations.some((migration) => migration.name === name));
  if (unknown.length === 0) return;
  const plugins = unknown.map((name) =>
    PLUGINS[name] ? `${PLUGINS[name]} (${name})` : `what brings ${name}`,
  );
  throw new Error(
    `latchkey: migrate: undo needs every plugin that was migrated: add ${new Intl.ListFormat('en').format(plugins)} to plugins first`,
  );
}

type LockAnswer = [{ held: number | boolean }[], unknown];

/** Asks now and then, because a statement that waits for long would meet the connection's limits. */
async function untilHeld(take: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + LOCK_SECONDS * 1000; !(await take()); ) {
    if (Date.now() > end) {
      throw new Error(`latchkey: another process has been migrating for ${LOCK_SECONDS} seconds`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Runs work on one connection while no other process can migrate the same tables. */
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
    // The lock belongs to the connection, so that it outlives the commits that MySQL makes at each CREATE TABLE.
    const lock = 'MD5(CONCAT(DATABASE(), :name))';
    const take = async () =>
      ((await run(`SELECT GET_LOCK(${lock}, 1) AS held`)) as LockAnswer)[0][0]?.held === 1;
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

/** What latchkey says itself, that a driver is missing, say, would be lost in what Sequelize says of it. */
function withoutWrapping(error: unknown): unknown {
  const { parent } = error as { parent?: Error };
  return parent?.message?.startsWith('latchkey: ') ? parent : error;
}
