import type { Transaction } from 'sequelize';
import type { SecretBox } from '../crypto/secret-box.js';
import { uuidv7 } from '../crypto/uuid.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { AppError } from '../database/faults.js';
import type { RowOf, ShownOf } from '../tables/column.js';
import { GIVE_UP_MS, type OutboxColumns, outboxEntries } from '../tables/core.js';
import { SealedRows } from '../tables/sealed-rows.js';
import { type Selection, Table } from '../tables/table.js';
import type { OpenEntry } from './lane.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long an entry is kept after {@link GIVE_UP_MS}, or after it was sent. */
const KEEP_MS = 7 * DAY_MS;
/** A process that has started to send an entry keeps it for this long beyond the time limit for sending. */
const MARGIN_MS = 30_000;
/** In bytes. */
const SEVERAL_PAGES = 20_000;
/** The pause after the first failure. It doubles with each further failure, up to the maximum. */
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 60 * 60 * 1000;

/** The lane of rows that show a commit, which are not sent. */
const COMMIT_LANE = 'commit';

/** A row of the outbox. */
export type OutboxRow = RowOf<OutboxColumns>;

/** A row without its content. */
export type ShownRow = ShownOf<OutboxColumns>;

/** An entry to write. */
export interface NewEntry {
  readonly lane: string;
  readonly kind: string;
  readonly content: object;
}

/** An entry with the values that the outbox adds. */
interface EntryToInsert extends NewEntry, Pick<OpenEntry, 'id' | 'traceparent'> {
  readonly timeoutMs: number;
}

/** The condition for entries that can still be sent. */
const CAN_BE_SENT = "o.state = 'waiting' AND o.give_up_at > :now";

/** The states of an entry, as the app sees them. An entry that is held counts as waiting. */
export const OUTBOX_STATES = ['waiting', 'sent', 'dropped', 'failed'] as const;

/** The state of an entry that waits until its destination has room: see `Holding`. It has no `due_at`. */
export const HELD = 'held';

/** What {@link OutboxRows} need. */
export interface OutboxRowsNeeds {
  readonly database: Database;
  readonly box: SecretBox;
}

/**
 * The table of entries to send. `due_at` is the time of the next attempt, and also the end of a lease: a process that
 * starts to send an entry moves `due_at` ahead. Its UPDATE requires the number of attempts that the process has read,
 * so that only one process gets the entry. If that process dies, the entry is due again when the lease ends.
 */
export class OutboxRows {
  readonly #table: Table<OutboxColumns>;
  readonly #row: Selection<OutboxRow>;
  readonly #shown: Selection<ShownRow>;

  constructor(private readonly core: OutboxRowsNeeds) {
    this.#table = new Table(core.database, outboxEntries);
    this.#row = this.#table.whole('o');
    this.#shown = this.#table.shown('o');
  }

  /** Writes entries whose first attempt belongs to this process. */
  async insert(entries: readonly EntryToInsert[], transaction?: Transaction): Promise<OutboxRow[]> {
    const now = this.core.database.clock.now();
    const rows = entries.map(
      ({ id, lane, kind, content, timeoutMs, traceparent }): OutboxRow => ({
        id,
        lane,
        kind,
        state: 'waiting',
        content: this.core.box.seal(writeContent(content, traceparent), contextOf(id)),
        attempts: 1,
        lastError: null,
        createdAt: at(now),
        dueAt: at(now + timeoutMs + MARGIN_MS),
        giveUpAt: at(now + GIVE_UP_MS),
        finishedAt: null,
        expiresAt: at(now + GIVE_UP_MS + KEEP_MS),
      }),
    );
    await this.#table.insert(rows, transaction);
    return rows;
  }

  /** Writes a row that shows other connections that a transaction of the app has been committed. @returns its id */
  async insertCommit(transaction: Transaction): Promise<string> {
    const now = this.core.database.clock.now();
    const id = uuidv7(Math.floor(now));
    const none = { content: null, attempts: 0, lastError: null, dueAt: null, finishedAt: null };
    const times = { createdAt: at(now), giveUpAt: at(now), expiresAt: at(now + DAY_MS) };
    const row = { id, lane: COMMIT_LANE, kind: 'commit', state: 'dropped', ...none, ...times };
    await this.#table.insert(row, transaction);
    return id;
  }

