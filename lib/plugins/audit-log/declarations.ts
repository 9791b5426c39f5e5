import { type AuthEventName, declaredEvents, NAMES_OF_FIELDS } from '../../outbox/events.js';
import { column, type ShownOf } from '../../tables/column.js';
import { declareTable } from '../../tables/table.js';

/**
 * The events whose client is the user, or someone who tries to sign in. Others can be caused by administrators or code.
 */
const BY_USER: ReadonlySet<unknown> = new Set<AuthEventName>([
  'session.created',
  'session.reauthenticated',
  'sign_in.failed',
  'sign_in.throttled',
]);

/** Leaves out the details and the device that might belong to another person, and the names of hidden fields. */
function withoutOthers(
  { details, ...event }: Readonly<Record<string, unknown>>,
  fields: ReadonlySet<string>,
) {
  // An event that no loaded module declares, such as one of an earlier version, exports no details.
  const inExport = declaredEvents.get(String(event.kind)) ?? {};
  const own = Object.entries(details as object).flatMap(([name, value]) => {
    if (inExport[name] === NAMES_OF_FIELDS)
      return [[name, (value as string[]).filter((field) => fields.has(field))]];
    return inExport[name] === true ? [[name, value]] : [];
  });
  const client = BY_USER.has(event.kind) ? {} : { ipAddress: null, userAgent: null };
  return { ...event, ...client, details: Object.fromEntries(own) };
}

export const auditEventsTable = declareTable({
  name: 'audit_events',
  ofUser: 'auditEvents',
  exported: { as: 'audit_events', by: 'userId', without: withoutOthers },
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

/** A recorded event. */
export interface AuditEvent extends ShownOf<typeof auditEventsTable.columns> {}
