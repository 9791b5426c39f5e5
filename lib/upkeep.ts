import { closedForLong } from './accounts/deletion.js';
import { flag, readOptions, schemaOf } from './config/options.js';
import { withTimeout } from './context/deadline.js';
import { once } from './context/once.js';
import type { Core } from './core/core.js';
import { type Chore, runChores } from './database/chores.js';
import { type Health, HealthCheck } from './health.js';
import type { Log } from './logger.js';
import { coreMigrations } from './migrations/core.js';
import { migrationsOf } from './migrations/create.js';
import { type MigrateOptions, migrate } from './migrations/migrate.js';
import type { Migration } from './migrations/migration.js';
import { exposuresOf, findTools, fixOf, type OwnTables } from './migrations/other-tools.js';
import { OutboxApi } from './outbox/api.js';
import type { Webhooks } from './outbox/webhooks.js';
import { byName, type NamedSetup } from './plugin.js';
import { coreTables, rateLimits } from './tables/core.js';
import { performance } from './timers.js';
import { expiredWaiting } from './waiting/tables.js';

// The waits of close() take 9 seconds in total, because Docker kills a container 10 seconds after SIGTERM.
const CLOSE_MS = 9000;
/** The time that unfinished work has. */
const CLOSING_MS = 7000;
/** The time that connections of emails have to close after their signals are aborted. */
const ABORTING_MS = 1000;

/** The options of `auth.prune()` and `auth.rotateSecrets()`. */
export interface DryRunOption {
  /** Whether to change nothing, and only resolve to the number of rows to delete or re-encrypt. @default false */
  dryRun?: boolean;
}

/** @internal */
export const schema = () => schemaOf<DryRunOption>()({ dryRun: flag.default(false) });

/** The operations that keep an Auth running. */
export interface Upkeep {
  /**
   * Runs pending migrations, or undoes applied ones. Several processes can safely call it at the same time. Resolves to
   * the names of the migrations that ran.
   *
   * The app can use the tables meanwhile: each change gives way to other transactions, and is retried for up to 30
   * seconds. If nothing is pending, the call only reads, so the database user does not have to be allowed to change
   * tables. If a call is interrupted, the next call completes it.
   *
   * If the working directory has the config of a tool that would drop latchkey's tables, such as Drizzle or Prisma, a
   * warning with the lines to add is logged.
   *
   * @throws TypeError on invalid options
   * @throws Error if the config needs a package that is not installed, if the database does not respond, if another
   *   process has been migrating or other transactions have held a table for 30 seconds, or if a table to create exists
   *   already
   */
  migrate(options?: MigrateOptions): Promise<string[]>;
  /**
   * Deletes expired rows in batches. Resolves to the number of deleted rows. Call it regularly, from a timer or a job.
   *
   * @throws TypeError on invalid options
   * @throws AuthError `unavailable` (503) if the database is unavailable
   */
  prune(options?: DryRunOption): Promise<number>;
  /**
   * Re-encrypts data with the first secret, in batches. Resolves to the number of re-encrypted rows. Afterwards, you
   * can remove the older secrets from the config. Rows that cannot be decrypted stay as they are, and are not counted.
   *
   * @throws TypeError on invalid options
   * @throws AuthError `unavailable` (503) if the database is unavailable
   */
  rotateSecrets(options?: DryRunOption): Promise<number>;
  /**
   * Checks whether guarded routes and sign-ins work, in at most 2 seconds: looks up a session, reads the tables and
   * columns that sign-ins use, writes a row and undoes the write, and counts in the store of the rate limits. Never
   * rejects. Concurrent calls share a check.
   *
   * @example
   * app.get('/health', async (_req, res) => {
   *   const health = await auth.health();
   *   res.status(health.ok ? 200 : 503).json({ ok: health.ok });
   * });
   */
  health(): Promise<Health>;
  /** Lists and retries the emails and webhooks in the outbox. */
  readonly outbox: OutboxApi;
  /**
   * Waits up to 7 seconds for unfinished work, such as emails, then closes the connections that latchkey opened. If
   * the work takes longer, a warning is logged, and the signals of the emails that are being sent are aborted. It takes
   * 9 seconds at most. The app's own Sequelize instance stays open. Later calls return the same promise.
   */
  close(): Promise<void>;
}

/**
 * The work of `auth.prune()` and `auth.rotateSecrets()`.
 *
 * @internal
 */
export interface Chores {
  readonly expired: readonly Chore[];
  readonly sealed: readonly Chore[];
}

