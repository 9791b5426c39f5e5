import type { Migration } from './migration.js';

export const replacedTokens: Migration = {
  name: '0010-replaced-tokens',

  async up({ database, types, run }) {
    const sessions = database.table('sessions');
    await run(`ALTER TABLE ${sessions} ADD COLUMN replaced_token_hash ${types.digest} NULL`);
    await run(`ALTER TABLE ${sessions} ADD COLUMN token_issued_at ${types.time} NULL`);
    await run(`CREATE INDEX ${sessions}_replaced_token_hash ON ${sessions} (replaced_token_hash)`);
  },

  async down({ database, run }) {
    const sessions = database.table('sessions');
    // SQLite drops no column that has an index.
    const on = database.dialect === 'mysql' ? ` ON ${sessions}` : '';
    await run(`DROP INDEX ${sessions}_replaced_token_hash${on}`);
    await run(`ALTER TABLE ${sessions} DROP COLUMN token_issued_at`);
    await run(`ALTER TABLE ${sessions} DROP COLUMN replaced_token_hash`);
  },
};
