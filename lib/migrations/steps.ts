import type { Migration, MigrationContext } from './migration.js';

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

export const longerPasswordHashes: Migration = {
  name: '0007-longer-password-hashes',

  async up({ database, types, run }) {
    const users = database.table('users');
    const type = types.text(1024);
    if (database.dialect === 'mysql') await run(`ALTER TABLE ${users} MODIFY password_hash ${type} NULL`);
    if (database.dialect === 'postgres') await run(`ALTER TABLE ${users} ALTER password_hash TYPE ${type}`);
    // SQLite does not limit the length of text.
  },

  // Earlier versions work with the longer column too, and shortening it could destroy hashes.
  async down() {},
};

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

/**
 * Records whose mailbox was proved, and lets one-time tokens be for nobody: those are written for unknown emails, so that
 * requests for known and unknown ones write alike.
 */
export const provedMailboxes: Migration = {
  name: '0009-proved-mailboxes',

  async up(context) {
    const { database, types, run } = context;
    const users = database.table('users');
    await run(`ALTER TABLE ${users} ADD COLUMN mailbox_proved_at ${types.time} NULL`);
    // Who proved it was not recorded until now. Almost always it was a link in an email, and a user's next reset must not
    // delete API keys and linked accounts for the sake of the others.
    await run(`UPDATE ${users} SET mailbox_proved_at = email_verified_at`);
    await setUserOfTokens(context, 'NULL');
  },

  async down(context) {
    const { database, run } = context;
    await run(`DELETE FROM ${database.table('one_time_tokens')} WHERE user_id IS NULL`);
    await setUserOfTokens(context, 'NOT NULL');
    await run(`ALTER TABLE ${database.table('users')} DROP COLUMN mailbox_proved_at`);
  },
};

async function setUserOfTokens(context: MigrationContext, nullable: 'NULL' | 'NOT NULL'): Promise<void> {
  const { database, types, run } = context;
  const table = database.table('one_time_tokens');
  switch (database.dialect) {
    case 'postgres':
      return run(
        `ALTER TABLE ${table} ALTER COLUMN user_id ${nullable === 'NULL' ? 'DROP' : 'SET'} NOT NULL`,
      );
    case 'mysql':
      return run(`ALTER TABLE ${table} MODIFY user_id ${types.id} ${nullable}`);
    case 'sqlite':
      return rebuild(context, nullable);
  }
}

/** SQLite cannot alter a column: https://sqlite.org/lang_altertable.html#otheralter */
async function rebuild({ database, types, run }: MigrationContext, nullable: string): Promise<void> {
  const table = database.table('one_time_tokens');
  const columns = 'token_hash, user_id, purpose, email, expires_at';
  await run(
    `CREATE TABLE ${table}_new (
      token_hash ${types.digest} NOT NULL,
      user_id ${types.id} ${nullable},
      purpose ${types.exactText(32)} NOT NULL,
      email ${types.exactText(254)} NOT NULL,
      expires_at ${types.time} NOT NULL,
      CONSTRAINT ${table}_pk PRIMARY KEY (token_hash),
      CONSTRAINT ${table}_user_id_fk FOREIGN KEY (user_id) REFERENCES ${database.table('users')} (id) ON DELETE CASCADE
    ) ${types.tableOptions}`,
  );
  await run(`INSERT INTO ${table}_new (${columns}) SELECT ${columns} FROM ${table}`);
  await run(`DROP TABLE ${table}`);
  await run(`ALTER TABLE ${table}_new RENAME TO ${table}`);
  await run(`CREATE INDEX ${table}_user_id ON ${table} (user_id)`);
  await run(`CREATE INDEX ${table}_expires_at ON ${table} (expires_at)`);
}

export const replacedTokens: Migration = {
  name: '0010-replaced-tokens',

  async up({ database, types, run }) {
    const sessions = database.table('sessions');
    await run(`ALTER TABLE ${sessions} ADD COLUMN replaced_token_hash ${types.digest} NULL`);
    await run(`ALTER TABLE ${sessions} ADD COLUMN token_issued_at ${types.time} NULL`);
    await run(`CREATE INDEX ${sessions}_replaced_token_hash ON ${sessions} (replaced_token_hash)`);
  },

  async down({ database, run }) {
    const sessions = database.table('sessions');
    // SQLite drops no column that has an index.
    const on = database.dialect === 'mysql' ? ` ON ${sessions}` : '';
    await run(`DROP INDEX ${sessions}_replaced_token_hash${on}`);
    await run(`ALTER TABLE ${sessions} DROP COLUMN token_issued_at`);
    await run(`ALTER TABLE ${sessions} DROP COLUMN replaced_token_hash`);
  },
};

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

