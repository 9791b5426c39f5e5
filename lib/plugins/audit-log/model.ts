import { column, type ShownOf } from '../../models/column.js';
import { declareTable } from '../../models/table.js';

export const auditEventsTable = declareTable({
  name: 'audit_events',
  ofUser: 'auditEvents',
  columns: {
    /** UUID, version 7. */
    id: column.uuid().onWire(),
    /** The name of the event, such as `sign_in.failed`. */
    kind: column.text(64).onWire(),
    userId: column.uuid().onWire().nullable(),
    ipAddress: column.text(45).onWire().nullable(),
    userAgent: column.text(255).onWire().nullable(),
    /** What else the event says: ids, never a secret. */
    details: column.json().onWire(),
    createdAt: column.time().onWire(),
  },
});

/** Something that happened. */
export interface AuditEvent extends ShownOf<typeof auditEventsTable.columns> {}
