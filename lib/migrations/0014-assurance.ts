import type { Migration } from './migration.js';

/** Records in sessions how, and how strongly, their users have authenticated. */
export const assurance: Migration = {
  name: '0014-assurance',

  async up({ database, types, run }) {
    const sessions = database.table('sessions');
    await run(`ALTER TABLE ${sessions} ADD COLUMN aal INTEGER NOT NULL DEFAULT 1`);
    await run(`ALTER TABLE ${sessions} ADD COLUMN amr ${types.text(100)} NOT NULL DEFAULT ''`);
  },

  async down({ database, run }) {
    const sessions = database.table('sessions');
    await run(`ALTER TABLE ${sessions} DROP COLUMN amr`);
    await run(`ALTER TABLE ${sessions} DROP COLUMN aal`);
  },
};
