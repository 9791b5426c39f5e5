import type { Migration } from './migration.js';

export const longerPasswordHashes: Migration = {
  name: '0007-longer-password-hashes',

  async up({ database, types, run }) {
    const users = database.table('users');
    const type = types.text(1024);
    if (database.dialect === 'mysql') await run(`ALTER TABLE ${users} MODIFY password_hash ${type} NULL`);
    if (database.dialect === 'postgres') await run(`ALTER TABLE ${users} ALTER password_hash TYPE ${type}`);
    // SQLite does not limit the length of text.
  },

  // Earlier versions work with the longer column too, and shortening it could destroy hashes.
  async down() {},
};
