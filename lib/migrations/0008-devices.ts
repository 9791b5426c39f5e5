import type { Migration } from './migration.js';

export const devices: Migration = {
  name: '0008-devices',

  async up({ database, types, run }) {
    const users = database.table('users');
    const table = database.table('known_devices');
    await run(
      `CREATE TABLE ${table} (
        id ${types.id} NOT NULL,
        user_id ${types.id} NOT NULL,
        token_hash ${types.digest} NOT NULL,
        created_at ${types.time} NOT NULL,
        last_used_at ${types.time} NOT NULL,
        CONSTRAINT ${table}_pk PRIMARY KEY (id),
        CONSTRAINT ${table}_token_hash_unique UNIQUE (token_hash, user_id),
        CONSTRAINT ${table}_user_id_fk FOREIGN KEY (user_id) REFERENCES ${users} (id) ON DELETE CASCADE
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${table}_user_id ON ${table} (user_id, last_used_at)`);
    await run(`CREATE INDEX ${table}_last_used_at ON ${table} (last_used_at)`);
    const limits = database.table('rate_limits');
    await run(`ALTER TABLE ${limits} ADD COLUMN reported ${types.boolean} NULL`);
  },

  async down({ database, run }) {
    await run(`ALTER TABLE ${database.table('rate_limits')} DROP COLUMN reported`);
    await run(`DROP TABLE ${database.table('known_devices')}`);
  },
};
