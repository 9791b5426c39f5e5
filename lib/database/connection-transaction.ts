import { AsyncResource } from 'node:async_hooks';
import { stat } from 'node:fs/promises';
import { QueryTypes, type Sequelize, Transaction } from 'sequelize';
import type { JoinedTransaction } from '../context/call.js';
import { type AppConnection, appConnection } from './app-connections.js';
import { Section, savepointName } from './app-transaction.js';
import type { Commits } from './commits.js';
import type { Dialect } from './connect.js';
import { asFailure, isRolledBack } from './faults.js';
import { OpenTransaction } from './open-transaction.js';
import { resultOf } from './sqlite-driver.js';

/** A transaction that the app has begun without Sequelize, by its connection. */
export interface ConnectionTransaction {
  /**
   * A connection to the config's database, on which a transaction has begun: a client of `pg`, a connection of `mysql2`,
   * or for SQLite a database of `better-sqlite3`, `node:sqlite` or `@photostructure/sqlite`, or a transaction of
   * `@libsql/client`.
   */
  readonly connection: object;
}

/** Whether the app has passed a transaction by its connection. */
export function isByConnection(transaction: unknown): transaction is ConnectionTransaction {
  // A transaction of Sequelize has a connection too, and so do some connections themselves.
  const isObject = typeof transaction === 'object' && transaction !== null;
  return isObject && 'connection' in transaction && !('commit' in transaction) && !('query' in transaction);
}

/** What {@link ConnectionTransactions} need. */
interface Needs {
  readonly sequelize: Sequelize;
  readonly dialect: Dialect;
  readonly commits: Commits;
  /** The names of all tables that have been used. */
  readonly tables: ReadonlySet<string>;
  select<R>(sql: string): Promise<R[]>;
  share<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Joins transactions on connections that Sequelize does not know. latchkey sends its statements and savepoints on the
 * connection while the call runs, and nothing afterwards. So it learns of the commit from {@link Commits}.
 */
export class ConnectionTransactions {
  readonly #handles = new WeakMap<OpenTransaction, Transaction>();
  readonly #connections = new WeakMap<Transaction, object>();
  /** The servers of connections, which never change. */
  readonly #servers = new WeakMap<object, string>();
  #ownPlace: string | null | undefined;

  constructor(private readonly database: Needs) {}

  /** Returns the connection of a transaction, if it is not one of Sequelize. */
  connectionOf(transaction: Transaction): object | undefined {
    return this.#connections.get(transaction);
  }

  /**
   * Joins the transaction on a connection of the app.
   *
   * @throws TypeError if it is not a connection of the dialect's driver, not in a transaction, or connected to another
   *   database
   */
  async join(given: unknown): Promise<JoinedTransaction> {
    const connection = appConnection(this.database.sequelize, given);
    if (connection.isInTransaction?.() === false) throw noTransaction();
    const open = OpenTransaction.enter(connection.inner, this.database.dialect === 'mysql');
    const handle = this.#handles.get(open) ?? this.#handleOn(connection, open);
    const exclusively = <T>(work: () => Promise<T>) => Section.current(open).run(work);
    try {
      await exclusively(() => this.#check(handle, connection));
    } catch (error) {
      open.leave();
      throw error;
    }
    const later: (() => void)[] = [];
    return {
      handle,
      exclusively,
      afterCommit: (work) => later.push(work),
      end: async () => {
        // Listeners and platforms recognize the request by its AsyncLocalStorage.
        const work = AsyncResource.bind(() => {
          for (const one of later) one();
        });
        try {
          if (later.length > 0) await exclusively(() => this.database.commits.add(handle, work));
        } finally {
          open.leave();
        }
      },
    };
  }

  /** Creates a transaction for Sequelize's and latchkey's statements, which cannot end it. */
  #handleOn(app: AppConnection, open: OpenTransaction): Transaction {
    const refuse = async () => {
      throw new TypeError(
        'latchkey: the transaction belongs to the connection that your app has passed: end it there',
      );
    };
    const afterCommit = () => {
      throw new TypeError(
        'latchkey: Sequelize does not see the commit of this transaction: do the work where your app commits',
      );
    };
    const own = { connection: guarded(app, open), commit: refuse, rollback: refuse, afterCommit };
    const handle = Object.assign(new Transaction(this.database.sequelize, {}), own);
    // Sequelize sets it after a deadlock on MySQL, which ends the transaction.
    Object.defineProperty(handle, 'finished', {
      get: () => (open.isEnded ? 'rollback' : undefined),
      set: () => open.end(),
    });
    this.#handles.set(open, handle);
    this.#connections.set(handle, app.inner);
    return handle;
  }

