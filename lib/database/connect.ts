import type { Socket } from 'node:net';
import { type Options, Sequelize, type Transaction } from 'sequelize';
import { isInstalled } from './installed.js';
import * as driver from './sqlite-driver.js';

/** The parts of sequelize-pool that latchkey uses. */
export interface Pool {
  readonly maxSize?: number;
  readonly size?: number;
  readonly using?: number;
  readonly waiting?: number;
  /** The pool that latchkey uses if the instance has `replication`, and so two pools. */
  readonly write?: Pool;
  acquire(type: 'UPDATE', useMaster: true): Promise<object>;
  release(connection: object): void;
  drain(): Promise<void>;
  destroy(connection: object): Promise<void>;
  destroyAllNow(): Promise<void>;
}

/** The options of a driver that latchkey changes. */
export interface DialectOptions {
  readonly options?: string;
  readonly [option: string]: unknown;
}

interface ConnectionConfig {
  pool?: object;
  dialectOptions?: DialectOptions;
}

/** The parts of Sequelize's connection manager that latchkey uses. Sequelize's types omit them. */
export interface ConnectionManager {
  config: ConnectionConfig & { replication?: { write: ConnectionConfig } };
  /** On SQLite, Sequelize does not use it. */
  readonly pool?: Pool;
  initPools(): void;
  getConnection(options: object): Promise<object>;
  releaseConnection(connection: object): void;
}

export function connectionManagerOf(sequelize: Sequelize): ConnectionManager {
  return (sequelize as unknown as { connectionManager: ConnectionManager }).connectionManager;
}

/** The supported databases. MariaDB counts as MySQL. */
export type Dialect = 'mysql' | 'postgres' | 'sqlite';

const DIALECTS: Record<string, Dialect> = {
  mysql: 'mysql',
  mariadb: 'mysql',
  postgres: 'postgres',
  sqlite: 'sqlite',
};

// Shorter than DEADLINE_MS, after which the request has failed anyway.
const CONNECT_MS = 2000;
const STATEMENT_MS = 3000;
// Longer than the time limit of a statement, and longer than an idle connection stays in the pool.
const SILENCE_MS = 12_000;
// The driver converts values faster than Sequelize, which calls a function for each value.
const CONVERSION = { typeCast: true, timezone: '+00:00', dateStrings: false };
const POOL = { max: 10, min: 0, acquire: CONNECT_MS, idle: 10_000 };

/**
 * Creates a connection pool for a URL, without connecting yet. Returns null if the URL is malformed or its scheme is
 * not supported.
 *
 * @throws Error if the driver is not installed
 */
export function connectByUrl(url: string): Sequelize | null {
  const scheme = schemeOf(url);
  try {
    return open(scheme, url);
  } catch (error) {
    const driver = /^Please install (\S+) package/.exec((error as Error).message)?.[1];
    if (!driver) throw error;
    // The message omits the rest of the URL, which contains a password.
    throw new Error(
      isInstalled(driver)
        ? `latchkey: database is ${scheme}://…, whose driver ${driver} is installed, but Sequelize cannot load it. If your app is bundled, keep sequelize and ${driver} out of the bundle (external). Otherwise, install both in the same folder`
        : `latchkey: database is ${scheme}://…, which needs a driver: npm install ${driver}`,
    );
  }
}

function open(scheme: string | undefined, url: string): Sequelize | null {
  switch (scheme) {
    case 'sqlite':
      return new Sequelize({ ...sqlite(url.replace(/^sqlite:(\/\/)?/, '')), logging: false });
    case 'mysql':
    case 'mariadb': {
      const sequelize = new Sequelize(url.replace(/^mariadb:/, 'mysql:'), {
        dialect: 'mysql',
        logging: false,
        pool: POOL,
        dialectOptions: { connectTimeout: CONNECT_MS, charset: 'utf8mb4' },
      });
      // Set these in a hook, because Sequelize applies the options in the URL after the options above.
      sequelize.addHook('beforeConnect', (config) => {
        config.dialectOptions = { ...config.dialectOptions, ...CONVERSION };
      });
      sequelize.addHook('afterConnect', prepareMysqlConnection);
      return closeSilentConnections(sequelize);
    }
    case 'postgres':
    case 'postgresql':
      return closeSilentConnections(
        new Sequelize(url, {
          dialect: 'postgres',
          logging: false,
          pool: POOL,
          ...portIn(url),
          dialectOptions: {
            connectionTimeoutMillis: CONNECT_MS,
            statement_timeout: STATEMENT_MS,
            lock_timeout: STATEMENT_MS,
            idle_in_transaction_session_timeout: STATEMENT_MS,
            keepAlive: true,
          },
        }),
      );
    default:
      return null;
  }
}

/** Returns undefined if the URL is malformed or does not name a database, because SQLite would use a temporary one. */
function schemeOf(url: string): string | undefined {
  const scheme = /^([a-z]+):(?!\/\/$)./.exec(url)?.[1];
  return scheme === 'sqlite' || URL.canParse(withHost(url)) ? scheme : undefined;
}

/**
 * Adds a host to a URL of PostgreSQL that has a user, but no host, because the parameter `host` names the folder of a
 * socket. PostgreSQL and Sequelize accept such a URL, but `URL` does not.
 */
