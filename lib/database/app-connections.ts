import type { Sequelize } from 'sequelize';
import { type LibsqlTransaction, onLibsql } from './libsql-connection.js';
import { type Driver, onConnection } from './sqlite-driver.js';

/** A connection of the app, and how latchkey uses it. */
export interface AppConnection {
  /** The connection that sends the statements. The connections of mysql2/promise wrap one with callbacks. */
  readonly inner: object;
  /** The connection as Sequelize and latchkey's driver use it. */
  readonly connection: object;
  /** Whether it is in a transaction. Undefined if only the database knows. */
  isInTransaction?(): boolean;
}

/** Recognizes a connection that the app has passed. @throws TypeError if it is not one of the dialect's driver */
export function appConnection(sequelize: Sequelize, given: unknown): AppConnection {
  const dialect = sequelize.getDialect();
  switch (dialect) {
    case 'postgres':
      return ofPostgres(given);
    case 'mysql':
      return ofMysql(given, (sequelize as unknown as { options: { timezone: string } }).options);
    case 'sqlite':
      return ofSqlite(given);
    default:
      throw new TypeError(
        `latchkey: transaction.connection does not work with a Sequelize instance for ${dialect}: use the dialect mysql, or pass a transaction of the instance`,
      );
  }
}

function ofPostgres(given: unknown): AppConnection {
  if (!has(given, 'query') || !has(given, 'escapeLiteral')) throw notAConnection('a client of pg', given);
  return { inner: given, connection: given };
}

/** The parts of a connection of mysql2 that Sequelize and latchkey use. */
interface MysqlConnection {
  query(statement: object, done: unknown): object;
  execute(statement: object, values: unknown, done: unknown): object;
}

function ofMysql(given: unknown, { timezone }: { timezone: string }): AppConnection {
  const { connection: inner = given } = (given ?? {}) as { connection?: unknown };
  if (!has(inner, 'query') || !has(inner, 'execute') || !has(inner, 'promise') || 'getConnection' in inner)
    throw notAConnection('a connection of mysql2', given);
  const mysql = inner as unknown as MysqlConnection;
  // The results must not depend on the options of the app's connection.
  const options = {
    rowsAsArray: false,
    nestTables: false,
    // mysql2 only knows offsets. latchkey reads strings in any time zone.
    ...(/^[+-]/.test(timezone) ? { timezone } : { dateStrings: true }),
    // mysql2 would use a function of the connection's options.
    typeCast: (_field: unknown, next: () => unknown) => next(),
  };
  return {
    inner,
    connection: {
      query: (statement: string | { readonly sql: string }, done: unknown) =>
        mysql.query(
          { ...options, ...(typeof statement === 'string' ? { sql: statement } : statement) },
          done,
        ),
      execute: (sql: string, values: unknown, done: unknown) =>
        mysql.execute({ ...options, sql }, values, done),
    },
  };
}

function ofSqlite(given: unknown): AppConnection {
  if (has(given, 'execute') && has(given, 'commit') && 'closed' in given) {
    const transaction = given as unknown as LibsqlTransaction;
    return {
      inner: given,
      connection: onLibsql(transaction),
      isInTransaction: () => !transaction.closed,
    };
  }
  // The statements of the package sqlite3, which has `each`, are asynchronous.
  if (!has(given, 'prepare') || !has(given, 'exec') || 'each' in given)
    throw notAConnection('a database of better-sqlite3 or node:sqlite, or a transaction of libsql', given);
  const driver = given as unknown as Driver;
  return {
    inner: given,
    connection: onConnection(driver),
    isInTransaction: () => driver.inTransaction ?? driver.isTransaction ?? isBegun(driver),
  };
}

/** Finds out whether a transaction has begun, without a property for it. Nothing else runs meanwhile. */
function isBegun(driver: Driver): boolean {
  // The app's own statements are watched.
  const { prepare } = Object.getPrototypeOf(driver) as Driver;
  try {
    prepare.call(driver, 'BEGIN').run();
  } catch (error) {
    return /within a transaction/.test(String(error));
  }
  prepare.call(driver, 'ROLLBACK').run();
  return false;
}

function has<Name extends string>(value: unknown, method: Name): value is Record<Name, unknown> {
  const it = value as Record<Name, unknown> | null;
  return typeof it === 'object' && it !== null && typeof it[method] === 'function';
}

function notAConnection(expected: string, given: unknown): TypeError {
  const isPool =
    typeof given === 'object' && given !== null && ('totalCount' in given || 'getConnection' in given);
  const hint = isPool ? '. It is a pool: take a connection from it, and begin the transaction there' : '';
  return new TypeError(`latchkey: transaction.connection must be ${expected}${hint}`);
}