  async #check(handle: Transaction, app: AppConnection): Promise<void> {
    const { sequelize } = this.database;
    const options = { transaction: handle, raw: true };
    const send: Send = (sql) => sequelize.query(sql, { ...options, type: QueryTypes.SELECT });
    if (!app.isInTransaction) await requireTransaction((sql) => sequelize.query(sql, options));
    const tables = [...this.database.tables].sort();
    const place = await this.#placeOf(send, tables, app.inner).catch((error) => {
      throw asFailure(error);
    });
    if (place !== null && place === this.#ownPlace) return;
    // The server might have been restarted since, or further tables have been used.
    this.#ownPlace = await this.database.share(() =>
      this.#placeOf((sql) => this.database.select(sql), tables),
    );
    if (place === null || place !== this.#ownPlace)
      throw new TypeError(
        'latchkey: transaction.connection is connected to another database than the one in database, or on PostgreSQL, its search_path leads to other tables',
      );
  }

  /** Returns what identifies the database of a connection. Null if nothing does, as for a database in memory. */
  async #placeOf(send: Send, tables: readonly string[], connection?: object): Promise<string | null> {
    const { dialect } = this.database;
    if (dialect === 'sqlite') return fileOf(await send('PRAGMA database_list'));
    if (dialect === 'mysql') {
      const server = (connection && this.#servers.get(connection)) ?? (await serverOf(send));
      if (connection) this.#servers.set(connection, server);
      const [row] = await send('SELECT DATABASE() AS place');
      return `${server} ${row?.place}`;
    }
    const named = tables.map((name) => `to_regclass('${name}')::oid`);
    const [row] = await send(
      `SELECT concat_ws(' ', current_database(), extract(epoch FROM pg_postmaster_start_time()), ${named.join(', ')}) AS place`,
    );
    return String(row?.place);
  }
}

type Row = Readonly<Record<string, unknown>>;
type Send = (sql: string) => Promise<readonly Row[]>;
type Done = (this: object, error: Error | null, ...results: unknown[]) => void;

/** Returns a connection that sends nothing once the transaction has ended. */
function guarded({ connection, isInTransaction }: AppConnection, open: OpenTransaction): object {
  const methods = connection as Record<string, (...given: unknown[]) => unknown>;
  const isStillOpen = () => {
    try {
      return isInTransaction?.() !== false;
    } catch {
      // The app has closed its database.
      return false;
    }
  };
  const guard =
    (name: string) =>
    (...given: unknown[]) => {
      const at = given.findIndex((one) => typeof one === 'function');
      const done = given[at] as Done;
      if (open.isEnded || !isStillOpen()) {
        open.end();
        done.call(resultOf(0, 0), hasEnded());
        return { setMaxListeners: () => undefined };
      }
      given[at] = function (this: object, error: Error | null, ...results: unknown[]) {
        if (isRolledBack(error)) open.end();
        done.call(this, error, ...results);
      };
      return open.send(() => methods[name]?.(...given));
    };
  const sending = ['query', 'execute', 'all', 'run'].map((name) => [name, guard(name)]);
  const serialize = (work: () => void) => (methods.serialize ? methods.serialize(work) : work());
  return { ...Object.fromEntries(sending), serialize };
}

function hasEnded(): Error {
  const message = 'the transaction on transaction.connection has ended: await every call before you end it';
  return Object.assign(new Error(message), { code: 'TRANSACTION_ENDED' });
}

const NO_TRANSACTION = new Set(['25P01', 'ER_SP_DOES_NOT_EXIST']);

/** @throws TypeError if no transaction has begun on a connection, or it has failed */
export async function requireTransaction(send: (sql: string) => Promise<unknown>): Promise<void> {
  const name = savepointName();
  try {
    await send(`SAVEPOINT ${name}`);
    // Outside a transaction, MySQL accepts a savepoint, but does not set it.
    await send(`RELEASE SAVEPOINT ${name}`);
  } catch (error) {
    const { code = '' } = (error as { parent?: { code?: string } }).parent ?? {};
    if (NO_TRANSACTION.has(code)) throw noTransaction();
    if (code === '25P02')
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

/** Returns what identifies a server of MySQL. The servers of a cluster are one, because each has the same rows. */
async function serverOf(send: Send): Promise<string> {
  const variables = await valuesOf(
    send,
    `SHOW VARIABLES WHERE Variable_name IN
      ('server_uuid', 'server_uid', 'hostname', 'port', 'wsrep_on', 'group_replication_group_name')`,
  );
  const { server_uuid, server_uid, hostname, port, wsrep_on, group_replication_group_name } = variables;
  if (wsrep_on === 'ON') {
    const cluster = await valuesOf(send, "SHOW STATUS LIKE 'wsrep_cluster_state_uuid'");
    if (cluster.wsrep_cluster_state_uuid) return cluster.wsrep_cluster_state_uuid;
  }
  return group_replication_group_name || server_uuid || server_uid || `${hostname}:${port}`;
}

async function valuesOf(send: Send, sql: string): Promise<Readonly<Record<string, string | undefined>>> {
  const rows = await send(sql);
  return Object.fromEntries(rows.map(({ Variable_name: name, Value: value }) => [name, value]));
}

async function fileOf(databases: readonly Row[]): Promise<string | null> {
  const file = databases.find(({ name }) => name === 'main')?.file;
  if (!file) return null;
  const { dev, ino } = await stat(String(file), { bigint: true });
  return `${dev}:${ino}`;
}
