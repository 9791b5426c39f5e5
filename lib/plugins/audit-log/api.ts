import type { Core } from '../../core/core.js';
import type { AuthEventName, ClientInfo } from '../../core/events.js';
import { cutPage, type PageOptions, readPage } from '../../core/pagination.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';
import { storable } from '../../database/storable.js';
import type { Selection, Table } from '../../models/table.js';
import { type AuditEvent, auditEventsTable } from './model.js';

/** Which events, and which page of them. */
export interface ListEventsOptions extends PageOptions {
  /** Only events about this user. @default all users */
  userId?: string;
  /** Only events with this name, such as `sign_in.failed`. @default all */
  kind?: string;
}

const BATCH = 200;
// Beyond it, events come faster than the database can write them, and must not fill the memory.
const MAX_WAITING = 20_000;

type AnyEvent = { readonly userId?: string | null } & Partial<ClientInfo>;

/** `auth.auditLog`: what happened. */
export class AuditLogApi {
  readonly #core: Core;
  readonly #table: Table<typeof auditEventsTable.columns>;
  readonly #event: Selection<AuditEvent>;
  readonly #retentionMs: number;
  #waiting: AuditEvent[] = [];
  #writing: Promise<void> | null = null;
  #lost = 0;

  /** @internal */
  constructor(core: Core, retentionSeconds: number) {
    this.#core = core;
    this.#table = core.table(auditEventsTable);
    this.#event = this.#table.shown('e');
    this.#retentionMs = retentionSeconds * 1000;
  }

  /** Events, the newest first, a page at a time. @throws AuthError `invalid_request` on a bad limit or cursor */
  async listEvents({ userId, kind, ...page }: ListEventsOptions = {}): Promise<{
    events: AuditEvent[];
    nextCursor: string | null;
  }> {
    const { limit, before } = readPage(page);
    if (userId !== undefined && !isUuid(userId)) return { events: [], nextCursor: null };
    const conditions = ['1 = 1'];
    if (before !== null) conditions.push('e.id < :before');
    if (userId !== undefined) conditions.push('e.user_id = :userId');
    if (kind !== undefined) conditions.push('e.kind = :kind');
    const rows = await this.#event.select(
      `WHERE ${conditions.join(' AND ')} ORDER BY e.id DESC LIMIT ${limit + 1}`,
      { before, userId: userId ?? null, kind: kind ?? null },
    );
    const { page: events, nextCursor } = cutPage(rows, limit);
    return { events, nextCursor };
  }

  /** @internal */
  record(kind: AuthEventName, { userId = null, ip = null, userAgent = null, ...details }: AnyEvent): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost++;
      return;
    }
    const createdAt = this.#core.database.clock.date();
    this.#waiting.push({
      id: uuidv7(createdAt.getTime()),
      kind,
      userId,
      ipAddress: storable(ip, 45),
      userAgent: storable(userAgent, 255),
      details,
      createdAt,
    });
    this.#writing ??= this.#core.context.detached(() => this.#write());
  }

  /** @internal */
  prune(): Promise<number> {
    const { database } = this.#core;
    const end = database.clock.date(-this.#retentionMs);
    return deleteInBatches(database, this.#table.name, 'id', 'created_at <= :end', { end });
  }

  /** @internal */
  async settle(): Promise<void> {
    // Listeners are called after the work that they are told about.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#writing;
  }

  // One statement at a time, so that ending a user's thousands of sessions takes no connection from others.
  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const rows = this.#waiting.splice(0, BATCH);
      try {
        await this.#table.insert(rows);
      } catch (error) {
        this.#core.settings.logger.error(`latchkey: events were not recorded: ${rows.length}`, error);
      }
    }
    this.#writing = null;
    if (this.#lost === 0) return;
    this.#core.settings.logger.error(`latchkey: events came too fast to be recorded: ${this.#lost}`);
    this.#lost = 0;
  }
}
