import { json, nullable, onWire, type ShownOf, text, time, uuid } from '../../models/column.js';
import { declareTable } from '../../models/table.js';

export const auditEventsTable = declareTable({
  name: 'audit_events',
  ofUser: 'auditEvents',
  columns: {
    /** UUID, version 7. */
    id: onWire(uuid()),
    /** The name of the event, such as `sign_in.failed`. */
    kind: onWire(text(64)),
    userId: nullable(onWire(uuid())),
    ipAddress: nullable(onWire(text(45))),
    userAgent: nullable(onWire(text(255))),
    /** What else the event says: ids, never a secret. */
    details: onWire(json()),
    createdAt: onWire(time()),
  },
});

/** Something that happened. */
export interface AuditEvent extends ShownOf<typeof auditEventsTable.columns> {}
