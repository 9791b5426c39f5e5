import { declareMigration } from '../../migrations/migration.js';
import { column, type ShownOf } from '../../tables/column.js';
import { declareTable } from '../../tables/table.js';

export const auditEventsTable = declareTable({
  name: 'audit_events',
  ofUser: 'auditEvents',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().onWire(),
    /** The name of the event, such as `sign_in.failed`. */
    kind: column.text(64).onWire(),
    /** The user that the event is about. Null if it is about none, or no account exists. */
    userId: column.uuid().onWire().nullable(),
    /** The IP address of the client, if known. */
    ipAddress: column.text(45).onWire().nullable(),
    /** The user agent of the client, if known. */
    userAgent: column.text(255).onWire().nullable(),
    /** The rest of the event's payload: ids, never secrets. */
    details: column.json().onWire(),
    /** When the event happened. */
    createdAt: column.time().onWire(),
  },
});

/** A recorded event. */
export interface AuditEvent extends ShownOf<typeof auditEventsTable.columns> {}

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
