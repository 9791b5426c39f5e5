import type { Migration } from './migration.js';

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
