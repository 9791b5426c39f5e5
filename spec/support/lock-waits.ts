import { dialect, rows, type SpecDatabase } from './database.js';
import { until } from './until.js';

/** Waits until a transaction is waiting for a row that another one has locked. Not on SQLite, which locks no rows. */
export function lockWait(database: SpecDatabase): Promise<void> {
  const sql =
    dialect === 'mysql'
      ? `SELECT trx_id FROM information_schema.INNODB_TRX
         JOIN information_schema.PROCESSLIST ON PROCESSLIST.ID = trx_mysql_thread_id
         WHERE DB = DATABASE() AND trx_state = 'LOCK WAIT'`
      : `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  // InnoDB does not refresh INNODB_TRX while it is read more often than every 100 ms.
  return until(async () => (await rows(database, sql)).length > 0, 150);
}
