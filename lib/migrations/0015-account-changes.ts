import type { Migration } from './migration.js';

/** Keeps what it takes to undo changes of accounts, and the devices that an account has known. */
export const accountChanges: Migration = {
  name: '0015-account-changes',

  async up({ database, types, run }) {
    const users = database.table('users');
    const table = database.table('account_changes');
    await run(
      `CREATE TABLE ${table} (
        id ${types.id} NOT NULL,
        user_id ${types.id} NOT NULL,
        kind ${types.text(32)} NOT NULL,
        token_hash ${types.digest} NULL,
        email ${types.exactText(254)} NULL,
        state ${types.hugeText} NULL,
        created_at ${types.time} NOT NULL,
        expires_at ${types.time} NOT NULL,
        CONSTRAINT ${table}_pk PRIMARY KEY (id),
        CONSTRAINT ${table}_token_hash_unique UNIQUE (token_hash),
        CONSTRAINT ${table}_user_id_fk FOREIGN KEY (user_id) REFERENCES ${users} (id) ON DELETE CASCADE
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${table}_user_id ON ${table} (user_id, created_at)`);
    await run(`CREATE INDEX ${table}_email ON ${table} (email)`);
    await run(`CREATE INDEX ${table}_expires_at ON ${table} (expires_at)`);
    const devices = database.table('known_devices');
    await run(`ALTER TABLE ${devices} ADD COLUMN forgotten_at ${types.time} NULL`);
    await run(`ALTER TABLE ${devices} ADD COLUMN undo_token_hash ${types.digest} NULL`);
    await run(`CREATE INDEX ${devices}_undo_token_hash ON ${devices} (undo_token_hash)`);
  },

  async down({ database, run }) {
    const devices = database.table('known_devices');
    const on = database.dialect === 'mysql' ? ` ON ${devices}` : '';
    await run(`DROP INDEX ${devices}_undo_token_hash${on}`);
    await run(`ALTER TABLE ${devices} DROP COLUMN undo_token_hash`);
    await run(`ALTER TABLE ${devices} DROP COLUMN forgotten_at`);
    await run(`DROP TABLE ${database.table('account_changes')}`);
  },
};
