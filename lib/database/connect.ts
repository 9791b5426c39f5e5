import type { Socket } from 'node:net';
import { Sequelize } from 'sequelize';
import * as sqliteDriver from './sqlite-driver.js';

/** The kinds of database that latchkey speaks to. MariaDB counts as MySQL. */
export type Dialect = 'mysql' | 'postgres' | 'sqlite';

const DIALECTS: Record<string, Dialect> = {
  mysql: 'mysql',
  mariadb: 'mysql',
  postgres: 'postgres',
  sqlite: 'sqlite',
};

// A request must not wait longer for a database than its user does: see also DEADLINE_MS.
const CONNECT_MS = 2000;
const STATEMENT_MS = 3000;
// Longer than any statement may take, and than a connection stays in the pool unused.
const SILENCE_MS = 12_000;
const POOL = { max: 10, min: 0, acquire: CONNECT_MS, idle: 10_000 };

/**
 * Opens a connection pool by URL; nothing is connected yet. Null where the URL is malformed or of no kind we know.
 *
 * @throws Error where the driver is not installed
 */
export function connectByUrl(url: string): Sequelize | null {
  const scheme = schemeOf(url);
  try {
    return open(scheme, url);
  } catch (error) {
    const driver = /^Please install (\S+) package/.exec((error as Error).message)?.[1];
    // Without the rest of the URL, which holds a password.
    throw driver ? new Error(`latchkey: database is ${scheme}://…: npm install ${driver}`) : error;
  }
}

function open(scheme: string | undefined, url: string): Sequelize | null {
  switch (scheme) {
    case 'sqlite':
      return new Sequelize({
        dialect: 'sqlite',
        storage: url.replace(/^sqlite:(\/\/)?/, ''),
        dialectModule: sqliteDriver,
        logging: false,
        retry: { match: [/SQLITE_BUSY/], max: 7, backoffBase: 10, backoffExponent: 1.8, backoffJitter: 20 },
      } as ConstructorParameters<typeof Sequelize>[0] & object);
    case 'mysql':
    case 'mariadb': {
      const sequelize = new Sequelize(url.replace(/^mariadb:/, 'mysql:'), {
        dialect: 'mysql',
        logging: false,
        pool: POOL,
        dialectOptions: { connectTimeout: CONNECT_MS, charset: 'utf8mb4' },
      });
      sequelize.addHook('afterConnect', limitMysqlStatements);
      return endSilentConnections(sequelize);
    }
    case 'postgres':
    case 'postgresql':
      return endSilentConnections(
        new Sequelize(url, {
          dialect: 'postgres',
          logging: false,
          pool: POOL,
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

/** Undefined where a URL is malformed, or names nothing: SQLite would then keep everything in a temporary file. */
function schemeOf(url: string): string | undefined {
  const scheme = /^([a-z]+):(?!\/\/$)./.exec(url)?.[1];
  return scheme === 'sqlite' || URL.canParse(url) ? scheme : undefined;
}

/** Null where Sequelize runs on a database that latchkey does not know. */
export function dialectOf(sequelize: Sequelize): Dialect | null {
  return DIALECTS[sequelize.getDialect()] ?? null;
}

/** By shape, not by class: the app's Sequelize may be another copy than ours. */
export function isSequelize(value: unknown): value is Sequelize {
  const it = value as Partial<Sequelize> | null;
  return typeof it === 'object' && typeof it?.query === 'function' && typeof it.getDialect === 'function';
}

// MariaDB reads what stands in its own kind of comment; MySQL has no limit for statements that write.
function limitMysqlStatements(connection: unknown): Promise<void> {
  const seconds = STATEMENT_MS / 1000;
  const sql = `SET SESSION innodb_lock_wait_timeout = ${seconds} /*M!100101 , max_statement_time = ${seconds} */`;
  return new Promise((resolve, reject) => {
    const { query } = connection as { query(sql: string, done: (error: Error | null) => void): void };
    query.call(connection, sql, (error) => (error ? reject(error) : resolve()));
  });
}

/** What the drivers keep of their socket. */
interface DriverConnection {
  stream?: Socket;
  connection?: { stream: Socket };
}

// A server that has gone without a word leaves its connections in use, each until the network gives it up, which takes a
// quarter of an hour; and so many would be all of the pool.
function endSilentConnections(sequelize: Sequelize): Sequelize {
  sequelize.addHook('afterConnect', (connection: unknown) => {
    const { stream, connection: inner } = connection as DriverConnection;
    const socket = stream ?? inner?.stream;
    socket?.setTimeout(SILENCE_MS, () => socket.destroy(new Error('the database fell silent')));
  });
  return sequelize;
}
