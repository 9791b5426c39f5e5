import { Sequelize } from 'sequelize';
import { connectByUrl } from '../../lib/database/connect.js';
import type { SpecDatabase } from './database.js';

/** A Sequelize instance as an app may have: its own, with all logging on. Counts what it sends. */
export function loggingSequelize({ url }: SpecDatabase) {
  const statements: string[] = [];
  // Opened the way latchkey does, so that SQLite finds its driver, and then made the app's own.
  const sequelize = connectByUrl(url) as Sequelize;
  Object.assign((sequelize as unknown as { options: object }).options, {
    logQueryParameters: true,
    benchmark: true,
    logging: (sql: string, _time: number, options: unknown) =>
      statements.push(
        `${sql} ${JSON.stringify(options, (_key, value) => (value instanceof Sequelize ? undefined : value))}`,
      ),
  });
  return { sequelize, statements };
}
