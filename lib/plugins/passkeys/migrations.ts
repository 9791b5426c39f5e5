import { declareMigration } from '../../migrations/migration.js';

export const passkeysMigration = declareMigration('passkeys()', {
  name: '0018-passkeys',

  async up({ database, types, run }) {
    const users = database.table('users');
    const table = database.table('passkeys');
    const challenges = database.table('passkey_challenges');
    await run(
      `CREATE TABLE ${table} (
        id ${types.id} NOT NULL,
        user_id ${types.id} NOT NULL,
        name ${types.text(100)} NOT NULL,
        created_at ${types.time} NOT NULL,
        last_used_at ${types.time} NULL,
        device_type ${types.text(16)} NOT NULL,
        backed_up ${types.boolean} NOT NULL,
        transports ${types.longText} NOT NULL,
        credential_id ${types.longText} NOT NULL,
        credential_hash ${types.digest} NOT NULL,
        public_key ${types.longText} NOT NULL,
        user_handle ${types.exactText(64)} NOT NULL,
        counter BIGINT NOT NULL,
        CONSTRAINT ${table}_pk PRIMARY KEY (id),
        CONSTRAINT ${table}_credential_hash_unique UNIQUE (credential_hash),
        CONSTRAINT ${table}_user_id_fk FOREIGN KEY (user_id) REFERENCES ${users} (id) ON DELETE CASCADE
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${table}_user_id ON ${table} (user_id)`);
    await run(
      `CREATE TABLE ${challenges} (
        challenge_hash ${types.digest} NOT NULL,
        purpose ${types.exactText(16)} NOT NULL,
        binding_hash ${types.digest} NOT NULL,
        user_id ${types.id} NULL,
        user_handle ${types.exactText(64)} NULL,
        expires_at ${types.time} NOT NULL,
        CONSTRAINT ${challenges}_pk PRIMARY KEY (challenge_hash),
        CONSTRAINT ${challenges}_user_id_fk FOREIGN KEY (user_id) REFERENCES ${users} (id) ON DELETE CASCADE
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${challenges}_expires_at ON ${challenges} (expires_at)`);
    await run(`CREATE INDEX ${challenges}_user_id ON ${challenges} (user_id)`);
  },

  async down({ database, run }) {
    await run(`DROP TABLE ${database.table('passkey_challenges')}`);
    await run(`DROP TABLE ${database.table('passkeys')}`);
  },
});
