import type { Sequelize, Transaction } from 'sequelize';
import { type ConnectionManager, connectionManagerOf, type Dialect } from './connect.js';
import { isBusy } from './faults.js';
import { digestList } from './literal.js';
import type { Primary } from './primary.js';
import type { Turn } from './turn.js';

/** The rows that a statement has selected, or the number of rows that it has changed. */
export type Outcome = object[] | number;

/** The kind of a statement, and the transaction it belongs to. */
export interface Place {
  readonly isSelect: boolean;
  readonly transaction?: Transaction | undefined;
  /** Prevents the statement from being sent if it gets a connection too late. */
  readonly turn?: Turn | undefined;
}

type Work = (connection: object) => Promise<Outcome>;
/** Sends a statement. With values, it is a prepared statement on MySQL. */
type Send = (
  connection: object,
  sql: string,
  isSelect: boolean,
  values?: readonly Buffer[],
) => Promise<Outcome>;
type Done<Result> = (error: Error | null, result: Result) => void;

/** The parts of mysql2's connections that latchkey uses. */
interface MysqlConnection {
  query(sql: string, done: Done<object[] | { affectedRows: number }>): void;
  execute(sql: string, values: readonly Buffer[], done: Done<object[]>): void;
}

/** The parts of pg's connections that latchkey uses. */
interface PostgresConnection {
  /** Whether Sequelize's pool must drop the connection. */
  _invalid?: boolean;
  query(sql: string, done: Done<{ fields: unknown[]; rows: object[]; rowCount: number | null }>): void;
}

/** The parts of its own SQLite connections that latchkey uses. */
interface SqliteConnection {
  /** Waits until the file is open. */
  serialize(work: () => void): void;
  all(sql: string, done: Done<object[]>): void;
  run(sql: string, done: (this: { changes: number }, error: Error | null) => void): void;
}

/** The parts of Sequelize's Transaction that its types omit. */
interface TransactionInternals {
  readonly connection: object;
  /** The outer transaction, if this is a savepoint. */
  readonly parent?: Transaction;
  /** Missing for a side connection. */
  rollback?(): Promise<void>;
  finished?: 'commit' | 'rollback';
}
const inner = (transaction: Transaction) => transaction as unknown as TransactionInternals;

interface Internals {
  readonly dialect: {
    readonly Query: new (connection: object, sequelize: Sequelize, options: object) => Query;
  };
}
interface Query {
  formatError(error: unknown, stack?: string): Error;
}

// The server, or a proxy in front of it, does not support prepared statements, or cannot keep any more of them.
const NOT_PREPARED = new Set([
  'ER_MAX_PREPARED_STMT_COUNT_REACHED',
  'ER_NEED_REPREPARE',
  'ER_UNKNOWN_COM_ERROR',
  'ER_UNKNOWN_STMT_HANDLER',
  'ER_UNSUPPORTED_PS',
]);

const BUSY_PAUSES_MS = [10, 20, 30, 60, 110, 200];

/** The statements that begin transactions. On MySQL, the isolation level is set on the connection. */
const BEGIN: Partial<Record<Dialect, string>> = {
  mysql: 'START TRANSACTION',
  postgres: 'START TRANSACTION ISOLATION LEVEL READ COMMITTED',
};

/**
 * Sends statements to the driver, without the additional work that Sequelize's `query` does for each. This is only for
 * a pool that latchkey has opened, where no log, hook or option of the app applies. Errors are Sequelize's.
 */
export class Driver {
  readonly #manager: ConnectionManager;
  readonly #send: Send;
  #prepares: boolean;

  constructor(
    private readonly sequelize: Sequelize,
    private readonly dialect: Dialect,
    private readonly primary: Primary,
  ) {
    this.#manager = connectionManagerOf(sequelize);
    this.#send = SENDS[dialect];
    this.#bracketTransactions();
    // On PostgreSQL, a pooler between latchkey and the server might send each transaction on another connection.
    this.#prepares = dialect === 'mysql';
  }

  send(sql: string, { isSelect, transaction, turn }: Place): Promise<Outcome> {
    const work: Work = (connection) => this.#run(connection, sql, isSelect);
    if (!transaction) return this.#onAny(work, turn);
    const attempt = () => within(inner(transaction), work);
    return this.dialect === 'sqlite' ? whileBusy(attempt) : attempt();
  }