/** @internal */
export function choresOf(core: Core, parts: readonly NamedSetup[]): Chores {
  const { sessions, devices, history, outbox, limits, counters, humanCheck } = core;
  const table = core.database.table(rateLimits.name);
  return {
    // Rows that are deleted together with a session or an account come first, so that deletions count them too.
    expired: [
      ...expiredWaiting(core),
      ...parts.flatMap(({ expired = [] }) => expired),
      ...[devices, history, outbox.rows, sessions].flatMap(({ expired }) => expired),
      ...(limits || humanCheck ? [{ table, run: (dryRun: boolean) => counters.prune(dryRun) }] : []),
      closedForLong(core),
    ],
    sealed: [
      ...[history, core.imported, outbox.rows].map(({ sealed }) => sealed),
      ...parts.flatMap(({ sealed = [] }) => sealed),
    ],
  };
}

/**
 * Returns all migrations in the order in which they are applied.
 *
 * @internal
 */
export function allMigrations(parts: readonly NamedSetup[]): Migration[] {
  return [
    ...migrationsOf('core', { tables: coreTables, migrations: coreMigrations }),
    ...parts.flatMap((part) => migrationsOf(part.name, part)).sort(byName),
  ];
}

/** What {@link upkeep} needs in addition to the core. */
interface UpkeepNeeds {
  readonly migrations: readonly Migration[];
  readonly tables: OwnTables;
  readonly chores: Chores;
  readonly webhooks: Webhooks;
  /** Called as soon as `close` is called. */
  onClose(): void;
}

/** @internal */
export function upkeep(core: Core, { migrations, tables, chores, webhooks, onClose }: UpkeepNeeds): Upkeep {
  const { database, settings, outbox, counters } = core;
  const health = new HealthCheck(
    core,
    migrations.map(({ name }) => name),
  );
  // Wait for requests first, because they cause emails, and then for events, because they become webhooks.
  const settle = async () => {
    await core.context.idle();
    await database.commits.close();
    core.limiter.flush();
    await webhooks.settle();
    await core.settle();
  };
  const { log } = settings;
  const giveUp = async () => {
    log.warn(
      'close.timed_out',
      `auth.close() has waited for ${CLOSING_MS / 1000} seconds, and no longer waits for unfinished requests, emails or webhooks`,
      { durationMs: CLOSING_MS },
    );
    const unfinished = await outbox.abort(ABORTING_MS);
    if (unfinished.length === 0) return;
    const what = [...new Set(unfinished)].join(', ');
    log.warn(
      'close.still_sending',
      `auth.close() could not stop emails or webhooks that are being sent, so their connections can keep the process alive (${unfinished.length}: ${what}): make send stop when its signal is aborted`,
      { count: unfinished.length },
    );
  };
  const disconnect = async () => {
    await counters.close();
    await core.codeTries.close();
    await database.settle();
    if (typeof settings.database === 'string') await database.sequelize.close();
  };
  return {
    async migrate(options) {
      await core.load();
      const ran = await migrate(database, migrations, core.users.fieldColumns, options);
      // Reading the clock makes the outbox look for entries that an earlier process has left.
      await database.ready();
      if (!options?.dryRun && !options?.undo) warnAboutTools(tables, log);
      return ran;
    },
    prune: (options) => sumOf('prune', chores.expired, options),
    rotateSecrets: (options) => sumOf('rotateSecrets', chores.sealed, options),
    health: () => health.look(),
    outbox: new OutboxApi(outbox, database),
    close: once(async () => {
      const end = performance.now() + CLOSE_MS;
      onClose();
      outbox.stop();
      const settled = settle().catch(() => undefined);
      await withTimeout(settled, CLOSING_MS, () => undefined).catch(giveUp);
      // A connection that does not respond cannot be closed, but nothing is lost with it.
      const late = () => null;
      await withTimeout(disconnect(), Math.max(0, end - performance.now()), late, false).catch((error) => {
        if (error !== null) throw error;
      });
      log.close();
    }),
  };
}

/** Other tools could drop the tables while the app runs, so this does not wait until something else fails. */
function warnAboutTools(tables: OwnTables, log: Log): void {
  for (const exposure of exposuresOf(findTools(), tables))
    log.warn('tables.not_excluded', `${exposure.problem}: ${fixOf(exposure)}`, { cause: null });
}

async function sumOf(what: string, chores: readonly Chore[], options: DryRunOption = {}): Promise<number> {
  const { dryRun } = readOptions(what, schema, options);
  return (await runChores(chores, dryRun)).rows;
}
