import type { Migration } from './migration.js';

export const rateLimits: Migration = {
  name: '0004-rate-limits',

  async up({ database, types, run }) {
    const table = database.table('rate_limits');
    await run(
      `CREATE TABLE ${table} (
        key_hash ${types.digest} NOT NULL,
        hits INTEGER NOT NULL,
        blocked_until ${types.time} NULL,
        expires_at ${types.time} NOT NULL,
        CONSTRAINT ${table}_pk PRIMARY KEY (key_hash)
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${table}_expires_at ON ${table} (expires_at)`);
  },

  async down({ database, run }) {
    await run(`DROP TABLE ${database.table('rate_limits')}`);
  },
};
