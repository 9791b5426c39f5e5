import type { Sequelize, Transaction } from 'sequelize';
import { connectionManagerOf, withoutSilenceLimit } from '../database/connect.js';
import type { Database } from '../database/database.js';
import { isLockTimeout, isRetryable, wasNotSent } from '../database/faults.js';
import { managerLike } from '../database/side-connections.js';
import { performance, sleep } from '../timers.js';
import { journalTable } from './journal.js';

const LOCK_SECONDS = 30;
/** During this time, a statement on MySQL gives up immediately instead of waiting for a lock. */
const PATIENT_SECONDS = 10;
/** How long a statement on PostgreSQL waits for a lock before it gives way to the statements that wait behind it. */
const WAIT_MS = 250;
/** How long the creation of an index waits for older transactions. No other statements wait behind it. */
const INDEX_WAIT_MINUTES = 10;

const PAUSE_MS = { mysql: 20, postgres: WAIT_MS, sqlite: 50 };
const LATE_PAUSE_MS = 1000;

/** The operations of the process that holds the migration lock. */
export interface Held {
  /**
   * Runs `work` in a transaction. If the transaction does not get a lock soon, or the database aborts it, the whole
   * transaction is retried for up to 30 seconds. MySQL commits before and after each statement that changes tables.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * Like `transaction`, for a transaction that changes tables that others use. On MySQL, it does not wait for locks of
   * tables or rows.
   */
  ofTables<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * Runs statements of PostgreSQL one by one, outside a transaction and without time limits.
   *
   * @returns false if a pooler in front of the server does not allow that
   */
  outside(statements: readonly string[]): Promise<boolean>;
}

type LockAnswer = [{ held: unknown }[], unknown];
type Run = (sql: string) => Promise<unknown>;

/**
 * Runs `work` while holding the migration lock, which other processes wait for. Its statements have no time limit,
 * because changing a large table can take minutes. But they wait only briefly for locks of the app's transactions, and
 * are retried later, because all other statements on a table wait behind a waiting change of the table.
 *
 * On SQLite, each transaction takes the lock of the file instead, and other processes can migrate between two of them.
 */
export async function locked<T>(database: Database, work: (held: Held) => Promise<T>): Promise<T> {
  try {
    return await LOCKED[database.dialect](database, work);
  } catch (error) {
    throw inBrief(error);
  }
}

const LOCKED = { mysql: lockedOnMysql, postgres: lockedOnPostgres, sqlite: lockedOnSqlite };

function lockedOnSqlite<T>(
  { sequelize, statements }: Database,
  work: (held: Held) => Promise<T>,
): Promise<T> {
  const transaction: Held['transaction'] = (unit) =>
    whenFree('sqlite', () => sequelize.transaction(statements.ofTransactions, unit));
  return work({ transaction, ofTables: transaction, outside: async () => false });
}

/** Runs `read`. Retries it if an idle connection had died, or if the database was locked. */
export function reading<T>({ dialect }: Database, read: () => Promise<T>): Promise<T> {
  return whenFree(dialect, read);
}

/**
 * The lock belongs to a transaction on a connection outside the pool, and ends with either of them. So it also works
 * with a pooler that gives each transaction another connection to the server. This transaction holds no other locks and
 * no snapshot, so no other statement waits for it.
 */
async function lockedOnPostgres<T>(database: Database, work: (held: Held) => Promise<T>): Promise<T> {
  const { sequelize, statements } = database;
  const limits = limitsOf(`${WAIT_MS}ms`);
  return beside(sequelize, undefined, async (run) => {
    await run('START TRANSACTION ISOLATION LEVEL READ COMMITTED');
    try {
      await run(limits);
      await untilHeld(async () => {
        const sql = `SELECT pg_try_advisory_xact_lock(hashtext(current_schema() || ${nameIn(database)})) AS held`;
        return ((await run(sql)) as LockAnswer)[0][0]?.held === true;
      });
      const transaction: Held['transaction'] = (unit) =>
        whenFree('postgres', async () => {
          await run('SELECT 1').catch(lockLost);
          return sequelize.transaction(statements.ofTransactions, async (transaction) => {
            const { connection } = transaction as Transaction & { connection: object };
            return withoutSilenceLimit(connection, async () => {
              await sequelize.query(limits, { transaction });
              return unit(transaction);
            });
          });
        });
      return await work({
        transaction,
        ofTables: transaction,
        outside: (list) => outsideTransactions(sequelize, list),
      });
    } finally {
      await run('ROLLBACK').catch(() => undefined);
    }
  });
}

