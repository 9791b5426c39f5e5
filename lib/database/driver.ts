import type { Sequelize, Transaction } from 'sequelize';
import type { Dialect } from './connect.js';
import { type ConnectionManager, connectionManagerOf } from './connect.js';
import { isBusy } from './faults.js';
import { digestList } from './literal.js';
import type { Turn } from './turn.js';

/** What a statement has selected, or how many rows it has changed. */
export type Outcome = object[] | number;

/** Where a statement belongs, and what it does. */
export interface Place {
  readonly isSelect: boolean;
  readonly transaction?: Transaction | undefined;
  /** Excludes the statement if it gets a connection too late. */
  readonly turn?: Turn | undefined;
}

type Work = (connection: object) => Promise<Outcome>;
/** Sends a statement, on MySQL a prepared one if there are values. */
type Send = (
  connection: object,
  sql: string,
  isSelect: boolean,
  values?: readonly Buffer[],
) => Promise<Outcome>;
type Done<Result> = (error: Error | null, result: Result) => void;

/** What latchkey uses of mysql2's connections. */
interface MysqlConnection {
  query(sql: string, done: Done<object[] | { affectedRows: number }>): void;
  execute(sql: string, values: readonly Buffer[], done: Done<object[]>): void;
}

/** What latchkey uses of pg's connections. */
interface PostgresConnection {
  /** Whether Sequelize's pool is to drop it. */
  _invalid?: boolean;
  query(sql: string, done: Done<{ fields: unknown[]; rows: object[]; rowCount: number | null }>): void;
}

/** What latchkey uses of its connections to SQLite. */
interface SqliteConnection {
  /** Waits until the file is open. */
  serialize(work: () => void): void;
  all(sql: string, done: Done<object[]>): void;
  run(sql: string, done: (this: { changes: number }, error: Error | null) => void): void;
}

/** What Sequelize's types omit. */
interface TransactionInternals {
  readonly connection: object;
  /** Of a savepoint. */
  readonly parent?: Transaction;
  /** A side connection has none. */
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

// The server, or a proxy before it, keeps no prepared statements, or no more of them.
const NOT_PREPARED = new Set([
  'ER_MAX_PREPARED_STMT_COUNT_REACHED',
  'ER_NEED_REPREPARE',
  'ER_UNKNOWN_COM_ERROR',
  'ER_UNKNOWN_STMT_HANDLER',
  'ER_UNSUPPORTED_PS',
]);

const BUSY_PAUSES_MS = [10, 20, 30, 60, 110, 200];

/** How transactions begin. On MySQL, the connection has the isolation level. */
const BEGIN: Partial<Record<Dialect, string>> = {
  mysql: 'START TRANSACTION',
  postgres: 'START TRANSACTION ISOLATION LEVEL READ COMMITTED',
};

/**
 * Sends statements to the driver, without the work that Sequelize's `query` does around each. Only for a pool that
 * latchkey has opened, where no log, hook or option of the app is to be respected. Errors are Sequelize's.
 */
export class Driver {
  readonly #manager: ConnectionManager;
  readonly #send: Send;
  #prepares: boolean;

  constructor(
    private readonly sequelize: Sequelize,
    private readonly dialect: Dialect,
  ) {
    this.#manager = connectionManagerOf(sequelize);
    this.#send = SENDS[dialect];
    this.#bracketTransactions();
    // Not on PostgreSQL: a pool between latchkey and the server may send each transaction on another connection.
    this.#prepares = dialect === 'mysql';
  }

  send(sql: string, { isSelect, transaction, turn }: Place): Promise<Outcome> {
    const work: Work = (connection) => this.#run(connection, sql, isSelect);
    if (!transaction) return this.#onAny(work, turn);
    const attempt = () => within(inner(transaction), work);
    return this.dialect === 'sqlite' ? whileBusy(attempt) : attempt();
  }

  /** Selects the rows of digests: `sql` ends where their list is to follow. */
  async lookUp(sql: string, digests: readonly string[]): Promise<object[]> {
    const work: Work = (connection) =>
      this.#translated(connection, sql, this.#find(connection, sql, digests));
    return (await this.#onAny(work)) as object[];
  }

  /** Begins and ends transactions of Sequelize without its `query` too, but for what waits for SQLite's lock. */
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
      turn?.begin();
      return await work(connection);
    } finally {
      this.#manager.releaseConnection(connection);
    }
  }

  async #find(connection: object, sql: string, digests: readonly string[]): Promise<Outcome> {
    const [digest] = digests;
    // Of a single one: the server would keep a prepared statement for each size of a batch.
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

  /** An error of the driver becomes what Sequelize would throw. */
  #translated(connection: object, sql: string, answer: Promise<Outcome>): Promise<Outcome> {
    return answer.catch((error) => {
      const { Query } = (this.sequelize as unknown as Internals).dialect;
      throw new Query(connection, this.sequelize, {}).formatError(Object.assign(error as Error, { sql }));
    });
  }
}

async function within(transaction: TransactionInternals, work: Work): Promise<Outcome> {
  // Its connection may be another one's by now.
  if (transaction.finished) throw new Error(`the transaction has ended with a ${transaction.finished}`);
  try {
    return await work(transaction.connection);
  } catch (error) {
    if ((error as { parent?: { code?: string } }).parent?.code === 'ER_LOCK_DEADLOCK') {
      // MySQL has ended the transaction: whatever followed would take effect by itself.
      await transaction.rollback?.().catch(() => undefined);
      transaction.finished = 'rollback';
    }
    throw error;
  }
}

/** In a transaction of the app that is not immediate, a write waits for SQLite's lock, as Sequelize's own would. */
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
      // With `query_timeout` in the URL: the next statement on this connection would wait for this one's end.
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
