import type { Migration } from './migration.js';

/** Lets emailed tokens end with the sessions of their user, whatever ends those. */
export const epochsOfTokens: Migration = {
  name: '0011-epochs-of-tokens',

  async up({ database, run }) {
    await run(`ALTER TABLE ${database.table('one_time_tokens')} ADD COLUMN auth_epoch INTEGER NULL`);
  },

  async down({ database, run }) {
    await run(`ALTER TABLE ${database.table('one_time_tokens')} DROP COLUMN auth_epoch`);
  },
};
