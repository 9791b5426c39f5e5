import type { Migration } from './migration.js';

/**
 * For large tables. The administrators' search reads no more of a user than it compares. Pruning devices finds those that
 * were forgotten by an index, and no longer those that it has decided to keep.
 */
export const largeTables: Migration = {
  name: '0019-large-tables',

  async up({ database, types, run }) {
    const users = database.table('users');
    const devices = database.table('known_devices');
    // PostgreSQL blocks writes while it builds an index in a transaction. There, it can be made in advance, without.
    // If that has failed, it has left an invalid one: see `rebuildInvalidIndexes`.
    const create = database.dialect === 'postgres' ? 'CREATE INDEX IF NOT EXISTS' : 'CREATE INDEX';
    await run(`${create} ${users}_search ON ${users} (id, email, username)`);
    await run(`ALTER TABLE ${devices} ADD COLUMN kept ${types.boolean} NULL`);
    await run(`${create} ${devices}_unused ON ${devices} (kept, last_used_at)`);
    await run(`${create} ${devices}_forgotten ON ${devices} (kept, forgotten_at)`);
    await run(`DROP INDEX ${devices}_last_used_at${database.dialect === 'mysql' ? ` ON ${devices}` : ''}`);
  },

  async down({ database, run }) {
    const users = database.table('users');
    const devices = database.table('known_devices');
    const on = (table: string) => (database.dialect === 'mysql' ? ` ON ${table}` : '');
    await run(`CREATE INDEX ${devices}_last_used_at ON ${devices} (last_used_at)`);
    await run(`DROP INDEX ${devices}_forgotten${on(devices)}`);
    await run(`DROP INDEX ${devices}_unused${on(devices)}`);
    await run(`ALTER TABLE ${devices} DROP COLUMN kept`);
    await run(`DROP INDEX ${users}_search${on(users)}`);
  },
};
