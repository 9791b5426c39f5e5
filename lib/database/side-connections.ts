import type { Sequelize, Transaction } from 'sequelize';
import { withTimeout } from '../context/deadline.js';
import { type ConnectionManager, connectionManagerOf, type DialectOptions } from './connect.js';
import type { Database } from './database.js';
import { asFailure, isRetryable } from './faults.js';
import { noAnswer } from './turn.js';

const POOL = { max: 2, min: 0, acquire: 2000 };
const DEADLINE_MS = 4000;
const MAX_ATTEMPTS = 3;

/**
 * Up to two connections in addition to the pool, for statements that take effect even if the app's transaction is
 * rolled back. They do not come from the pool, because transactions that wait for these statements might hold all its
 * connections.
 */
export class SideConnections {
  #opened: ConnectionManager | undefined;

  constructor(private readonly database: Database) {}

  /** Runs `work`. Each of its statements commits itself. If the database aborts a statement, `work` can run again. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await withTimeout(this.#use(work), DEADLINE_MS, noAnswer);
      } catch (error) {
        this.database.primary.observe(error);
        if (attempt === MAX_ATTEMPTS || !isRetryable(error)) throw asFailure(error);
      }
    }
  }

  async close(): Promise<void> {
    const { pool } = this.#opened ?? {};
    this.#opened = undefined;
    await pool?.drain();
    await pool?.destroyAllNow();
  }

  async #use<T>(work: () => Promise<T>): Promise<T> {
    this.#opened ??= managerLike(this.database.sequelize);
    const manager = this.#opened;
    const connection = await manager.getConnection({ type: 'UPDATE', useMaster: true });
    const release = () => manager.releaseConnection(connection);
    await this.database.primary.check(connection, manager);
    // Sequelize sends a statement on the connection of its transaction.
    const handle = { connection } as unknown as Transaction;
    const joined = {
      handle,
      commitsItself: true,
      exclusively: <R>(unit: () => Promise<R>) => unit(),
      afterCommit: (after: () => void) => after(),
    };
    return this.database.context.inTransaction(joined, work).finally(release);
  }
}

/**
 * Creates a manager that opens connections with the options and hooks of the instance, in a separate pool.
 *
 * @param settings the settings of PostgreSQL connections, as in `-c name=value`, in place of the driver's time limits
 */
export function managerLike(sequelize: Sequelize, settings?: string): ConnectionManager {
  const connectionManager = connectionManagerOf(sequelize);
  const manager: ConnectionManager = Object.create(connectionManager);
  const { replication, ...config } = connectionManager.config;
  const own = { ...config, ...replication?.write };
  manager.config = {
    ...own,
    pool: { ...own.pool, ...POOL },
    dialectOptions: settings ? withSettings(own.dialectOptions, settings) : own.dialectOptions,
  };
  manager.initPools();
  return manager;
}

// The driver sends its time limits separately from `options`, and they would override the settings.
function withSettings({ options, ...others }: DialectOptions = {}, settings: string): DialectOptions {
  const all = options ? `${options} ${settings}` : settings;
  return { ...others, statement_timeout: 0, lock_timeout: 0, query_timeout: 0, options: all };
}
