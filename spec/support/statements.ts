import { Sequelize } from 'sequelize';
import { connectByUrl } from '../../lib/database/connect.js';
import type { SpecDatabase } from './database.js';

/** Creates an instance like most apps do, with Sequelize's default options, but without a log. */
export function plainSequelize({ url }: SpecDatabase): Sequelize {
  return url.startsWith('sqlite:')
    ? (connectByUrl(url) as Sequelize)
    : new Sequelize(url, { logging: false });
}

/**
 * Creates the app's own Sequelize instance, with all logging enabled. Collects the statements that it sends.
 */
export function loggingSequelize({ url }: SpecDatabase) {
  const statements: string[] = [];
  // Opened in the same way as latchkey does, so that SQLite finds its driver.
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
