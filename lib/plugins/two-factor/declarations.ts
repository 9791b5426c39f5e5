import { declareMigration } from '../../migrations/migration.js';

export const twoFactorMigration = declareMigration('twoFactor()', {
  name: '0017-two-factor',

  async up({ database, types, run }) {
    const users = database.table('users');
    const sessions = database.table('sessions');
    const secrets = database.table('totp_secrets');
    const enrolments = database.table('totp_enrolments');
    const codes = database.table('recovery_codes');
    const pending = database.table('pending_sign_ins');
    const ofUser = (table: string) =>
      `CONSTRAINT ${table}_user_id_fk FOREIGN KEY (user_id) REFERENCES ${users} (id) ON DELETE CASCADE`;
    await run(`ALTER TABLE ${users} ADD COLUMN second_factor_at ${types.time} NULL`);
    await run(
      `CREATE TABLE ${secrets} (
        user_id ${types.id} NOT NULL,
        secret ${types.longText} NOT NULL,
        last_step INTEGER NOT NULL,
        wrong_codes INTEGER NOT NULL,
        warned_at ${types.time} NULL,
        confirmed_at ${types.time} NOT NULL,
        CONSTRAINT ${secrets}_pk PRIMARY KEY (user_id),
        ${ofUser(secrets)}
      ) ${types.tableOptions}`,
    );
    await run(
      `CREATE TABLE ${enrolments} (
        session_id ${types.id} NOT NULL,
        user_id ${types.id} NOT NULL,
        secret ${types.longText} NOT NULL,
        expires_at ${types.time} NOT NULL,
        CONSTRAINT ${enrolments}_pk PRIMARY KEY (session_id),
        CONSTRAINT ${enrolments}_session_id_fk FOREIGN KEY (session_id) REFERENCES ${sessions} (id) ON DELETE CASCADE,
        ${ofUser(enrolments)}
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${enrolments}_user_id ON ${enrolments} (user_id)`);
    await run(`CREATE INDEX ${enrolments}_expires_at ON ${enrolments} (expires_at)`);
    await run(
      `CREATE TABLE ${codes} (
        code_hash ${types.digest} NOT NULL,
        user_id ${types.id} NOT NULL,
        used_at ${types.time} NULL,
        CONSTRAINT ${codes}_pk PRIMARY KEY (code_hash),
        ${ofUser(codes)}
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${codes}_user_id ON ${codes} (user_id)`);
    await run(`CREATE INDEX ${codes}_used_at ON ${codes} (used_at)`);
    await run(
      `CREATE TABLE ${pending} (
        token_hash ${types.digest} NOT NULL,
        user_id ${types.id} NOT NULL,
        auth_epoch INTEGER NOT NULL,
        remembered ${types.boolean} NOT NULL,
        amr ${types.text(100)} NOT NULL,
        attempts ${types.text(320)} NULL,
        expires_at ${types.time} NOT NULL,
        CONSTRAINT ${pending}_pk PRIMARY KEY (token_hash),
        ${ofUser(pending)}
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${pending}_user_id ON ${pending} (user_id)`);
    await run(`CREATE INDEX ${pending}_expires_at ON ${pending} (expires_at)`);
  },

  async down({ database, run }) {
    for (const table of ['pending_sign_ins', 'recovery_codes', 'totp_enrolments', 'totp_secrets'])
      await run(`DROP TABLE ${database.table(table)}`);
    await run(`ALTER TABLE ${database.table('users')} DROP COLUMN second_factor_at`);
  },
});
