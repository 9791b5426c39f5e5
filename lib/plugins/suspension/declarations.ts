import { declareMigration } from '../../migrations/migration.js';

export const suspensionMigration = declareMigration('suspension()', {
  name: '0012-suspension',

  async up({ database, types, run }) {
    const users = database.table('users');
    await run(`ALTER TABLE ${users} ADD COLUMN suspended_at ${types.time} NULL`);
    await run(`ALTER TABLE ${users} ADD COLUMN suspended_until ${types.time} NULL`);
    await run(`ALTER TABLE ${users} ADD COLUMN suspension_reason ${types.text(255)} NULL`);
  },

  async down({ database, run }) {
    const users = database.table('users');
    for (const column of ['suspension_reason', 'suspended_until', 'suspended_at'])
      await run(`ALTER TABLE ${users} DROP COLUMN ${column}`);
  },
});
