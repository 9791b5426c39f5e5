import { Sequelize, Transaction } from 'sequelize';
import { connectByUrl } from '../../lib/database/connect.js';
import { dialect, type SpecDatabase } from './database.js';

/**
 * Opens a database like an app that has its own Sequelize instance. On SQLite, its transactions take the lock at their
 * start, and wait for it.
 */
export function connectAsApp({ url }: SpecDatabase, max = 5): Sequelize {
  if (dialect !== 'sqlite') return new Sequelize(url, { logging: false, pool: { max } });
  const sequelize = connectByUrl(url) as Sequelize;
  const { options } = sequelize as unknown as {
    options: { transactionType: string; retry: { max: number } };
  };
  options.transactionType = Transaction.TYPES.IMMEDIATE;
  options.retry.max = 100;
  return sequelize;
}
