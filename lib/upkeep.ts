import { closedForLong } from './accounts/deletion.js';
import { flag, readOptions, schemaOf } from './config/options.js';
import { withTimeout } from './context/deadline.js';
import { once } from './context/once.js';
import type { Core } from './core/core.js';
import { type Chore, runChores } from './database/chores.js';
import { type Health, HealthCheck } from './health.js';
import type { LimitStore } from './limits/store.js';
import { coreMigrations } from './migrations/core.js';
import { migrationsOf } from './migrations/create.js';
import { type MigrateOptions, migrate } from './migrations/migrate.js';
import { OutboxApi } from './outbox/api.js';
import type { Webhooks } from './outbox/webhooks.js';
import { byName, type NamedParts } from './plugin.js';
import { coreTables, rateLimits } from './tables/core.js';

const CLOSING_MS = 10_000;

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
   */
  migrate(options?: MigrateOptions): Promise<string[]>;
  /**
   * Deletes expired rows in batches. Resolves to the number of rows. Call it regularly, from a timer or a job.
   *
   * @throws TypeError on invalid options
   * @throws AuthError `unavailable` (503) if the database is unavailable
   */
  prune(options?: DryRunOption): Promise<number>;
  /**
   * Re-encrypts data with the first secret, in batches. Resolves to the number of rows. Afterwards you can remove the
   * older secrets from the config. Rows that cannot be decrypted stay as they are, and are not counted.
   *
   * @throws TypeError on invalid options
   * @throws AuthError `unavailable` (503) if the database is unavailable
   */
  rotateSecrets(options?: DryRunOption): Promise<number>;
  /**
   * Checks whether the parts that latchkey relies on work, in at most 2 seconds. Never rejects.
   *
   * @example
   * app.get('/health', async (_req, res) => {
   *   const health = await auth.health();
   *   res.status(health.ok ? 200 : 503).json(health);
   * });
   */
  health(): Promise<Health>;
  /** The emails and webhooks to send. */
  readonly outbox: OutboxApi;
  /**
   * Waits up to 10 seconds for unfinished work, such as emails, then closes the connections that latchkey opened. If
   * the work takes longer, a warning is logged. The app's own Sequelize instance stays open. Later calls return the
   * same promise.
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
export function choresOf(core: Core, parts: readonly NamedParts[], limits: LimitStore | null): Chores {
  const { sessions, takenOver, tokens, devices, changes, outbox } = core;
  const counters = core.database.table(rateLimits.name);
  return {
    // Rows that are deleted together with a session or an account come first, so that deletions count them too.
    expired: [
      ...parts.flatMap(({ expired = [] }) => expired),
      ...[takenOver, tokens, devices, changes, outbox.rows, sessions].flatMap(({ expired }) => expired),
      ...(limits ? [{ table: counters, run: (dryRun: boolean) => limits.prune(dryRun) }] : []),
      closedForLong(core),
    ],
    sealed: [
      ...[changes, takenOver, outbox.rows].map(({ sealed }) => sealed),
      ...parts.flatMap(({ sealed = [] }) => sealed),
    ],
  };
}

/**
 * @param onClose called as soon as `close` is called
 *
 * @internal
 */
export function upkeep(
  core: Core,
  parts: readonly NamedParts[],
  chores: Chores,
  limits: LimitStore | null,
  webhooks: Webhooks,
  onClose: () => void,
): Upkeep {
  const { database, settings, outbox } = core;
  const migrations = [
    ...migrationsOf('core', { tables: coreTables, migrations: coreMigrations }),
    ...parts.flatMap((part) => migrationsOf(part.name, part)).sort(byName),
  ];
  const health = new HealthCheck(
    database,
    migrations.map(({ name }) => name),
    limits,
    outbox.rows,
  );
  // Wait for requests first, because they cause emails, and then for events, because they become webhooks.
  const settle = async () => {
    await core.context.idle();
    await webhooks.settle();
    await core.settle();
  };
  const tooLong = () =>
    settings.logger.warn(
      `latchkey: auth.close() has waited for ${CLOSING_MS / 1000} seconds, and no longer waits for unfinished requests, emails or webhooks`,
    );
  return {
    async migrate(options) {
      const ran = await migrate(database, migrations, core.users.fieldColumns, options);
      // Reading the clock makes the outbox look for entries that an earlier process has left.
      await database.ready();
      return ran;
    },
    prune: (options) => sumOf('prune', chores.expired, options),
    rotateSecrets: (options) => sumOf('rotateSecrets', chores.sealed, options),
    health: () => health.look(),
    outbox: new OutboxApi(outbox, database),
    close: once(async () => {
      onClose();
      outbox.stop();
      await withTimeout(settle(), CLOSING_MS, tooLong).catch(() => undefined);
      await limits?.close();
      await database.settle();
      if (typeof settings.database === 'string') await database.sequelize.close();
    }),
  };
}

async function sumOf(what: string, chores: readonly Chore[], options: DryRunOption = {}): Promise<number> {
  const { dryRun } = readOptions(what, schema, options);
  return (await runChores(chores, dryRun)).rows;
}
