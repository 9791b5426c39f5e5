import type { Options, Transaction } from 'sequelize';
import * as driver from './sqlite-driver.js';

/** What {@link sqlite} returns: some of the options of Sequelize. */
export type SqliteOptions = Required<
  Pick<Options, 'dialect' | 'storage' | 'dialectModule' | 'retry' | 'transactionType'>
>;

/**
 * The options of a Sequelize instance for SQLite without the package `sqlite3`, as latchkey opens one for a URL: with
 * Node's own SQLite or, before Node 22.13, with `@photostructure/sqlite`, and with a write-ahead log. Its transactions
 * wait for the lock at their start.
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
    // A deferred one cannot write any more if another connection has written since it began to read.
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
