import { Transaction } from 'sequelize';
import { withoutSilenceLimit } from '../database/connect.js';
import type { Database } from '../database/database.js';
import { isRetryable, wasNotSent } from '../database/faults.js';

const LOCK_SECONDS = 30;

type LockAnswer = [{ held: unknown }[], unknown];
type Run = (sql: string) => Promise<unknown>;

/**
 * Runs `work` on one connection while holding the migration lock. Its statements have no time limit, because changing a
 * large table can take minutes. But they wait at most 30 seconds for locks of the app's transactions, because all other
 * statements would wait behind them.
 *
 * @throws Error with a short message and no SQL dump
 */
export async function locked<T>(
  database: Database,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const { sequelize, dialect } = database;
  if (dialect === 'sqlite')
    return whenFree(() => sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, work));
  const name = database.table('latchkey_migrations');
  const attempt = (transaction: Transaction) => {
    const run: Run = (sql) => sequelize.query(sql, { transaction, replacements: { name } });
    const { connection } = transaction as Transaction & { connection: unknown };
    const hold = dialect === 'postgres' ? holdOnPostgres : holdOnMysql;
    return withoutSilenceLimit(connection, () => hold(run, () => work(transaction)));
  };
  return whenFree(() => sequelize.transaction(attempt));
}

async function holdOnPostgres<T>(run: Run, work: () => Promise<T>): Promise<T> {
  await run('SET LOCAL statement_timeout = 0');
  await run('SET LOCAL idle_in_transaction_session_timeout = 0');
  await run(`SET LOCAL lock_timeout = '${LOCK_SECONDS}s'`);
  await untilHeld(async () => {
    const sql = 'SELECT pg_try_advisory_xact_lock(hashtext(current_schema() || :name)) AS held';
    return ((await run(sql)) as LockAnswer)[0][0]?.held === true;
  });
  return work();
}

async function holdOnMysql<T>(run: Run, work: () => Promise<T>): Promise<T> {
  // The lock belongs to the connection, so it survives MySQL's implicit commits.
  const lock = 'MD5(CONCAT(DATABASE(), :name))';
  await untilHeld(async () => {
    const [[answer]] = (await run(`SELECT GET_LOCK(${lock}, 1) AS held`)) as LockAnswer;
    // The app might have configured mysql2 to return numbers as strings.
    return Number(answer?.held) === 1;
  });
  try {
    // Only MariaDB executes `/*M! */` comments, and only MariaDB limits the time of statements that write.
    await run(`SET @latchkey_wait = @@SESSION.lock_wait_timeout, SESSION lock_wait_timeout = ${LOCK_SECONDS}
      /*M!100101 , @latchkey_time = @@SESSION.max_statement_time, SESSION max_statement_time = 0 */`);
    return await work();
  } finally {
    // A broken connection no longer has the lock or the settings, and `work` fails with the reason.
    await run(`SET SESSION lock_wait_timeout = @latchkey_wait
      /*M!100101 , SESSION max_statement_time = @latchkey_time */`).catch(() => undefined);
    await run(`SELECT RELEASE_LOCK(${lock})`).catch(() => undefined);
  }
}

/** Polls for the lock, because a statement that waits for it could exceed the connection's timeouts. */
async function untilHeld(take: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + LOCK_SECONDS * 1000; !(await take()); ) {
    if (performance.now() > end) {
      throw new Error(`latchkey: another process has been migrating for ${LOCK_SECONDS} seconds`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function whenFree<T>(attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + LOCK_SECONDS * 1000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(isRetryable(error) || wasNotSent(error)) || performance.now() > end) throw inBrief(error);
      await new Promise((resolve) => setTimeout(resolve, 50 + 50 * Math.random()));
    }
  }
}

interface SequelizeError extends Error {
  readonly parent?: Error & { readonly code?: string };
  readonly sql?: string;
}

/** Shortens Sequelize's errors, which contain the statement three times and are hundreds of lines long when printed. */
function inBrief(error: unknown): unknown {
  const { name, message, parent, sql } = error as SequelizeError;
  // Errors of latchkey, such as one about a missing driver, are returned as they are.
  if (parent?.message?.startsWith('latchkey: ')) return parent;
  if (!name?.startsWith('Sequelize')) return error;
  const [statement] = /^\s*(\w+ \w+ \w+)/.exec(sql ?? '')?.slice(1) ?? [];
  const code = parent?.code ?? name;
  const what = `${statement ? `${statement} failed: ` : ''}${code}: ${parent?.message || message}`;
  return Object.assign(new Error(`latchkey: migrate: ${what}`), { code });
}
