import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import { inTurns, ROWS_AT_ONCE } from '../../database/batches.js';
import { storable } from '../../database/literal.js';
import { endingWithObject } from '../../known-keys.js';
import type { AuthEventName, ClientInfo } from '../../outbox/events.js';
import type { TransactionOption } from '../../sessions/request.js';
import { cutPage, type PageOptions, readPage } from '../../tables/pages.js';
import type { Selection, Table } from '../../tables/table.js';
import { turnEnd } from '../../timers.js';
import { type AuditEvent, auditEventsTable } from './declarations.js';

/** Filters and pages a list of events. */
export interface ListEventsOptions extends PageOptions, TransactionOption {
  /** Only events of this user. @default all users */
  userId?: string;
  /** Only events with this name, such as `sign_in.failed`. @default all events */
  kind?: string;
}

const DELETIONS: ReadonlySet<string> = new Set(['user.deleted', 'admin.user_deleted']);
// Limits memory use if events occur faster than the database can store them.
const MAX_WAITING = 20_000;

/** An event that is waiting to be saved, and when it occurred by `clock.elapsed()`. */
interface Recorded extends Omit<AuditEvent, 'id' | 'createdAt'> {
  readonly at: number;
}

type AnyEvent = { readonly userId?: string | null } & Partial<ClientInfo>;

const KEYS = ['userId', 'kind', 'limit', 'cursor'];

/** `auth.auditLog`: the recorded events. */
export class AuditLogApi {
  readonly #core: Core;
  readonly #table: Table<typeof auditEventsTable.columns>;
  readonly #event: Selection<AuditEvent>;
  #waiting: Recorded[] = [];
  #writing: Promise<void> | null = null;
  #lost = 0;

  /** @internal */
  constructor(core: Core) {
    this.#core = core;
    this.#table = core.table(auditEventsTable);
    this.#event = this.#table.shown('e');
    endingWithObject('auth.auditLog', this);
  }

  /** Lists events page by page, newest first. @throws AuthError `invalid_request` for an invalid limit or cursor */
  async listEvents(options: ListEventsOptions = {}): Promise<{
    events: AuditEvent[];
    nextCursor: string | null;
  }> {
    const { userId, kind } = options;
    const { limit, before } = readPage(options);
    const conditions = ['1 = 1'];
    if (before !== null) conditions.push('e.id < :before');
    if (userId !== undefined) conditions.push('e.user_id = :userId');
    if (kind !== undefined) conditions.push('e.kind = :kind');
    const rows = await this.#core.call('auth.auditLog.listEvents', options, KEYS, async () =>
      userId !== undefined && !isUuid(userId)
        ? []
        : this.#event.select(`WHERE ${conditions.join(' AND ')} ORDER BY e.id DESC LIMIT ${limit + 1}`, {
            before,
            userId: userId ?? null,
            kind: kind ?? null,
          }),
    );
    const { page: events, nextCursor } = cutPage(rows, limit);
    return { events, nextCursor };
  }

  /** Saves an event in the background. Resolves when no event waits any longer. @internal */
  async record(
    kind: AuthEventName,
    { userId = null, ip = null, userAgent = null, ...details }: AnyEvent,
  ): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost++;
      return;
    }
    this.#waiting.push({
      at: this.#core.database.clock.elapsed(),
      kind,
      userId,
      ipAddress: storable(ip, 45),
      userAgent: storable(userAgent, 255),
      details,
    });
    this.#writing ??= this.#core.context.detached(() => this.#write());
    await this.#writing;
  }

  /** Removes the data that identifies a deleted user's devices and locations. @internal */
  async forget(userId: string, transaction?: Transaction): Promise<void> {
    await this.#table.update({ ipAddress: null, userAgent: null }, { userId }, transaction);
  }

  /** @internal */
  async settle(): Promise<void> {
    // Listeners are called asynchronously, so some events might not be recorded yet.
    await turnEnd();
    await this.#writing;
  }

  // Sends one statement at a time, so that a burst of events does not occupy several connections.
  async #write(): Promise<void> {
    for await (const rows of inTurns(this.#batches())) {
      try {
        await this.#core.database.ready();
        await this.#table.insert(rows.map((row) => this.#dated(row)));
        // Also removes the data from events that were not saved before the deletion, and from the event of the deletion
        // itself.
        for (const { kind, userId } of rows) if (DELETIONS.has(kind) && userId) await this.forget(userId);
      } catch (error) {
        this.#core.settings.log.error(
          'audit_log.not_saved',
          `audit events could not be saved: ${rows.length}`,
          { err: error },
        );
      }
    }
    // Some events might have been recorded since the last batch.
    if (this.#waiting.length > 0) return this.#write();
    this.#writing = null;
    if (this.#lost === 0) return;
    this.#core.settings.log.error(
      'audit_log.dropped',
      `audit events were dropped, because there were too many to save: ${this.#lost}`,
      { cause: null, count: this.#lost },
    );
    this.#lost = 0;
  }

  *#batches(): Generator<Recorded[]> {
    while (this.#waiting.length > 0) yield this.#waiting.splice(0, ROWS_AT_ONCE);
  }

  // Date events when they are saved, because the database's clock might not have been read when they were recorded.
  #dated({ at, ...row }: Recorded): AuditEvent {
    const { clock } = this.#core.database;
    const createdAt = clock.date(at - clock.elapsed());
    return { id: uuidv7(createdAt.getTime()), ...row, createdAt };
  }
}
