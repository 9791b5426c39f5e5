import { withTimeout } from './context/deadline.js';
import { once } from './context/once.js';
import type { Core } from './core/core.js';
import { pruneAccounts } from './core/deletion.js';
import { OutboxApi } from './core/outbox-api.js';
import { type Health, HealthCheck } from './health.js';
import type { LimitStore } from './limits/store.js';
import { coreMigrations } from './migrations/core.js';
import { type MigrateOptions, migrate } from './migrations/migrate.js';
import { byName, type NamedParts, sumOf } from './plugin.js';
import type { Webhooks } from './webhooks/webhooks.js';

const CLOSING_MS = 10_000;

/** What keeps an Auth running. */
export interface Upkeep {
  /**
   * Runs pending migrations, or undoes applied ones. Safe to call in several processes at once. Resolves to the names
   * of the migrations that ran.
   */
  migrate(options?: MigrateOptions): Promise<string[]>;
  /** Deletes expired rows in batches. Resolves to their number. Call it regularly, from a timer or a job. */
  prune(): Promise<number>;
  /**
   * Re-encrypts data with the first secret, in batches. Resolves to the number of rows. Afterwards the older secrets
   * can be removed from the config.
   */
  rotateSecrets(): Promise<number>;
  /**
   * Whether the parts that latchkey relies on work, in 2 seconds at most. Never rejects.
   *
   * @example
   * app.get('/health', async (_req, res) => {
   *   const health = await auth.health();
   *   res.status(health.ok ? 200 : 503).json(health);
   * });
   */
  health(): Promise<Health>;
  /** The emails and webhooks that are to be sent. */
  readonly outbox: OutboxApi;
  /**
   * Waits up to 10 seconds for what is under way, such as emails, then closes the connections that latchkey opened. The app's
   * own Sequelize instance stays open. Calling it again returns the same promise.
   */
  close(): Promise<void>;
}

/**
 * @param onClose called at once when it is closed
 *
 * @internal
 */
export function upkeep(
  core: Core,
  parts: readonly NamedParts[],
  limits: LimitStore | null,
  webhooks: Webhooks,
  onClose: () => void,
): Upkeep {
  const { database, settings, outbox } = core;
  const migrations = [...coreMigrations, ...parts.flatMap(({ migrations = [] }) => migrations).sort(byName)];
  const health = new HealthCheck(
    database,
    migrations.map(({ name }) => name),
    limits,
    outbox.rows,
  );
  // Requests first, which cause emails; and events, which become webhooks.
  const settle = async () => {
    await core.context.idle();
    await webhooks.settle();
    await core.settle();
  };
  return {
    async migrate(options) {
      const ran = await migrate(database, migrations, core.fieldColumns, options);
      // From now on, the outbox looks for what an earlier process has left.
      await database.ready();
      return ran;
    },
    prune: () =>
      sumOf(
        [{ prune: () => pruneAccounts(core) }, core, limits, ...parts].map((part) => part?.prune?.bind(part)),
      ),
    rotateSecrets: () =>
      sumOf(
        [core.changes, core.carried, outbox.rows, ...parts].map((part) => part.rotateSecrets?.bind(part)),
      ),
    health: () => health.look(),
    outbox: new OutboxApi(outbox),
    close: once(async () => {
      onClose();
      outbox.stop();
      await withTimeout(settle(), CLOSING_MS, () => undefined).catch(() => undefined);
      await limits?.close();
      await database.settle();
      if (typeof settings.database === 'string') await database.sequelize.close();
    }),
  };
}
