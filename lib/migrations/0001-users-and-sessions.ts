import type { Migration } from './migration.js';

export const usersAndSessions: Migration = {
  name: '0001-users-and-sessions',

  async up({ database, types, run }) {
    const users = database.table('users');
    const sessions = database.table('sessions');
    await run(
      `CREATE TABLE ${users} (
        id ${types.id} NOT NULL,
        email ${types.exactText(254)} NULL,
        username ${types.exactText(30)} NULL,
        email_verified_at ${types.time} NULL,
        password_hash ${types.text(255)} NULL,
        auth_epoch INTEGER NOT NULL DEFAULT 0,
        created_at ${types.time} NOT NULL,
        updated_at ${types.time} NOT NULL,
        CONSTRAINT ${users}_pk PRIMARY KEY (id),
        CONSTRAINT ${users}_email_unique UNIQUE (email),
        CONSTRAINT ${users}_username_unique UNIQUE (username)
      ) ${types.tableOptions}`,
    );
    await run(
      `CREATE TABLE ${sessions} (
        id ${types.id} NOT NULL,
        user_id ${types.id} NOT NULL,
        token_hash ${types.digest} NOT NULL,
        auth_epoch INTEGER NOT NULL,
        remembered ${types.boolean} NOT NULL,
        created_at ${types.time} NOT NULL,
        authenticated_at ${types.time} NOT NULL,
        last_active_at ${types.time} NOT NULL,
        expires_at ${types.time} NOT NULL,
        ip_address ${types.text(45)} NULL,
        user_agent ${types.text(255)} NULL,
        CONSTRAINT ${sessions}_pk PRIMARY KEY (id),
        CONSTRAINT ${sessions}_token_hash_unique UNIQUE (token_hash),
        CONSTRAINT ${sessions}_user_id_fk FOREIGN KEY (user_id) REFERENCES ${users} (id) ON DELETE CASCADE
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${sessions}_user_id ON ${sessions} (user_id)`);
    await run(`CREATE INDEX ${sessions}_expires_at ON ${sessions} (expires_at)`);
    await run(`CREATE INDEX ${sessions}_last_active_at ON ${sessions} (last_active_at)`);
  },

  async down({ database, run }) {
    await run(`DROP TABLE ${database.table('sessions')}`);
    await run(`DROP TABLE ${database.table('users')}`);
  },
};
