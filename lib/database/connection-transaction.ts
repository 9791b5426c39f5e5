import { stat } from 'node:fs/promises';
import { QueryTypes, type Sequelize, Transaction } from 'sequelize';
import type { JoinedTransaction } from '../context/call.js';
import { Section } from './app-transaction.js';
import type { Commits } from './commits.js';
import type { Dialect } from './connect.js';
import { asFailure } from './faults.js';
import { type LibsqlTransaction, onLibsql } from './libsql-connection.js';
import { onConnection } from './sqlite-driver.js';

/** A transaction that the app has begun without Sequelize, by its connection. */
export interface ConnectionTransaction {
  /**
   * A connection to the config's database, on which a transaction has begun: a client of `pg`, a connection of `mysql2`,
   * or for SQLite a database of `better-sqlite3`, `node:sqlite`, `@photostructure/sqlite` or `sqlite3`, or a transaction of
   * `@libsql/client`.
   */
  readonly connection: object;
}

/** Whether the app has passed a transaction by its connection. */
export function isByConnection(transaction: unknown): transaction is ConnectionTransaction {
  return has(transaction, 'connection') && !has(transaction, 'commit');
}

/** The parts of Sequelize's Transaction that its types omit. */
interface Handle extends Transaction {
  connection: object;
  finished?: 'commit' | 'rollback';
}

/** What {@link ConnectionTransactions} need. */
interface Needs {
  readonly sequelize: Sequelize;
  readonly dialect: Dialect;
  readonly commits: Commits;
  table(name: string): string;
  select<R>(sql: string): Promise<R[]>;
  share<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Joins transactions on connections that Sequelize does not know. latchkey sends its statements and savepoints on the
 * connection while the call runs, and nothing afterwards. So it learns of the commit from {@link Commits}.
 */
export class ConnectionTransactions {
  /** The handle of the latest transaction on each connection of the app. */
  readonly #handles = new WeakMap<object, Handle>();
  /** The connections as the app has passed them. */
  readonly #given = new WeakMap<Transaction, object>();
  /** The servers of connections, which never change. */
  readonly #servers = new WeakMap<object, string>();
  #ownPlace: string | null | undefined;

  constructor(private readonly database: Needs) {}

  /** Returns the connection that the app has passed, if the transaction is one of these. */
  connectionOf(transaction: Transaction): object | undefined {
    return this.#given.get(transaction);
  }

  /**
   * Joins the transaction on a connection of the app.
   *
   * @throws TypeError if it is not a connection of the dialect's driver, not in a transaction, or connected to another
   *   database
   */
  async join(given: unknown): Promise<JoinedTransaction> {
    const { commits } = this.database;
    const handle = this.#handleOf(given);
    const exclusively = <T>(work: () => Promise<T>) => Section.current(handle).run(work);
    await exclusively(() => this.#check(handle));
    const later: (() => void)[] = [];
    return {
      handle,
      exclusively,
      afterCommit: (work) => later.push(work),
      end: async () => {
        if (later.length > 0) await exclusively(() => commits.await(handle, later));
      },
    };
  }

  #handleOf(given: unknown): Handle {
    const { dialect, sequelize } = this.database;
    const { timezone } = (sequelize as unknown as { options: { timezone: string } }).options;
    const connection = ADAPTERS[dialect](given, timezone);
    const known = this.#handles.get(given as object);
    // After a deadlock on MySQL, the transaction has ended, and the connection can have another one.
    if (known && !known.finished) return known;
    const handle = handleOn(this.database, connection);
    this.#handles.set(given as object, handle);
    this.#given.set(handle, given as object);
    return handle;
  }

  async #check(handle: Handle): Promise<void> {
    const { sequelize, dialect } = this.database;
    const options = { transaction: handle, raw: true };
    await requireTransaction(dialect, (sql) => sequelize.query(sql, options));
    const send: Send = (sql) => sequelize.query(sql, { ...options, type: QueryTypes.SELECT });
    const place = await this.#placeOf(send, handle.connection).catch((error) => {
      throw asFailure(error);
    });
    if (place !== null && place === this.#ownPlace) return;
    // The server might have been restarted since.
    this.#ownPlace = await this.database.share(() => this.#placeOf((sql) => this.database.select(sql)));
    if (place === null || place !== this.#ownPlace)
      throw new TypeError(
        'latchkey: transaction.connection is connected to another database than the one in database',
      );
  }

  /** Returns what identifies the database of a connection. Null if nothing does, as for a database in memory. */
  async #placeOf(send: Send, connection?: object): Promise<string | null> {
    const { dialect } = this.database;
    if (dialect === 'sqlite') return fileOf(await send('PRAGMA database_list'));
    if (dialect === 'mysql') {
      const server = (connection && this.#servers.get(connection)) ?? serverOf(await send(MYSQL_SERVER));
      if (connection) this.#servers.set(connection, server);
      const [row] = await send('SELECT DATABASE() AS place');
      return `${server} ${row?.place}`;
    }
    const [row] = await send(
      `SELECT concat_ws(' ', current_database(), to_regclass('${this.database.table('users')}')::oid,
         extract(epoch FROM pg_postmaster_start_time())) AS place`,
    );
    return String(row?.place);
  }
}

type Row = Readonly<Record<string, unknown>>;
type Send = (sql: string) => Promise<readonly Row[]>;

