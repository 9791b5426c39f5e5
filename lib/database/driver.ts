import { ConnectionAcquireTimeoutError, type Sequelize, type Transaction } from 'sequelize';
import { digestInHex } from '../crypto/token.js';
import { sleep } from '../timers.js';
import { type ConnectionManager, connectionManagerOf, type Dialect } from './connect.js';
import { isBusy, isRolledBack } from './faults.js';
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

/** The values of the placeholders of a prepared statement. */
export type Bound = readonly (Buffer | string)[];

/** The statements of a lookup, which selects at most one row for each key. */
export interface LookupSql {
  /** For a single key, with placeholders: see {@link placeholder}. */
  readonly ofOne: string;
  /** Returns the values of the placeholders. */
  boundOf(key: string): Bound;
  /** Returns the statement for several keys. Its rows also contain their key. */
  ofSeveral(keys: readonly string[]): string;
  /** Whether they select columns of the app's table, whose values must be converted as in the app's own queries. */
  readonly hasAppColumns: boolean;
  /** Whether the app records traces. An instrumentation of the driver records only some of its methods. */
  readonly isTraced: boolean;
}

type Work = (connection: object) => Promise<Outcome>;
type Send = (connection: object, sql: string, isSelect: boolean) => Promise<Outcome>;
/** Sends a prepared statement. */
type Find = (connection: object, statement: Prepared, bound: Bound) => Promise<object[]>;
type Done<Result> = (error: Error | null, result: Result) => void;

/** A prepared statement of the lookup of one key. */
interface Prepared {
  readonly text: string;
  readonly hasAppColumns: boolean;
  readonly isTraced: boolean;
  /** Another process might get its connection from a pooler, so the name depends on the text. */
  readonly name: string;
  /** On MySQL, the statement on each connection that has prepared it. */
  readonly handles: WeakMap<object, MysqlStatement>;
}

/** The parts of mysql2's connections that latchkey uses. */
interface MysqlConnection {
  /** The connection's own options. With `typeCast`, Sequelize converts the values of each row. */
  readonly config: { typeCast?: unknown };
  query(sql: string, done: Done<object[] | { affectedRows: number }>): void;
  execute(sql: string, values: Bound, done: Done<object[]>): void;
  prepare(sql: string, done: Done<MysqlStatement>): void;
}

/** A statement that a connection of mysql2 has prepared. */
interface MysqlStatement {
  execute(values: Bound, done: Done<object[]>): void;
}

/** The parts of pg's connections that latchkey uses. */
interface PostgresConnection {
  /** Whether Sequelize's pool must drop the connection. */
  _invalid?: boolean;
  query(
    statement: string | { name: string; text: string; values: Bound },
    done: Done<{ fields: unknown[]; rows: object[]; rowCount: number | null }>,
  ): void;
}

/** The parts of SQLite's connections that latchkey uses: its own, or the connections of the package sqlite3. */
interface SqliteConnection {
  /** Waits until the file is open. */
  serialize(work: () => void): void;
  all(sql: string, done: Done<object[]>): void;
  all(sql: string, values: Bound, done: Done<object[]>): void;
  /** Selects one row immediately, with a statement that is prepared once. The package sqlite3 does not have this method. */
  find?(sql: string, values: Bound): object | undefined;
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

/** The parts of Sequelize that its types omit. */
interface Internals {
  readonly options: {
    readonly databaseVersion?: string | number;
    readonly logging?: unknown;
    readonly native?: boolean;
    readonly timezone: string;
    readonly hooks: Readonly<Record<string, readonly unknown[] | undefined>>;
  };
  readonly dialect: {
    readonly Query: new (connection: object, sequelize: Sequelize, options: object) => Query;
  };
}
interface Query {
  formatError(error: unknown, stack?: string): Error;
}

// The errors of a server, or of a proxy in front of it, that does not support prepared statements, or cannot keep any
// more of them. A pooler in front of PostgreSQL might send each statement on another connection, where the prepared
// statement does not exist, or already exists.
const NOT_PREPARED = new Set([
  'ER_MAX_PREPARED_STMT_COUNT_REACHED',
  'ER_NEED_REPREPARE',
  'ER_UNKNOWN_COM_ERROR',
  'ER_UNKNOWN_STMT_HANDLER',
  'ER_UNSUPPORTED_PS',
  '26000', // PostgreSQL: invalid_sql_statement_name
  '42P05', // PostgreSQL: duplicate_prepared_statement
  '0A000', // PostgreSQL: a column has another type than when the statement was prepared
]);

const BUSY_PAUSES_MS = [10, 20, 30, 60, 110, 200];

/** The statements that begin transactions. On MySQL, the connection already has the isolation level. */
const BEGIN: Partial<Record<Dialect, string>> = {
  mysql: 'START TRANSACTION',
  postgres: 'START TRANSACTION ISOLATION LEVEL READ COMMITTED',
};

/**
 * Sends statements to the driver, without the additional work that Sequelize's `query` does for each statement. Errors
 * are converted to Sequelize's errors. In a pool that latchkey has opened, all statements are sent in this way, because
 * no log, hook or option of the app applies there. On an instance of the app, only lookups are, and only if
 * {@link isDirect}.
 */
export class Driver {
  readonly #manager: ConnectionManager;
  readonly #send: Send;
  readonly #prepared = new WeakMap<LookupSql, Prepared>();
  #find: Find | undefined;
  #onSqlite: object | undefined;