  /** Selects the rows of digests. @param sql ends where the list of the digests follows */
  async lookUp(sql: string, digests: readonly string[]): Promise<object[]> {
    const work: Work = (connection) =>
      this.#translated(connection, sql, this.#find(connection, sql, digests));
    return (await this.#onAny(work)) as object[];
  }

  /**
   * Begins and commits Sequelize's transactions without `query` too, except for a BEGIN that waits for SQLite's lock.
   */
  #bracketTransactions(): void {
    const begin = BEGIN[this.dialect];
    const queryInterface = this.sequelize.getQueryInterface();
    const startTransaction = queryInterface.startTransaction.bind(queryInterface);
    queryInterface.startTransaction = async (transaction, options) => {
      const { parent, connection } = inner(transaction);
      if (parent || !begin) await startTransaction(transaction, options);
      else await this.#run(connection, begin);
    };
    queryInterface.commitTransaction = async (transaction) => {
      const handle = inner(transaction);
      if (handle.parent) return;
      handle.finished = 'commit';
      await this.#run(handle.connection, 'COMMIT');
    };
  }

  #run(connection: object, sql: string, isSelect = false): Promise<Outcome> {
    return this.#translated(connection, sql, this.#send(connection, sql, isSelect));
  }

  async #onAny(work: Work, turn?: Turn): Promise<Outcome> {
    const connection = await this.#manager.getConnection({ type: 'UPDATE', useMaster: true });
    try {
      const asking = this.primary.check(connection);
      if (asking) await asking;
      turn?.begin();
      return await work(connection);
    } finally {
      this.#manager.releaseConnection(connection);
    }
  }

  async #find(connection: object, sql: string, digests: readonly string[]): Promise<Outcome> {
    const [digest] = digests;
    // Only for a single digest, because the server would keep a prepared statement for each size of a batch.
    if (this.#prepares && digest !== undefined && digests.length === 1) {
      try {
        return await this.#send(connection, `${sql} (?)`, true, [Buffer.from(digest, 'hex')]);
      } catch (error) {
        if (!NOT_PREPARED.has((error as { code?: string }).code ?? '')) throw error;
        this.#prepares = false;
      }
    }
    return this.#send(connection, `${sql} ${digestList(this.dialect, digests)}`, true);
  }

  /** Converts an error of the driver to the error that Sequelize would throw. */
  #translated(connection: object, sql: string, answer: Promise<Outcome>): Promise<Outcome> {
    return answer.catch((error) => {
      const { Query } = (this.sequelize as unknown as Internals).dialect;
      throw new Query(connection, this.sequelize, {}).formatError(Object.assign(error as Error, { sql }));
    });
  }
}

async function within(transaction: TransactionInternals, work: Work): Promise<Outcome> {
  // Another transaction might already use its connection.
  if (transaction.finished) throw new Error(`the transaction has ended with a ${transaction.finished}`);
  try {
    return await work(transaction.connection);
  } catch (error) {
    if ((error as { parent?: { code?: string } }).parent?.code === 'ER_LOCK_DEADLOCK') {
      // MySQL has ended the transaction, so further statements would take effect outside it.
      await transaction.rollback?.().catch(() => undefined);
      transaction.finished = 'rollback';
    }
    throw error;
  }
}

/** Retries a write while SQLite is locked, as Sequelize does. The app's transaction might not be an immediate one. */
async function whileBusy(attempt: () => Promise<Outcome>): Promise<Outcome> {
  for (const pauseMs of BUSY_PAUSES_MS) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return attempt();
}

const sendByMysql: Send = (given, sql, _isSelect, values) =>
  new Promise((resolve, reject) => {
    const connection = given as MysqlConnection;
    const done: Done<object[] | { affectedRows: number }> = (error, result) => {
      if (error) reject(error);
      else resolve(Array.isArray(result) ? result : result.affectedRows);
    };
    if (values) connection.execute(sql, values, done);
    else connection.query(sql, done);
  });

const sendByPostgres: Send = (given, sql) =>
  new Promise((resolve, reject) => {
    const connection = given as PostgresConnection;
    connection.query(sql, (error, result) => {
      // After `query_timeout` of the URL, the next statement on this connection would wait for the end of this one.
      if (error?.message === 'Query read timeout') connection._invalid = true;
      if (error) reject(error);
      else resolve(result.fields.length > 0 ? result.rows : (result.rowCount ?? 0));
    });
  });

const sendBySqlite: Send = (given, sql, isSelect) =>
  new Promise((resolve, reject) => {
    const connection = given as SqliteConnection;
    connection.serialize(() => {
      if (isSelect) connection.all(sql, (error, rows) => (error ? reject(error) : resolve(rows)));
      else
        connection.run(sql, function (error) {
          if (error) reject(error);
          else resolve(this.changes);
        });
    });
  });

const SENDS: Record<Dialect, Send> = { mysql: sendByMysql, postgres: sendByPostgres, sqlite: sendBySqlite };
