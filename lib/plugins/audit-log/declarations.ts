import { declareMigration } from '../../migrations/migration.js';

export const auditEventsMigration = declareMigration('auditLog()', {
  name: '0006-audit-events',

  async up({ database, types, run }) {
    const table = database.table('audit_events');
    // No foreign key, so that events are kept when their user is deleted.
    await run(
      `CREATE TABLE ${table} (
        id ${types.id} NOT NULL,
        kind ${types.exactText(64)} NOT NULL,
        user_id ${types.id} NULL,
        ip_address ${types.text(45)} NULL,
        user_agent ${types.text(255)} NULL,
        details ${types.longText} NOT NULL,
        created_at ${types.time} NOT NULL,
        CONSTRAINT ${table}_pk PRIMARY KEY (id)
      ) ${types.tableOptions}`,
    );
    await run(`CREATE INDEX ${table}_user_id ON ${table} (user_id, id)`);
    await run(`CREATE INDEX ${table}_kind ON ${table} (kind, id)`);
    await run(`CREATE INDEX ${table}_created_at ON ${table} (created_at)`);
  },

  async down({ database, run }) {
    await run(`DROP TABLE ${database.table('audit_events')}`);
  },
});
