import type { Migration, MigrationContext } from './migration.js';

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