  constructor(
    private readonly sequelize: Sequelize,
    private readonly dialect: Dialect,
    private readonly primary: Primary,
    /** Whether latchkey has opened the pool. */
    readonly isOwnPool: boolean,
  ) {
    this.#manager = connectionManagerOf(sequelize);
    this.#send = SENDS[dialect];
    this.#find = FINDS[dialect];
    if (isOwnPool) this.#bracketTransactions();
  }

  /** Whether lookups can be sent to the driver: not if the app would see them in its log or in a hook. */
  get isDirect(): boolean {
    if (this.isOwnPool) return true;
    const { logging, hooks, native, timezone } = (this.sequelize as unknown as Internals).options;
    const { beforeQuery, afterQuery } = hooks;
    // One hook is latchkey's.
    const isUnseen = !logging && (beforeQuery?.length ?? 0) <= 1 && !afterQuery?.length;
    const name = this.sequelize.getDialect();
    // In other time zones, times on MySQL are read by Sequelize's conversion.
    const isKnown =
      name === 'mysql' ? timezone === '+00:00' : name === 'sqlite' || (name === 'postgres' && !native);
    return isUnseen && isKnown;
  }

  send(sql: string, { isSelect, transaction, turn }: Place): Promise<Outcome> {
    const work: Work = (connection) => this.#run(connection, sql, isSelect);
    if (!transaction) return this.#onAny(work, turn);
    const attempt = () => within(inner(transaction), work);
    return this.dialect === 'sqlite' ? whileBusy(attempt) : attempt();
  }

  /**
   * Selects the row with this key immediately, which only SQLite can. Returns undefined if the row must be looked up by
   * {@link lookUp}: with another driver, before the first connection, and after an error.
   */
  findNow(sql: LookupSql, key: string): object | null | undefined {
    const connection = this.#onSqlite as SqliteConnection | undefined;
    if (!connection?.find || !this.isDirect) return undefined;
    try {
      return connection.find(sql.ofOne, sql.boundOf(key)) ?? null;
    } catch {
      return undefined;
    }
  }

  /** Selects the rows with these keys. Every guarded request waits for this, so it creates few promises. */
  async lookUp(sql: LookupSql, keys: readonly string[]): Promise<object[]> {
    const connection = await this.#connection();
    try {
      const asking = this.primary.check(connection);
      if (asking) await asking;
      const [key] = keys;
      // Use a prepared statement only for a single key, because the server would keep one for each size of a batch.
      if (this.#find && key !== undefined && keys.length === 1) {
        const found = await this.#findPrepared(this.#find, connection, sql, key);
        if (found) return found;
      }
      return (await this.#run(connection, sql.ofSeveral(keys), true)) as object[];
    } finally {
      this.#manager.releaseConnection(connection);
    }
  }

  /**
   * Makes Sequelize's transactions begin and commit without `query` too, except for a BEGIN that waits for SQLite's
   * lock.
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
    return this.#send(connection, sql, isSelect).catch((error) => {
      throw this.#asSequelizes(error, connection, sql);
    });
  }

  async #onAny(work: Work, turn?: Turn): Promise<Outcome> {
    const connection = await this.#connection();
    try {
      const asking = this.primary.check(connection);
      if (asking) await asking;
      turn?.begin();
      return await work(connection);
    } finally {
      this.#manager.releaseConnection(connection);
    }
  }

  /** Takes a connection from the pool. Skips the additional work of Sequelize's method if the work is not needed. */
  #connection(): object | Promise<object> {
    if (this.#onSqlite) return this.#onSqlite;
    const { pool } = this.#manager;
    const { databaseVersion, hooks } = (this.sequelize as unknown as Internals).options;
    const hasHooks = hooks.beforePoolAcquire?.length || hooks.afterPoolAcquire?.length;
    // With the first connection, Sequelize learns the server's version. On SQLite, it does not use its pool.
    return pool && databaseVersion !== 0 && !hasHooks && this.dialect !== 'sqlite'
      ? pool.acquire('UPDATE', true).catch(asTimeout)
      : this.#fromSequelize();
  }

  async #fromSequelize(): Promise<object> {
    const connection = await this.#manager.getConnection({ type: 'UPDATE', useMaster: true });
    // Outside transactions, Sequelize uses the same connection for all statements.
    if (this.dialect === 'sqlite') this.#onSqlite = connection;
    return connection;
  }