/** Creates a transaction for Sequelize's and latchkey's statements, which cannot end it. */
function handleOn({ sequelize }: Needs, connection: object): Handle {
  const refuse = async () => {
    throw new TypeError(
      'latchkey: the transaction belongs to the connection that your app has passed: end it there',
    );
  };
  return Object.assign(new Transaction(sequelize, {}), { connection, commit: refuse, rollback: refuse });
}

const NO_TRANSACTION = new Set(['25P01', 'ER_SP_DOES_NOT_EXIST', 'TRANSACTION_CLOSED']);

/** @throws TypeError if no transaction has begun on the connection, or it has failed */
async function requireTransaction(dialect: Dialect, send: (sql: string) => Promise<unknown>): Promise<void> {
  try {
    if (dialect === 'sqlite') {
      // This fails within a transaction. A savepoint would begin one.
      await send('BEGIN');
      await send('ROLLBACK');
      throw noTransaction();
    }
    await send('SAVEPOINT latchkey_joins');
    // Outside a transaction, MySQL accepts a savepoint, but does not set it.
    await send('RELEASE SAVEPOINT latchkey_joins');
  } catch (error) {
    if (error instanceof TypeError) throw error;
    const { parent } = error as { parent?: { code?: string; message?: string } };
    if (/within a transaction/.test(parent?.message ?? '')) return;
    if (NO_TRANSACTION.has(parent?.code ?? '')) throw noTransaction();
    if (parent?.code === '25P02')
      throw new TypeError(
        'latchkey: a statement of the transaction on transaction.connection has failed: roll it back, or roll back to a savepoint',
      );
    throw asFailure(error);
  }
}

function noTransaction(): TypeError {
  return new TypeError(
    'latchkey: transaction.connection is not in a transaction: begin one on it, and await every call before it ends',
  );
}

const MYSQL_SERVER = `SHOW VARIABLES WHERE Variable_name IN
  ('hostname', 'port', 'wsrep_on', 'wsrep_cluster_name', 'group_replication_group_name')`;

/** Returns what identifies a server of MySQL. The servers of a cluster are one, because each has the same rows. */
function serverOf(variables: readonly Row[]): string {
  const { hostname, port, wsrep_on, wsrep_cluster_name, group_replication_group_name } = Object.fromEntries(
    variables.map(({ Variable_name: name, Value: value }) => [String(name), value]),
  );
  const cluster = wsrep_on === 'ON' ? wsrep_cluster_name : group_replication_group_name;
  return String(cluster || `${hostname}:${port}`);
}

async function fileOf(databases: readonly Row[]): Promise<string | null> {
  const file = databases.find(({ name }) => name === 'main')?.file;
  if (!file) return null;
  const { dev, ino } = await stat(String(file), { bigint: true });
  return `${dev}:${ino}`;
}

/** Returns a connection as Sequelize and {@link Driver} use it. @throws TypeError if it is not one of the driver */
const ADAPTERS: Record<Dialect, (given: unknown, timezone: string) => object> = {
  postgres: (given) => {
    if (!has(given, 'query') || has(given, 'totalCount')) throw notAConnection('a client of pg', given);
    return given;
  },
  mysql: (given, timezone) => {
    // The connections of mysql2/promise wrap one with callbacks.
    const inner = has(given, 'connection') ? given.connection : given;
    if (!has(inner, 'query') || !has(inner, 'execute') || has(inner, 'getConnection'))
      throw notAConnection('a connection of mysql2', given);
    return mysqlConnection(inner as unknown as MysqlConnection, timezone);
  },
  sqlite: (given) => {
    if (has(given, 'serialize') && has(given, 'all')) return given;
    if (has(given, 'execute') && has(given, 'closed')) return onLibsql(given as unknown as LibsqlTransaction);
    if (!has(given, 'prepare') || !has(given, 'exec'))
      throw notAConnection('a database of better-sqlite3 or node:sqlite, or a transaction of libsql', given);
    return onConnection(given as never);
  },
};

function has<Name extends string>(value: unknown, name: Name): value is { readonly [N in Name]: unknown } {
  return typeof value === 'object' && value !== null && name in value;
}

function notAConnection(expected: string, given: unknown): TypeError {
  const isPool = has(given, 'totalCount') || has(given, 'getConnection');
  const hint = isPool ? '. It is a pool: take a connection from it, and begin the transaction there' : '';
  return new TypeError(`latchkey: transaction.connection must be ${expected}${hint}`);
}

/** The parts of a connection of mysql2 that Sequelize and latchkey use. */
interface MysqlConnection {
  query(statement: object, done: unknown): object;
  execute(...given: unknown[]): object;
}

/** Returns a connection whose results do not depend on the options of the app's connection. */
function mysqlConnection(connection: MysqlConnection, timezone: string): object {
  const options = {
    rowsAsArray: false,
    nestTables: false,
    // mysql2 only knows offsets. latchkey reads strings in any time zone.
    ...(/^[+-]/.test(timezone) ? { timezone } : { dateStrings: true }),
    // mysql2 would use a function of the connection's options.
    typeCast: (_field: unknown, next: () => unknown) => next(),
  };
  return {
    query: (statement: string | { readonly sql: string }, done: unknown) =>
      connection.query(
        { ...options, ...(typeof statement === 'string' ? { sql: statement } : statement) },
        done,
      ),
    execute: (sql: string, values: unknown, done: unknown) =>
      connection.execute({ ...options, sql }, values, done),
  };
}
