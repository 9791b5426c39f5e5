import type { Sequelize } from 'sequelize';
import type { CallContext } from '../context/call.js';
import { connectByUrl, dialectOf } from './connect.js';
import { Database } from './database.js';
import { Driver } from './driver.js';

/**
 * Opens the database that the config names. Nothing is connected yet.
 *
 * @throws TypeError on a URL or an instance that cannot be used
 */
export function openDatabase(
  urlOrInstance: Sequelize | string,
  tablePrefix: string,
  context: CallContext,
): Database {
  const sequelize = typeof urlOrInstance === 'string' ? connectByUrl(urlOrInstance) : urlOrInstance;
  if (!sequelize) {
    throw new TypeError(
      'latchkey: database must be a valid URL that starts with sqlite:, mysql://, mariadb:// or postgres://',
    );
  }
  const dialect = dialectOf(sequelize);
  if (!dialect) {
    throw new TypeError(
      `latchkey: database is a Sequelize instance for ${sequelize.getDialect()}; it must be for mysql, mariadb, postgres or sqlite`,
    );
  }
  const driver = typeof urlOrInstance === 'string' ? new Driver(sequelize, dialect) : undefined;
  return new Database(sequelize, dialect, tablePrefix, context, driver);
}
