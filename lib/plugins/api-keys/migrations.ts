import { declareMigration } from '../../migrations/migration.js';

export const apiKeysMigration = declareMigration('apiKeys()', {
  name: '0003-api-keys',

  async up({ database, types, run }) {
    const users = database.table('users');
    const table = database.table('api_keys');
    await run(
      `CREATE TABLE ${table} (
        id ${types.id} NOT NULL,
        user_id ${types.id} NOT NULL,
        name ${types.text(100)} NOT NULL,
        start ${types.text(16)} NOT NULL,
        key_hash ${types.digest} NOT NULL,
        scopes ${types.longText} NOT NULL,
        created_at ${types.time} NOT NULL,
        expires_at ${types.time} NULL,
        last_used_at ${types.time} NULL,
        CONSTRAINT ${table}_pk PRIMARY KEY (id),
        CONSTRAINT ${table}_key_hash_unique UNIQUE (key_hash),
        CONSTRAINT ${table}_user_id_fk FOREIGN KEY (user_id) REFERENCES ${users} (id) ON DELETE CASCADE
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${table}_user_id ON ${table} (user_id)`);
  },

  async down({ database, run }) {
    await run(`DROP TABLE ${database.table('api_keys')}`);
  },
});
