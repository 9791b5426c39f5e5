import { column } from './column.js';
import { declareTable } from './table.js';

export const outboxEntries = declareTable({
  name: 'outbox',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    /** Where it goes: entries of one lane do not hold up those of others. */
    lane: column.text(64),
    /** The kind of an email, or the name of an event. */
    kind: column.text(64),
    /** `waiting`, `sent`, `dropped` or `failed`. */
    state: column.text(16),
    /** What to send, encrypted. Null once it is sent. */
    content: column.longText().secret().nullable(),
    /** How often sending it was begun. */
    attempts: column.integer(),
    /** Why the last attempt failed, without what could be secret. Null during an attempt. */
    lastError: column.text(255).nullable(),
    createdAt: column.time(),
    /** When it is tried next; until then, a process that has begun to send it has it for itself. Null once it is finished. */
    dueAt: column.time().nullable(),
    /** When it is not tried any more. */
    giveUpAt: column.time(),
    /** When it was sent, dropped or given up. Null until then. */
    finishedAt: column.time().nullable(),
    /** When it is deleted. */
    expiresAt: column.time(),
  },
});

export type OutboxColumns = typeof outboxEntries.columns;
