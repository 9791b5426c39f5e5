import { rows, type SpecDatabase } from './database.js';

export interface OutboxRow {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly content: string | null;
  readonly attempts: number;
}

/** The rows of the outbox, oldest first. */
export function outboxOf(database: SpecDatabase): Promise<OutboxRow[]> {
  return rows<OutboxRow>(database, 'SELECT id, kind, state, content, attempts FROM outbox ORDER BY id');
}

const LONG_AGO = '2020-01-01 00:00:00.000';

/** Advances the time until all waiting entries are due again. */
export async function untilDue(database: SpecDatabase): Promise<void> {
  await rows(database, `UPDATE outbox SET due_at = '${LONG_AGO}' WHERE due_at IS NOT NULL`);
}

/** Advances the time until no waiting entry is retried. */
export async function untilTooLate(database: SpecDatabase): Promise<void> {
  await untilDue(database);
  await rows(database, `UPDATE outbox SET give_up_at = '${LONG_AGO}'`);
}

/** Runs `work` while nothing can be written to the outbox. */
export async function withoutOutbox<T>(database: SpecDatabase, work: () => Promise<T>): Promise<T> {
  await rows(database, 'ALTER TABLE outbox RENAME TO outbox_elsewhere');
  try {
    return await work();
  } finally {
    await rows(database, 'ALTER TABLE outbox_elsewhere RENAME TO outbox');
  }
}