  /** Returns the ids of those of the rows of {@link insertCommit} that exist, and deletes the rows. */
  async takeCommits(ids: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#table.only('o', 'id').select('WHERE o.id IN (:ids)', { ids });
    const found = rows.map(({ id }) => id);
    if (found.length === 0) return [];
    const { context } = this.core.database;
    // On SQLite, a transaction of the app could hold this up. A row that is left is deleted when it expires.
    const deleting = this.core.database.change(`DELETE FROM ${this.#table.name} WHERE id IN (:found)`, {
      found,
    });
    context.background.add(deleting);
    deleting.catch(() => undefined);
    return found;
  }

  /** Decrypts an entry. @throws Error if its secret is no longer configured */
  open({ id, kind, content, createdAt }: OutboxRow): Omit<OpenEntry, 'isRetry' | 'wasHeld'> {
    const json = content === null ? null : this.core.box.open(content, contextOf(id));
    if (json === null) throw new Error('it cannot be decrypted: is its secret still in the config?');
    return { id, kind, ...readContent(json), createdAt };
  }

  /** Returns due entries of a lane, starting with the one that has been due longest. Take each before you send it. */
  async due(lane: string, limit: number): Promise<OutboxRow[]> {
    await this.core.database.ready();
    return this.#row.select(`WHERE o.lane = :lane AND o.due_at <= :now ORDER BY o.due_at LIMIT ${limit}`, {
      lane,
      now: this.core.database.clock.date(),
    });
  }

  /**
   * Takes an entry to send it.
   *
   * @returns the entry as it is now; null if another process has it, or if it is finished
   */
  async take(row: OutboxRow, timeoutMs: number): Promise<OutboxRow | null> {
    const attempts = row.attempts + 1;
    // Pause as after a failure, because the entry might be the reason why the process died.
    const dueAt = this.core.database.clock.date(Math.max(timeoutMs + MARGIN_MS, pauseAfter(attempts)));
    const taken = await this.#table.update(
      { attempts, dueAt, lastError: null },
      { id: row.id, attempts: row.attempts, state: 'waiting' },
    );
    return taken > 0 ? { ...row, attempts, dueAt, lastError: null } : null;
  }

  /**
   * Lets an entry that this process has taken wait until its destination has room. If `most` entries are held already, it
   * is deleted. Processes count separately, so their concurrent attempts can exceed the number by one entry each.
   *
   * @returns whether it was held
   */
  async hold(row: OutboxRow, until: Date | null, most: number): Promise<boolean> {
    const taken = { id: row.id, attempts: row.attempts, state: 'waiting' };
    const [counted] = await this.core.database.select<{ held: number | string }>(
      `SELECT COUNT(*) AS held FROM ${this.#table.name} o WHERE o.state = '${HELD}'`,
    );
    if (Number(counted?.held ?? 0) >= most) {
      await this.#table.delete(taken);
      return false;
    }
    const giveUpAt = until !== null && until < row.giveUpAt ? until : row.giveUpAt;
    await this.#table.update({ state: HELD, attempts: 0, dueAt: null, giveUpAt }, taken);
    return true;
  }

  /** Returns held entries of a lane, newest first. Take each with {@link takeHeld} before you send it. */
  held(lane: string, limit: number): Promise<OutboxRow[]> {
    return this.#row.select(
      `WHERE o.state = '${HELD}' AND o.lane = :lane ORDER BY o.id DESC LIMIT ${limit}`,
      { lane },
    );
  }

  /** Drops the held entries of a lane that are pointless by now. */
  async dropHeld(lane: string): Promise<void> {
    const now = this.core.database.clock.now();
    await this.core.database.change(
      `UPDATE ${this.#table.name} SET state = 'dropped', content = NULL, finished_at = :now, expires_at = :end
       WHERE state = '${HELD}' AND lane = :lane AND give_up_at <= :now`,
      { lane, now: at(now), end: at(now + KEEP_MS) },
    );
  }

  /** Takes a held entry to send it. @returns like {@link take} */
  async takeHeld(row: OutboxRow, timeoutMs: number): Promise<OutboxRow | null> {
    const begun = {
      state: 'waiting',
      attempts: 1,
      dueAt: this.core.database.clock.date(timeoutMs + MARGIN_MS),
      giveUpAt: at(row.createdAt.getTime() + GIVE_UP_MS),
    };
    const taken = await this.#table.update(begun, { id: row.id, state: HELD });
    return taken > 0 ? { ...row, ...begun } : null;
  }

  /** Whether this process has taken an entry for long enough to send it. */
  isTaken({ dueAt }: OutboxRow, timeoutMs: number): boolean {
    return dueAt !== null && dueAt.getTime() - timeoutMs > this.core.database.clock.now();
  }

  /** Whether an earlier attempt has failed. @param row as it was before it was taken */
  isRetry({ attempts, lastError }: OutboxRow): boolean {
    return attempts > 0 && lastError !== null;
  }

  /** Whether an entry is no longer tried. */
  isTooOld({ giveUpAt }: OutboxRow): boolean {
    return giveUpAt.getTime() <= this.core.database.clock.now();
  }

  /** Records that an entry was sent, or that it has no recipient, and deletes its content. */
  async finish({ id }: OutboxRow, state: 'sent' | 'dropped'): Promise<void> {
    const now = this.core.database.clock.now();
    await this.#table.update(
      {
        state,
        content: null,
        dueAt: null,
        lastError: null,
        finishedAt: at(now),
        expiresAt: at(now + KEEP_MS),
      },
      { id, state: 'waiting' },
    );
  }

  /**
   * Records a failure.
   *
   * @param isFinal whether the entry is never retried
   * @param isBegun false if the next attempt is not a retry
   * @returns whether it is retried
   */
  async fail(
    row: OutboxRow,
    lastError: string,
    { isFinal = false, isBegun = true }: { readonly isFinal?: boolean; readonly isBegun?: boolean } = {},
  ): Promise<boolean> {
    const now = this.core.database.clock.now();
    const next = now + pauseAfter(row.attempts);
    const isOver = isFinal || next > row.giveUpAt.getTime();
    const times = isOver
      ? { state: 'failed', dueAt: null, finishedAt: at(now), expiresAt: at(now + KEEP_MS) }
      : { dueAt: at(next) };
    const attempts = isBegun ? row.attempts : 0;
    await this.#table.update(
      { ...times, attempts, lastError: lastError.slice(0, 255) },
      { id: row.id, attempts: row.attempts, state: 'waiting' },
    );
    return !isOver;
  }

  /** Makes an entry due that has failed or is waiting after a failure. @returns whether there is such an entry */
  async retry(id: string): Promise<boolean> {
    await this.core.database.ready();
    const now = this.core.database.clock.now();
    const changed = await this.core.database.change(
      `UPDATE ${this.#table.name} SET state = 'waiting', attempts = CASE WHEN attempts > 0 THEN 1 ELSE 0 END, due_at = :now, finished_at = NULL,
         give_up_at = :giveUpAt, expires_at = :expiresAt
       WHERE id = :id AND last_error IS NOT NULL AND state IN ('waiting', 'failed')`,
      { id, now: at(now), giveUpAt: at(now + GIVE_UP_MS), expiresAt: at(now + GIVE_UP_MS + KEEP_MS) },
    );
    return changed > 0;
  }

  /** Returns the newest entries, in one state or in any. */
  list(state: string | null, before: string | null, limit: number): Promise<ShownRow[]> {
    const conditions = [`o.lane <> '${COMMIT_LANE}'`];
    if (state !== null) conditions.push('o.state IN (:states)');
    if (before !== null) conditions.push('o.id < :before');
    return this.#shown.select(`WHERE ${conditions.join(' AND ')} ORDER BY o.id DESC LIMIT ${limit}`, {
      states: state === 'waiting' ? ['waiting', HELD] : [state],
      before,
    });
  }

  /** Returns the entries with these ids, in no order. */
  async find(ids: readonly string[]): Promise<OutboxRow[]> {
    return ids.length === 0 ? [] : this.#row.select('WHERE o.id IN (:ids)', { ids: [...ids] });
  }

  /**
   * Returns the number of entries that can still be sent, the number of these that are held, and the age of the oldest
   * one of the others. Entries that failed are counted separately until they are deleted. This includes entries whose
   * time is over, even if no process has recorded it.
   */
  async counts(): Promise<{
    readonly pending: number;
    readonly held: number;
    readonly failed: number;
    readonly oldestSeconds: number;
  }> {
    await this.core.database.ready();
    const now = this.core.database.clock.date();
    const [counts] = await this.core.database.select<Record<'waiting' | 'held' | 'failed', number | string>>(
      `SELECT SUM(CASE WHEN ${CAN_BE_SENT} THEN 1 ELSE 0 END) AS waiting,
              SUM(CASE WHEN o.state = '${HELD}' AND o.give_up_at > :now THEN 1 ELSE 0 END) AS held,
              SUM(CASE WHEN o.state = '${HELD}' OR ${CAN_BE_SENT} THEN 0 ELSE 1 END) AS failed
       FROM ${this.#table.name} o WHERE o.state IN ('waiting', '${HELD}', 'failed')`,
      { now },
    );
    const held = Number(counts?.held ?? 0);
    const [oldest] = await this.#shown.select(`WHERE ${CAN_BE_SENT} ORDER BY o.id LIMIT 1`, { now });
    const ageMs = oldest ? now.getTime() - oldest.createdAt.getTime() : 0;
    return {
      pending: Number(counts?.waiting ?? 0) + held,
      held,
      failed: Number(counts?.failed ?? 0),
      oldestSeconds: Math.max(0, Math.floor(ageMs / 1000)),
    };
  }

  /** Inserts an entry, and rolls it back. @throws Error if the database does not accept writes */
  async tryToInsert(): Promise<void> {
    const isSqlite = this.core.database.dialect === 'sqlite';
    const content = { padding: 'x'.repeat(isSqlite ? SEVERAL_PAGES : 0) };
    const undone = new Error('undone');
    try {
      await this.core.database.transaction(async (transaction) => {
        // Before a commit, SQLite writes to the disk only the pages that exceed its cache, so it would not notice that
        // the disk is full. The connection belongs to the transaction.
        if (isSqlite) await this.core.database.change('PRAGMA cache_size = 1', undefined, { transaction });
        const none = { id: uuidv7(), lane: 'none', kind: 'none', timeoutMs: 0, traceparent: null };
        await this.insert([{ ...none, content }], transaction);
        throw new AppError(undone);
      });
    } catch (error) {
      if (error !== undone) throw error;
    }
  }

  /** Deletes entries that were finished a while ago. */
  get expired(): Chore {
    return new ExpiredRows(this.core.database, this.#table.name, 'id', { expires_at: 0 });
  }

  /** Re-encrypts entries that have not been sent yet. */
  get sealed(): Chore {
    return new SealedRows(this.#table, this.core.box, ['content'], ({ id }) => contextOf(id));
  }
}

/**
 * Returns the pause after a failure. Half of it is random, so that entries that failed together are not retried
 * together.
 */
function pauseAfter(attempts: number): number {
  const pause = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempts - 1, 20));
  return pause * (0.5 + Math.random() / 2);
}

function at(time: number): Date {
  return new Date(Math.floor(time));
}

function contextOf(id: string): string {
  return `outbox ${id}`;
}

// No user can enter these keys, because latchkey rejects NUL everywhere.
const DATE = '\0date';
const TRACEPARENT = '\0traceparent';

/** Writes the content of an entry as JSON, so that {@link readContent} restores its dates. */
function writeContent(content: object, traceparent: string | null): string {
  const whole = traceparent === null ? content : { ...content, [TRACEPARENT]: traceparent };
  return JSON.stringify(whole, function (this: Readonly<Record<string, unknown>>, key, value) {
    // Do not use `value`, because `toJSON` has turned a date into a string there.
    const original = this[key];
    return original instanceof Date ? { [DATE]: original.getTime() } : value;
  });
}

/** Reads the JSON of {@link writeContent}. */
function readContent(json: string): Pick<OpenEntry, 'content' | 'traceparent'> {
  const { [TRACEPARENT]: traceparent = null, ...content } = JSON.parse(json, (_key, value) => {
    const time = typeof value === 'object' && value !== null ? value[DATE] : undefined;
    return time === undefined ? value : new Date(time);
  });
  return { content, traceparent };
}
