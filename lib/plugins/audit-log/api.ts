import type { Core } from '../../core.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import { Database } from '../../database/database.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';
import { storable } from '../../database/storable.js';
import type { AuthEventName, ClientInfo } from '../../events.js';
import { cutPage, type PageOptions, readPage } from '../../pagination.js';

/** Something that happened. */
export interface AuditEvent {
  readonly id: string;
  readonly kind: string;
  readonly userId: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  /** What else the event told: ids, never a secret. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

/** Which events, and which page of them. */
export interface ListEventsOptions extends PageOptions {
  /** Only what happened to this user. @default everybody */
  userId?: string;
  /** Only events of this name, such as `sign_in.failed`. @default all */
  kind?: string;
}

interface EventRow {
  id: string;
  kind: string;
  user_id: string | null;
  ip_address: string | null;
  user_agent: string | null;
  details: string;
  created_at: Date | string;
}

const BATCH = 200;
// Beyond it, events come faster than the database takes them, and memory must not fill with them.
const MAX_WAITING = 20_000;

type AnyEvent = { readonly userId?: string | null } & Partial<ClientInfo>;

/** `auth.auditLog`: what happened. */
export class AuditLogApi {
  readonly #core: Core;
  readonly #table: string;
  readonly #retentionMs: number;
  #waiting: EventRow[] = [];
  #writing: Promise<void> | null = null;
  #lost = 0;

  constructor(core: Core, retentionSeconds: number) {
    this.#core = core;
    this.#table = core.database.table('audit_events');
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
    if (before !== null) conditions.push('id < :before');
    if (userId !== undefined) conditions.push('user_id = :userId');
    if (kind !== undefined) conditions.push('kind = :kind');
    const rows = await this.#core.database.select<EventRow>(
      `SELECT id, kind, user_id, ip_address, user_agent, details, created_at FROM ${this.#table}
       WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT ${limit + 1}`,
      { before, userId: userId ?? null, kind: kind ?? null },
    );
    const { page: events, nextCursor } = cutPage(rows, limit);
    return { events: events.map(toEvent), nextCursor };
  }

  /** @internal */
  record(kind: AuthEventName, { userId = null, ip = null, userAgent = null, ...details }: AnyEvent): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost++;
      return;
    }
    const now = new Date(Math.floor(this.#core.database.clock.now()));
    this.#waiting.push({
      id: uuidv7(now.getTime()),
      kind,
      user_id: userId,
      ip_address: storable(ip, 45),
      user_agent: storable(userAgent, 255),
      details: JSON.stringify(details),
      created_at: now,
    });
    this.#writing ??= this.#core.database.forNobody(() => this.#write());
  }

  /** @internal */
  prune(): Promise<number> {
    const { database } = this.#core;
    const end = new Date(database.clock.now() - this.#retentionMs);
    return deleteInBatches(database, this.#table, 'id', 'created_at <= :end', { end });
  }

  /** @internal */
  async settle(): Promise<void> {
    // Listeners are called after the work that they hear of.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#writing;
  }

  // One statement at a time, so that a user with thousands of sessions, ended at once, takes no connection from others.
  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const rows = this.#waiting.splice(0, BATCH);
      try {
        await this.#insert(rows);
      } catch (error) {
        this.#core.settings.logger.error(`latchkey: events were not recorded: ${rows.length}`, error);
      }
    }
    this.#writing = null;
    if (this.#lost === 0) return;
    this.#core.settings.logger.error(`latchkey: events came too fast to be recorded: ${this.#lost}`);
    this.#lost = 0;
  }

  async #insert(rows: readonly EventRow[]): Promise<void> {
    const columns = ['id', 'kind', 'user_id', 'ip_address', 'user_agent', 'details', 'created_at'] as const;
    const values = rows.map((_, index) => `(${columns.map((column) => `:${column}_${index}`).join(', ')})`);
    const replacements = rows.flatMap((row, index) =>
      columns.map((column): [string, string | Date | null] => [`${column}_${index}`, row[column]]),
    );
    await this.#core.database.change(
      `INSERT INTO ${this.#table} (${columns.join(', ')}) VALUES ${values.join(', ')}`,
      Object.fromEntries(replacements),
    );
  }
}

function toEvent(row: EventRow): AuditEvent {
  return {
    id: row.id,
    kind: row.kind,
    userId: row.user_id,
    ipAddress: row.ip_address,
    userAgent: row.user_agent,
    details: JSON.parse(row.details) as Record<string, unknown>,
    createdAt: Database.toDate(row.created_at),
  };
}
