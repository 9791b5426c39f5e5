import type { Migration } from './migration.js';

/** Records which sessions of older systems have been taken over, so that each becomes one session at most. */
export const carriedSessions: Migration = {
  name: '0025-carried-sessions',

  async up({ database, types, run }) {
    const table = database.table('carried_sessions');
    await run(
      `CREATE TABLE ${table} (
        old_hash ${types.digest} NOT NULL,
        token_hash ${types.digest} NULL,
        sealed_token ${types.longText} NULL,
        used_at ${types.time} NULL,
        created_at ${types.time} NOT NULL,
        expires_at ${types.time} NOT NULL,
        CONSTRAINT ${table}_pk PRIMARY KEY (old_hash)
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${table}_expires_at ON ${table} (expires_at)`);
  },

  async down({ database, run }) {
    await run(`DROP TABLE ${database.table('carried_sessions')}`);
  },
};
