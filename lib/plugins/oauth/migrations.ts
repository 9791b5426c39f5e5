import { declareMigration } from '../../migrations/migration.js';

export const accountsMigration = declareMigration('oauth()', {
  name: '0002-accounts',

  async up({ database, types, run }) {
    const users = database.table('users');
    const table = database.table('accounts');
    const flows = database.table('oauth_flows');
    await run(
      `CREATE TABLE ${table} (
        id ${types.id} NOT NULL,
        user_id ${types.id} NOT NULL,
        provider ${types.exactText(64)} NOT NULL,
        issuer ${types.exactText(255)} NOT NULL,
        subject ${types.exactText(255)} NOT NULL,
        scopes ${types.longText} NOT NULL,
        token_type ${types.text(64)} NULL,
        access_token ${types.longText} NULL,
        refresh_token ${types.longText} NULL,
        id_token ${types.longText} NULL,
        access_token_expires_at ${types.time} NULL,
        relink_required ${types.boolean} NOT NULL,
        refresh_lease ${types.id} NULL,
        refresh_lease_until ${types.time} NULL,
        refreshed_at ${types.time} NOT NULL,
        created_at ${types.time} NOT NULL,
        updated_at ${types.time} NOT NULL,
        CONSTRAINT ${table}_pk PRIMARY KEY (id),
        CONSTRAINT ${table}_issuer_subject_unique UNIQUE (issuer, subject),
        CONSTRAINT ${table}_user_id_provider_unique UNIQUE (user_id, provider),
        CONSTRAINT ${table}_user_id_fk FOREIGN KEY (user_id) REFERENCES ${users} (id) ON DELETE CASCADE
      ) ${types.tableOptions}`,
    );
    await run(
      `CREATE TABLE ${flows} (
        state_hash ${types.digest} NOT NULL,
        browser_hash ${types.digest} NOT NULL,
        provider ${types.exactText(64)} NOT NULL,
        session_id ${types.id} NULL,
        callback_url ${types.text(2048)} NOT NULL,
        redirect_uri ${types.text(2048)} NOT NULL,
        sealed ${types.longText} NOT NULL,
        expires_at ${types.time} NOT NULL,
        CONSTRAINT ${flows}_pk PRIMARY KEY (state_hash)
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${flows}_expires_at ON ${flows} (expires_at)`);
  },

  async down({ database, run }) {
    await run(`DROP TABLE ${database.table('oauth_flows')}`);
    await run(`DROP TABLE ${database.table('accounts')}`);
  },
});
