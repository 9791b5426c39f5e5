import type { Migration } from './migration.js';

export const longerUsernames: Migration = {
  name: '0013-longer-usernames',

  async up({ database, types, run }) {
    const users = database.table('users');
    const type = types.exactText(100);
    if (database.dialect === 'mysql') await run(`ALTER TABLE ${users} MODIFY username ${type} NULL`);
    if (database.dialect === 'postgres') await run(`ALTER TABLE ${users} ALTER username TYPE ${type}`);
    // SQLite does not limit the length of text.
  },

  // Earlier versions work with the longer column too, and shortening it could destroy usernames.
  async down() {},
};