function withHost(url: string): string {
  const isOfSocket = /^postgres(?:ql)?:.*[?&]host=[^&]/.test(url);
  return isOfSocket ? url.replace(/^([a-z]+:\/\/[^/?#@]*@)(?=\/)/, '$1localhost') : url;
}

/** The port in the parameters of a URL, which Sequelize ignores. */
function portIn(url: string): { port?: number } {
  const port = Number(/[?&]port=(\d+)(?=&|$)/.exec(url)?.[1]);
  return port > 0 ? { port } : {};
}

/** Returns the schema that an instance adds to the tables of its models. Undefined if latchkey finds them without it. */
export function schemaOf(sequelize: Sequelize): string | undefined {
  const { schema, define } = optionsOf(sequelize);
  const named = define?.schema || schema || undefined;
  return named === searchPathOf(sequelize) ? undefined : named;
}

/**
 * Returns the schema in which an instance's connections find tables without a schema. Null unless the database is
 * PostgreSQL.
 */
export function searchPathOf(sequelize: Sequelize): string | null {
  if (dialectOf(sequelize) !== 'postgres') return null;
  const { dialectOptions } = optionsOf(sequelize);
  return /(?:\b|-c)search_path\s*=\s*"?(\w+)/.exec(String(dialectOptions?.options ?? ''))?.[1] ?? 'public';
}

function optionsOf(sequelize: Sequelize): InstanceOptions {
  return (sequelize as unknown as { options?: InstanceOptions }).options ?? {};
}

/** The options of a Sequelize instance that tell its schema. Sequelize does not declare them. */
interface InstanceOptions {
  readonly schema?: string;
  readonly define?: { readonly schema?: string };
  readonly dialectOptions?: DialectOptions;
}

/** Returns the dialect of a Sequelize instance, or null if it is not supported. */
export function dialectOf(sequelize: Sequelize): Dialect | null {
  return DIALECTS[sequelize.getDialect()] ?? null;
}

/** Recognizes a Sequelize instance by its methods, because the app might use another copy of Sequelize. */
export function isSequelize(value: unknown): value is Sequelize {
  const it = value as Partial<Sequelize> | null;
  return typeof it === 'object' && typeof it?.query === 'function' && typeof it.getDialect === 'function';
}

// With the server's own sql_mode, values could be truncated silently. With NO_BACKSLASH_ESCAPES, Sequelize's escaping,
// which the app's queries with `auth.models` use, would be unsafe. Only MariaDB executes `/*M! */` comments; MySQL does
// not limit the time of statements that write. The isolation level is set once here for all transactions.
async function prepareMysqlConnection(connection: unknown): Promise<void> {
  const seconds = STATEMENT_MS / 1000;
  const { query } = connection as { query(sql: string, done: (error: Error | null) => void): void };
  const run = (sql: string) =>
    new Promise<void>((resolve, reject) => {
      query.call(connection, sql, (error) => (error ? reject(error) : resolve()));
    });
  await run(`SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1,
    innodb_lock_wait_timeout = ${seconds} /*M!100101 , max_statement_time = ${seconds} */`);
  await run('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
}

/** The properties in which mysql2 and pg keep their socket. */
interface DriverConnection {
  stream?: Socket;
  connection?: { stream: Socket };
}

/** Runs `work` without a limit on how long the connection is silent, so that its statements can take any time. */
export async function withoutSilenceLimit<T>(connection: unknown, work: () => Promise<T>): Promise<T> {
  const socket = socketOf(connection);
  const limit = socket?.timeout;
  if (!socket || !limit) return work();
  socket.setTimeout(0);
  try {
    return await work();
  } finally {
    socket.setTimeout(limit);
  }
}

function socketOf(connection: unknown): Socket | undefined {
  const { stream, connection: inner } = connection as DriverConnection;
  return stream ?? inner?.stream;
}

// If a server disappears without closing its connections, TCP gives up only after about 15 minutes. Until then, the
// connections would stay in use and exhaust the pool.
function closeSilentConnections(sequelize: Sequelize): Sequelize {
  sequelize.addHook('afterConnect', (connection: unknown) => {
    const socket = socketOf(connection);
    socket?.setTimeout(SILENCE_MS, () => socket.destroy(new Error('the database stopped responding')));
  });
  return sequelize;
}

/** The options of Sequelize that {@link sqlite} returns. */
export type SqliteOptions = Required<
  Pick<Options, 'dialect' | 'storage' | 'dialectModule' | 'retry' | 'transactionType'>
>;

/**
 * Returns the options of a Sequelize instance for SQLite without the package `sqlite3`, like the instance that latchkey
 * creates for a URL. The instance uses Node's own SQLite or, before Node 22.13, `@photostructure/sqlite`, and a
 * write-ahead log. Its transactions wait for the lock at their start.
 *
 * @example
 * const sequelize = new Sequelize({ ...sqlite('./app.db'), logging: false });
 * const auth = createAuth({ database: sequelize, … });
 *
 * @param storage the path of the file, or `:memory:`
 */
export function sqlite(storage: string): SqliteOptions {
  return {
    dialect: 'sqlite',
    storage,
    dialectModule: driver,
    // A deferred transaction can no longer write if another connection has written since its first read.
    transactionType: 'IMMEDIATE' as Transaction.TYPES,
    retry: {
      match: [/SQLITE_BUSY/],
      max: 7,
      backoffBase: 10,
      backoffExponent: 1.8,
      backoffJitter: 20,
    } as Options['retry'] & object,
  };
}
