import { dialect, rows, type SpecDatabase } from './database.js';
import { until } from './until.js';

/** Waits until a transaction is waiting for a row that another one has locked. Not on SQLite, which locks no rows. */
export function lockWait(database: SpecDatabase): Promise<void> {
  const sql =
    dialect === 'mysql'
      ? `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE '%FOR UPDATE%' AND id <> CONNECTION_ID()`
      : `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  return until(async () => (await rows(database, sql)).length > 0);
}