  /** @returns null if the server does not support prepared statements, which are then not tried again */
  #findPrepared(find: Find, connection: object, sql: LookupSql, key: string): Promise<object[] | null> {
    return find(connection, this.#preparedOf(sql), sql.boundOf(key)).catch((error) => {
      if (!NOT_PREPARED.has((error as { code?: string }).code ?? ''))
        throw this.#asSequelizes(error, connection, sql.ofOne);
      this.#find = undefined;
      return null;
    });
  }

  #preparedOf(sql: LookupSql): Prepared {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const { ofOne, hasAppColumns, isTraced } = sql;
    const made = {
      text: ofOne,
      hasAppColumns,
      isTraced,
      name: `latchkey_${digestInHex(ofOne).slice(0, 40)}`,
      handles: new WeakMap(),
    };
    this.#prepared.set(sql, made);
    return made;
  }

  /** Converts an error of the driver to the error that Sequelize would throw. */
  #asSequelizes(error: unknown, connection: object, sql: string): Error {
    const { Query } = (this.sequelize as unknown as Internals).dialect;
    return new Query(connection, this.sequelize, {}).formatError(Object.assign(error as Error, { sql }));
  }
}

/** Throws the error that Sequelize's method would throw for an error of the pool. */
function asTimeout(error: Error): never {
  throw error.constructor.name === 'TimeoutError' ? new ConnectionAcquireTimeoutError(error) : error;
}

async function within(transaction: TransactionInternals, work: Work): Promise<Outcome> {
  // Another transaction might already use its connection.
  if (transaction.finished) throw new Error(`the transaction has ended with a ${transaction.finished}`);
  try {
    return await work(transaction.connection);
  } catch (error) {
    if (isRolledBack((error as { parent?: unknown }).parent)) {
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
    await sleep(pauseMs);
  }
  return attempt();
}

const sendByMysql: Send = (given, sql) =>
  new Promise((resolve, reject) => {
    (given as MysqlConnection).query(sql, (error, result) => {
      if (error) reject(error);
      else resolve(Array.isArray(result) ? result : result.affectedRows);
    });
  });

const findByMysql: Find = async (given, prepared, bound) => {
  const connection = given as MysqlConnection;
  const { config } = connection;
  const { typeCast } = config;
  // Sequelize's conversion takes longer than reading the row. No other statement uses the connection until this one has
  // ended, and mysql2 would compile the conversion into a statement that excludes it.
  if (!prepared.hasAppColumns) config.typeCast = true;
  try {
    return await executeByMysql(connection, prepared, bound);
  } finally {
    config.typeCast = typeCast;
  }
};

function executeByMysql(
  connection: MysqlConnection,
  { text, isTraced, handles }: Prepared,
  bound: Bound,
): Promise<object[]> {
  return new Promise((resolve, reject) => {
    const done: Done<object[]> = (error, rows) => (error ? reject(error) : resolve(rows));
    if (isTraced) return connection.execute(text, bound, done);
    const prepare = () =>
      connection.prepare(text, (error, handle) => {
        if (error) return reject(error);
        handles.set(connection, handle);
        handle.execute(bound, done);
      });
    // mysql2's own `execute` finds the statement by its text again each time, which takes longer than reading the row.
    const known = handles.get(connection);
    if (!known) return prepare();
    known.execute(bound, (error, rows) => {
      // mysql2 closes the statements that were prepared first if the app prepares more than `maxPreparedStatements`.
      if ((error as { code?: string } | null)?.code === 'ER_UNKNOWN_STMT_HANDLER') prepare();
      else done(error, rows);
    });
  });
}

const sendByPostgres: Send = (given, sql) =>
  new Promise((resolve, reject) => {
    const connection = given as PostgresConnection;
    connection.query(sql, (error, result) => {
      // After the URL's `query_timeout`, the next statement on this connection would wait until this statement ends.
      if (error?.message === 'Query read timeout') connection._invalid = true;
      if (error) reject(error);
      else resolve(result.fields.length > 0 ? result.rows : (result.rowCount ?? 0));
    });
  });

const findByPostgres: Find = (given, { text, name }, bound) =>
  new Promise((resolve, reject) => {
    const connection = given as PostgresConnection;
    connection.query({ name, text, values: bound }, (error, result) => {
      if (error?.message === 'Query read timeout') connection._invalid = true;
      if (error) reject(error);
      else resolve(result.rows);
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

const findBySqlite: Find = (given, { text }, bound) =>
  new Promise((resolve, reject) => {
    const connection = given as SqliteConnection;
    const done: Done<object[]> = (error, rows) => (error ? reject(error) : resolve(rows));
    connection.serialize(() => {
      if (!connection.find) return connection.all(text, bound, done);
      try {
        const row = connection.find(text, bound);
        resolve(row ? [row] : []);
      } catch (error) {
        reject(error);
      }
    });
  });

const SENDS: Record<Dialect, Send> = { mysql: sendByMysql, postgres: sendByPostgres, sqlite: sendBySqlite };

const FINDS: Record<Dialect, Find> = {
  mysql: findByMysql,
  postgres: findByPostgres,
  sqlite: findBySqlite,
};
