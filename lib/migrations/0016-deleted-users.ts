import type { Migration } from './migration.js';

/** Keeps deleted accounts shut for a while, before they are deleted for good. */
export const deletedUsers: Migration = {
  name: '0016-deleted-users',

  async up({ database, types, run }) {
    const users = database.table('users');
    await run(`ALTER TABLE ${users} ADD COLUMN deleted_at ${types.time} NULL`);
    await run(`CREATE INDEX ${users}_deleted_at ON ${users} (deleted_at)`);
  },

  async down({ database, run }) {
    const users = database.table('users');
    const on = database.dialect === 'mysql' ? ` ON ${users}` : '';
    await run(`DROP INDEX ${users}_deleted_at${on}`);
    await run(`ALTER TABLE ${users} DROP COLUMN deleted_at`);
  },
};
