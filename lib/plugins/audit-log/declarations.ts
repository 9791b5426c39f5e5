import { declareFormerMigration } from '../../migrations/former.js';
import { column, type ShownOf } from '../../tables/column.js';
import { declareTable } from '../../tables/table.js';

export const auditEventsTable = declareTable({
  name: 'audit_events',
  ofUser: 'auditEvents',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().onWire(),
    /** The name of the event, such as `sign_in.failed`. */
    kind: column.text(64).exact().onWire(),
    /** The user that the event is about. Null if it is not about a user, or if no account exists. */
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
  // No foreign key, so that events are kept when their user is deleted.
  indexes: { userId: ['userId', 'id'], kind: ['kind', 'id'], createdAt: ['createdAt'] },
});

declareFormerMigration('auditLog', '0006-audit-events');

/** A recorded event. */
export interface AuditEvent extends ShownOf<typeof auditEventsTable.columns> {}
