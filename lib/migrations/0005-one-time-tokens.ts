import type { Migration } from './migration.js';

export const oneTimeTokens: Migration = {
  name: '0005-one-time-tokens',

  async up({ database, types, run }) {
    const users = database.table('users');
    const table = database.table('one_time_tokens');
    await run(
      `CREATE TABLE ${table} (
        token_hash ${types.digest} NOT NULL,
        user_id ${types.id} NOT NULL,
        purpose ${types.exactText(32)} NOT NULL,
        email ${types.exactText(254)} NOT NULL,
        expires_at ${types.time} NOT NULL,
        CONSTRAINT ${table}_pk PRIMARY KEY (token_hash),
        CONSTRAINT ${table}_user_id_fk FOREIGN KEY (user_id) REFERENCES ${users} (id) ON DELETE CASCADE
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${table}_user_id ON ${table} (user_id)`);
    await run(`CREATE INDEX ${table}_expires_at ON ${table} (expires_at)`);
  },

  async down({ database, run }) {
    await run(`DROP TABLE ${database.table('one_time_tokens')}`);
  },
};
