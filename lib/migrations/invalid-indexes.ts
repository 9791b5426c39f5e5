import { QueryTypes } from 'sequelize';
import type { MigrationContext } from './migration.js';

/**
 * Rebuilds the index that can be made in advance, if PostgreSQL has marked it as invalid: `CREATE INDEX CONCURRENTLY` leaves
 * one behind when it fails, which slows writes and serves no query. Each `auth.migrate()` does this, unless the index is
 * being made at this moment.
 */
export async function rebuildInvalidIndexes({ database, transaction, run }: MigrationContext): Promise<void> {
  if (database.dialect !== 'postgres') return;
  const invalid = await database.sequelize.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
     WHERE NOT i.indisvalid AND i.indexrelid NOT IN
       (SELECT p.index_relid FROM pg_stat_progress_create_index p
        WHERE p.datname = current_database() AND p.index_relid IS NOT NULL)
       AND n.nspname = current_schema() AND t.relname = :users AND c.relname = :index`,
    {
      transaction,
      type: QueryTypes.SELECT,
      replacements: { users: database.table('users'), index: `${database.table('users')}_search` },
    },
  );
  for (const { name } of invalid) await run(`REINDEX INDEX ${name}`);
}