function lockLost(error: Error): never {
  throw new Error(
    `latchkey: migrate: the connection that held the migration lock was lost (${error.message}). ` +
      'Call auth.migrate() again: it continues where this call has stopped',
  );
}

/** The settings of a transaction. `transaction_timeout` exists since PostgreSQL 17. */
function limitsOf(lockTimeout: string): string {
  return `SELECT set_config(name, CASE name WHEN 'lock_timeout' THEN '${lockTimeout}' ELSE '0' END, true) FROM pg_settings
    WHERE name IN ('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;
}

/** The error code of a pooler that rejects settings of a connection. */
const PROTOCOL_VIOLATION = '08P01';

async function outsideTransactions(sequelize: Sequelize, statements: readonly string[]): Promise<boolean> {
  // With a pooler, a SET would also affect other clients' transactions, so these are settings of the connection.
  const settings = `-c statement_timeout=0 -c lock_timeout=${INDEX_WAIT_MINUTES}min`;
  try {
    return await beside(sequelize, settings, async (run) => {
      const sql = "SELECT current_setting('statement_timeout') = '0' AS held";
      // A pooler can also ignore the settings.
      if (((await run(sql)) as LockAnswer)[0][0]?.held !== true) return false;
      for (const one of statements) await run(one);
      return true;
    });
  } catch (error) {
    if ((error as SequelizeError).parent?.code === PROTOCOL_VIOLATION) return false;
    throw error;
  }
}

/**
 * Runs `work` on a connection outside the pool, because the app's transactions might hold all connections of the pool.
 */
async function beside<T>(
  sequelize: Sequelize,
  settings: string | undefined,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const manager = managerLike(sequelize, settings);
  try {
    const connection = await manager.getConnection({ type: 'UPDATE', useMaster: true });
    try {
      return await withoutSilenceLimit(connection, () => work(onConnection(sequelize, connection)));
    } finally {
      manager.releaseConnection(connection);
    }
  } finally {
    await manager.pool?.destroyAllNow();
  }
}

async function lockedOnMysql<T>(database: Database, work: (held: Held) => Promise<T>): Promise<T> {
  const { sequelize } = database;
  const manager = connectionManagerOf(sequelize);
  const lock = `MD5(CONCAT(DATABASE(), ${nameIn(database)}))`;
  const connection = await whenFree('mysql', () => openConnection(sequelize));
  const run = onConnection(sequelize, connection);
  // The lock belongs to the connection, so it survives MySQL's implicit commits.
  const hold = async () => {
    await untilHeld(async () => {
      const [[answer]] = (await run(`SELECT GET_LOCK(${lock}, 1) AS held`)) as LockAnswer;
      // The app might have configured mysql2 to return numbers as strings.
      return Number(answer?.held) === 1;
    });
    try {
      // Only MariaDB executes `/*M! */` comments, and only MariaDB limits the time of statements that write.
      await run(`SET @latchkey_wait = @@SESSION.lock_wait_timeout, @latchkey_row_wait = @@SESSION.innodb_lock_wait_timeout
        /*M!100101 , @latchkey_time = @@SESSION.max_statement_time, SESSION max_statement_time = 0 */`);
      const waiting =
        (rowSeconds: number): Held['transaction'] =>
        (unit) =>
          whenFree('mysql', async (isLate) => {
            const seconds = isLate ? 1 : 0;
            await run(`SET SESSION lock_wait_timeout = ${seconds},
              SESSION innodb_lock_wait_timeout = ${Math.max(seconds, rowSeconds)}`);
            return inTransaction(connection, run, unit);
          });
      // While a change of a table waits, MySQL reports a deadlock to each transaction that has read the table and then
      // writes to it. On MariaDB, 0 means not to wait at all. On MySQL, it means one second, which is the minimum.
      return await work({ transaction: waiting(1), ofTables: waiting(0), outside: async () => false });
    } finally {
      // A broken connection no longer has the lock or the settings, and `work` fails with the reason.
      await run(`SET SESSION lock_wait_timeout = @latchkey_wait, SESSION innodb_lock_wait_timeout = @latchkey_row_wait
        /*M!100101 , SESSION max_statement_time = @latchkey_time */`).catch(() => undefined);
      await run(`SELECT RELEASE_LOCK(${lock})`).catch(() => undefined);
    }
  };
  try {
    return await withoutSilenceLimit(connection, hold);
  } finally {
    manager.releaseConnection(connection);
  }
}

/** Takes a connection from the pool, and checks that it works, because an idle connection might have died. */
async function openConnection(sequelize: Sequelize): Promise<object> {
  const manager = connectionManagerOf(sequelize);
  const connection = await manager.getConnection({ type: 'UPDATE', useMaster: true });
  try {
    await onConnection(sequelize, connection)('SELECT 1');
    return connection;
  } catch (error) {
    manager.releaseConnection(connection);
    throw error;
  }
}

async function inTransaction<T>(
  connection: object,
  run: Run,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  await run('START TRANSACTION');
  try {
    const outcome = await work({ connection } as unknown as Transaction);
    await run('COMMIT');
    return outcome;
  } catch (error) {
    await run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Sends statements on a connection. Sequelize accepts any object with a connection as a transaction. */
function onConnection(sequelize: Sequelize, connection: object): Run {
  return (sql) => sequelize.query(sql, { transaction: { connection } as unknown as Transaction });
}

function nameIn(database: Database): string {
  return database.statements.literal(database.table(journalTable.name));
}

/** Polls for the lock, because a statement that waits for it could exceed the connection's timeouts. */
async function untilHeld(take: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + LOCK_SECONDS * 1000; !(await take()); ) {
    if (performance.now() > end) {
      throw new Error(
        `latchkey: migrate: another process has been migrating for ${LOCK_SECONDS} seconds. ` +
          'Call auth.migrate() again when that process has ended',
      );
    }
    await sleep(50);
  }
}

async function whenFree<T>(
  dialect: Database['dialect'],
  attempt: (isLate: boolean) => Promise<T>,
): Promise<T> {
  const begun = performance.now();
  for (let attempts = 1; ; attempts++) {
    const isLate = performance.now() - begun > PATIENT_SECONDS * 1000;
    try {
      return await attempt(isLate);
    } catch (error) {
      const isOver = performance.now() - begun > LOCK_SECONDS * 1000;
      const canSucceed = isRetryable(error) || wasNotSent(error) || (attempts === 1 && isRefused(error));
      if (!canSucceed || isOver) throw inBrief(error);
    }
    // The statements that waited behind this one get their turn.
    const pauseMs = isLate && dialect === 'mysql' ? LATE_PAUSE_MS : PAUSE_MS[dialect];
    await sleep(pauseMs * (0.5 + Math.random()));
  }
}

// The pool sometimes opens two connections for one caller. If both fail, the second failure reaches the next caller.
function isRefused(error: unknown): boolean {
  return (error as Error).name === 'SequelizeConnectionRefusedError';
}

interface SequelizeError extends Error {
  readonly parent?: Error & { readonly code?: string };
  readonly sql?: string;
}

/** Shortens Sequelize's errors, which repeat the statement three times and are hundreds of lines long when printed. */
function inBrief(error: unknown): unknown {
  const { name, message, parent, sql } = error as SequelizeError;
  // Errors of latchkey, such as one about a missing driver, are returned as they are.
  if (parent?.message?.startsWith('latchkey: ')) return parent;
  if (!name?.startsWith('Sequelize')) return error;
  const [statement] = /^\s*(\w+ \w+ \w+)/.exec(sql ?? '')?.slice(1) ?? [];
  const code = parent?.code ?? name;
  const what = `${statement ? `${statement} failed: ` : ''}${code}: ${parent?.message || message}`;
  const remedy = isLockTimeout(error)
    ? '. Other transactions have held the table for too long. End them, then call auth.migrate() again'
    : '';
  return Object.assign(new Error(`latchkey: migrate: ${what}${remedy}`), { code });
}