export const longerUsernames: Migration = {
  name: '0013-longer-usernames',

  async up({ database, types, run }) {
    const users = database.table('users');
    const type = types.exactText(100);
    if (database.dialect === 'mysql') await run(`ALTER TABLE ${users} MODIFY username ${type} NULL`);
    if (database.dialect === 'postgres') await run(`ALTER TABLE ${users} ALTER username TYPE ${type}`);
    // SQLite does not limit the length of text.
  },

  // Earlier versions work with the longer column too, and shortening it could destroy usernames.
  async down() {},
};

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

/** Keeps deleted accounts shut for a while, before they are deleted for good. */
export const deletedUsers: Migration = {
  name: '0016-deleted-users',

  async up({ database, types, run }) {
    const users = database.table('users');
    await run(`ALTER TABLE ${users} ADD COLUMN deleted_at ${types.time} NULL`);
    await run(`CREATE INDEX ${users}_deleted_at ON ${users} (deleted_at)`);
  },

  async down({ database, run }) {
    const users = database.table('users');
    const on = database.dialect === 'mysql' ? ` ON ${users}` : '';
    await run(`DROP INDEX ${users}_deleted_at${on}`);
    await run(`ALTER TABLE ${users} DROP COLUMN deleted_at`);
  },
};

/**
 * For large tables. The administrators' search reads no more of a user than it compares. Pruning devices finds those that
 * were forgotten by an index, and no longer those that it has decided to keep.
 */
export const largeTables: Migration = {
  name: '0019-large-tables',

  async up({ database, types, run }) {
    const users = database.table('users');
    const devices = database.table('known_devices');
    // PostgreSQL blocks writes while it builds an index in a transaction. There, it can be made in advance, without.
    // If that has failed, it has left an invalid one: see `rebuildInvalidIndexes`.
    const create = database.dialect === 'postgres' ? 'CREATE INDEX IF NOT EXISTS' : 'CREATE INDEX';
    await run(`${create} ${users}_search ON ${users} (id, email, username)`);
    await run(`ALTER TABLE ${devices} ADD COLUMN kept ${types.boolean} NULL`);
    await run(`${create} ${devices}_unused ON ${devices} (kept, last_used_at)`);
    await run(`${create} ${devices}_forgotten ON ${devices} (kept, forgotten_at)`);
    await run(`DROP INDEX ${devices}_last_used_at${database.dialect === 'mysql' ? ` ON ${devices}` : ''}`);
  },

  async down({ database, run }) {
    const users = database.table('users');
    const devices = database.table('known_devices');
    const on = (table: string) => (database.dialect === 'mysql' ? ` ON ${table}` : '');
    await run(`CREATE INDEX ${devices}_last_used_at ON ${devices} (last_used_at)`);
    await run(`DROP INDEX ${devices}_forgotten${on(devices)}`);
    await run(`DROP INDEX ${devices}_unused${on(devices)}`);
    await run(`ALTER TABLE ${devices} DROP COLUMN kept`);
    await run(`DROP INDEX ${users}_search${on(users)}`);
  },
};

/** Keeps what is to be sent, such as emails, from the transaction that causes it until it is sent. */
export const outbox: Migration = {
  name: '0020-outbox',

  async up({ database, types, run }) {
    const table = database.table('outbox');
    await run(
      `CREATE TABLE ${table} (
        id ${types.id} NOT NULL,
        lane ${types.exactText(64)} NOT NULL,
        kind ${types.text(64)} NOT NULL,
        state ${types.exactText(16)} NOT NULL,
        content ${types.hugeText} NULL,
        attempts INTEGER NOT NULL,
        last_error ${types.text(255)} NULL,
        created_at ${types.time} NOT NULL,
        due_at ${types.time} NULL,
        give_up_at ${types.time} NOT NULL,
        finished_at ${types.time} NULL,
        expires_at ${types.time} NOT NULL,
        CONSTRAINT ${table}_pk PRIMARY KEY (id)
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${table}_due_at ON ${table} (lane, due_at)`);
    await run(`CREATE INDEX ${table}_state ON ${table} (state, id)`);
    await run(`CREATE INDEX ${table}_expires_at ON ${table} (expires_at)`);
  },

  async down({ database, run }) {
    await run(`DROP TABLE ${database.table('outbox')}`);
  },
};

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

/** The core's migrations, in the order in which they are applied; those of plugins come after them. */
export const coreMigrations: readonly Migration[] = [
  usersAndSessions,
  rateLimits,
  oneTimeTokens,
  longerPasswordHashes,
  devices,
  provedMailboxes,
  replacedTokens,
  epochsOfTokens,
  longerUsernames,
  assurance,
  accountChanges,
  deletedUsers,
  largeTables,
  outbox,
  carriedSessions,
];
