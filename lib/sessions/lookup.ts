import { digestInHex, isWellFormedToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import type { LookupSql } from '../database/driver.js';
import { DEADLINE_MS } from '../database/turn.js';
import type { User } from '../tables/core.js';
import { PackedList, type Selected } from '../tables/packed.js';
import type { Selection } from '../tables/table.js';
import type { LookedUp, Requester, Telemetry } from '../telemetry.js';
import { performance, timers } from '../timers.js';
import type { UserSelection } from '../users/record.js';

/** The row with a token, its user, and the database's time in milliseconds. */
export interface Found<Row, Owner> {
  readonly row: Row;
  readonly user: Owner;
  readonly now: number;
}

/** Where tokens are looked up: `row` is joined with `user` on the condition `on`, and `hash` is the token's column. */
interface Lookup<Row, Owner> {
  readonly credential: LookedUp;
  /** The prefixes of the tokens. */
  readonly prefixes: readonly string[];
  readonly row: Selection<Row>;
  readonly hash: string;
  readonly user: UserSelection<Owner>;
  readonly on: string;
}

interface Raw {
  /** Missing if a single digest was looked up. */
  readonly token_digest?: Buffer;
  readonly db_now: number | string;
}

/**
 * Finds rows by token. Each lookup sends at most one statement, which concurrent lookups share. A lookup within a
 * transaction of the app sends its own statement, because it must see the transaction's own writes.
 */
export class TokenLookup<Row, Owner extends User = User> {
  readonly #batches: BatchedLookup<Raw>;
  /** The statements, and what they select of users. With `user.model`, this includes the model's columns. */
  #built:
    | { readonly ofUser: readonly Selected[]; readonly sql: LookupSql; readonly list: PackedList }
    | undefined;

  constructor(
    private readonly database: Database,
    private readonly lookup: Lookup<Row, Owner>,
    private readonly telemetry: Telemetry | null,
  ) {
    this.#batches = new BatchedLookup(
      {
        several: (digests, deadlineMs) => database.share(() => this.#fetchSeveral(digests, deadlineMs)),
        now: (digest) => this.#fetchNow(digest),
        one: (digest, deadlineMs) => database.share(() => this.#fetchOne(digest, deadlineMs)),
      },
      telemetry && {
        requester: () => telemetry.requester(),
        observe: (requesters, work) => telemetry.lookUp(lookup.credential, requesters, work),
      },
    );
  }

  /**
   * The statements without the digests. They are built only once, because the statements that are prepared for them
   * belong to this object.
   */
  get #statements() {
    const { row, hash, user, on } = this.lookup;
    const ofUser = user.selected;
    if (this.#built?.ofUser === ofUser) return this.#built;
    const { dialect, nowSql } = this.database;
    const now = { sql: nowSql, name: 'db_now', isPlain: true };
    const list = new PackedList(dialect, [...row.selected, ...ofUser, now]);
    const rest = `${list.sql} FROM ${row.from} JOIN ${user.from} ON ${on} WHERE ${hash}`;
    const sql = {
      ofOne: `SELECT ${rest} =`,
      ofSeveral: `SELECT ${hash} AS token_digest, ${rest} IN`,
      hasAppColumns: user.isPresent !== undefined,
      isTraced: this.telemetry !== null,
    };
    this.#built = { ofUser, sql, list };
    return this.#built;
  }

  /**
   * @param token a token, or the digest of a token
   * @param use converts the row, if the row exists. If it returns null, the lookup finds nothing
   * @param ofAnyone whether the user can lack their row in the table of `user.model`
   */
  async find<Result>(
    token: string | Buffer,
    use: (found: Found<Row, Owner>) => Result | null,
    ofAnyone = false,
  ): Promise<Result | null> {
    if (typeof token === 'string' && !this.lookup.prefixes.some((one) => isWellFormedToken(one, token)))
      return null;
    const digest = typeof token === 'string' ? digestInHex(token) : token.toString('hex');
    const raw = this.database.isJoined
      ? await this.#fetchAlone(digest)
      : await this.database.awaitShared(() => this.#batches.find(digest));
    if (!raw) return null;
    const { row, user: owner } = this.lookup;
    const user = owner.read(raw);
    if (!ofAnyone && owner.isPresent && !(await owner.isPresent(user))) return null;
    return use({ row: row.read(raw), user, now: this.database.clock.at(raw.db_now) });
  }

  #fetchAlone(digest: string): Promise<Raw | null> {
    const { telemetry } = this;
    const work = () => this.#fetchOne(digest);
    return telemetry ? telemetry.lookUp(this.lookup.credential, [telemetry.requester()], work) : work();
  }

  #fetchNow(digest: string): Raw | null | undefined {
    if (this.telemetry || this.lookup.user.ready) return undefined;
    const { sql, list } = this.#statements;
    const raw = this.database.findNow<Raw>(sql, digest);
    return raw ? this.#received(raw, list) : raw;
  }

  async #fetchSeveral(digests: readonly string[], deadlineMs: number): Promise<Map<string, Raw>> {
    const rows = await this.#fetch(digests, deadlineMs);
    const [single] = digests as [string];
    return new Map(rows.map((one) => [one.token_digest?.toString('hex') ?? single, one]));
  }

  async #fetchOne(digest: string, deadlineMs?: number): Promise<Raw | null> {
    const [row = null] = await this.#fetch([digest], deadlineMs);
    return row;
  }

  async #fetch(digests: readonly string[], deadlineMs?: number): Promise<Raw[]> {
    const { user } = this.lookup;
    if (user.ready) await user.ready();
    const { sql, list } = this.#statements;
    const rows = await this.database.lookUp<Raw>(sql, digests, deadlineMs);
    return rows.map((row) => this.#received(row, list));
  }

  #received(row: Raw, list: PackedList): Raw {
    list.unpack(row);
    this.database.clock.observe(row.db_now);
    return row;
  }
}

const MAX_BATCH = 64;
const MAX_RUNNING = 2;
// This many lookups are sent before the end of the turn if no batch is running. Otherwise, the database would be idle
// while the other requests are read.
const ENOUGH_FOR_IDLE = 16;
// If a batch fails within this time, its lookups are retried one by one; otherwise they fail.
const RETRY_WITHIN_MS = 1000;
// A turn of the event loop that takes longer than this might never end.
const STUCK_AFTER_MS = 1000;

interface Waiter<Row> {
  readonly requester: Requester | undefined;
  resolve(row: Row | null): void;
  reject(error: unknown): void;
}

/** Selects rows by digest, within `deadlineMs` milliseconds. */
interface Source<Row> {
  /** Selects the rows of up to 64 digests, keyed by digest. */
  several(digests: readonly string[], deadlineMs: number): Promise<ReadonlyMap<string, Row>>;
  one(digest: string, deadlineMs: number): Promise<Row | null>;
  /** Selects the row immediately, which only SQLite can. Returns undefined if {@link one} must do it. */
  now?(digest: string): Row | null | undefined;
}

/** Observes the statements, and for whom they are sent. */
interface Observer {
  requester(): Requester | undefined;
  observe<T>(requesters: readonly (Requester | undefined)[], work: () => Promise<T>): Promise<T>;
}

/** The callers waiting for each row, and when the first one started to wait. */
class Batch<Row> {
  readonly waiters = new Map<string, Waiter<Row>[]>();
  readonly since = performance.now();
  /** The number of lookups. Several of them can be for the same row. */
  lookups = 0;

  add(key: string, waiter: Waiter<Row>): void {
    this.lookups++;
    const waiters = this.waiters.get(key);
    if (waiters) waiters.push(waiter);
    else this.waiters.set(key, [waiter]);
  }

  settle(rows: ReadonlyMap<string, Row>): void {
    for (const [key, waiters] of this.waiters) {
      for (const waiter of waiters) waiter.resolve(rows.get(key) ?? null);
    }
  }

  reject(error: unknown): void {
    for (const waiter of [...this.waiters.values()].flat()) waiter.reject(error);
  }
}

/**
 * Finds rows by the digest of a token. Lookups that are requested in the same turn of the event loop, or while two
 * batches are running, share a SELECT, so that a busy server sends a few statements instead of hundreds. While each
 * lookup is the only one, the next one does not wait for the end of its turn. Nothing is cached: each lookup gets the
 * result of a SELECT that started after it was requested, so a revoked token is rejected from the next request on.
 */
export class BatchedLookup<Row> {
  readonly #waiting: Batch<Row>[] = [];
  #running = 0;
  #scheduled = false;
  // A batch is sent early only once per turn. SQLite responds immediately, so lookups that cause other lookups would
  // otherwise block the event loop.
  #sentEarly = false;
  // Whether the last batch had a single lookup, and no other was running.
  #wasSingle = false;

  /** @param observer null if no telemetry is recorded */
  constructor(
    private readonly source: Source<Row>,
    private readonly observer: Observer | null = null,
  ) {}

  find(digest: string): Promise<Row | null> {
    const isAlone = this.#wasSingle && this.#running === 0 && !this.#scheduled;
    return isAlone ? this.#findAlone(digest) : this.#findTogether(digest);
  }

  async #findAlone(digest: string): Promise<Row | null> {
    const found = this.source.now?.(digest);
    if (found !== undefined) {
      this.#endTurn();
      return found;
    }
    const since = performance.now();
    const requesters = this.observer && [this.observer.requester()];
    const ask = () => this.#observed(requesters, () => this.source.one(digest, leftSince(since)));
    this.#running++;
    this.#endTurn();
    try {
      return await ask();
    } catch (error) {
      if (performance.now() - since < RETRY_WITHIN_MS) return await ask();
      this.#giveUp(error);
      throw error;
    } finally {
      this.#running--;
      this.#schedule();
    }
  }

  #findTogether(digest: string): Promise<Row | null> {
    return new Promise((resolve, reject) => {
      // Call this before a batch is created. If it threw afterwards, an empty batch would be sent.
      const requester = this.observer?.requester();
      const batch = this.#batchFor(digest);
      batch.add(digest, { resolve, reject, requester });
      this.#schedule();
      if (batch.lookups > 1 && this.#isStuck(batch)) return this.#endTurnNow();
      if (this.#running > 0 || this.#sentEarly || !this.#hasEnough) return;
      this.#sentEarly = true;
      this.#sendNext();
    });
  }

  get #hasEnough(): boolean {
    return (this.#waiting[0]?.waiters.size ?? 0) >= ENOUGH_FOR_IDLE;
  }

  #batchFor(digest: string): Batch<Row> {
    const known = this.#waiting.find(({ waiters }) => waiters.has(digest));
    const last = this.#waiting.at(-1);
    if (known) return known;
    if (last && last.waiters.size < MAX_BATCH) return last;
    const batch = new Batch<Row>();
    this.#waiting.push(batch);
    return batch;
  }

  #schedule(): void {
    if (this.#waiting.length > 0 && this.#running < MAX_RUNNING) this.#endTurn();
  }

  /** Sends what is waiting at the end of the turn. */
  #endTurn(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    timers.setImmediate(() => this.#endTurnNow());
  }

  #endTurnNow(): void {
    this.#scheduled = false;
    this.#sentEarly = false;
    if (this.#running < MAX_RUNNING) this.#sendNext();
  }

  /**
   * Whether the callback at the end of the turn might be lost, for example because fake timers were installed before
   * latchkey was loaded. Without this, all later lookups would wait for it.
   */
  #isStuck({ since }: Batch<Row>): boolean {
    return this.#scheduled && performance.now() - since > STUCK_AFTER_MS;
  }

  #sendNext(): void {
    const batch = this.#waiting.shift();
    if (batch) void this.#send(batch);
  }

  async #send(batch: Batch<Row>): Promise<void> {
    this.#running++;
    this.#wasSingle = batch.lookups === 1 && this.#running === 1;
    this.#schedule();
    try {
      batch.settle(await this.#fetch(batch, [...batch.waiters.keys()]));
    } catch (error) {
      if (performance.now() - batch.since < RETRY_WITHIN_MS) await this.#sendSingly(batch);
      else {
        batch.reject(error);
        this.#giveUp(error);
      }
    } finally {
      this.#running--;
      this.#schedule();
    }
  }

  // All lookups of a batch share one deadline, so that the oldest does not wait longer than a statement is allowed to
  // take.
  #fetch({ since, waiters }: Batch<Row>, digests: readonly string[]): Promise<ReadonlyMap<string, Row>> {
    const requesters =
      this.observer &&
      digests.flatMap((digest) => (waiters.get(digest) ?? []).map(({ requester }) => requester));
    return this.#observed(requesters, () => this.source.several(digests, leftSince(since)));
  }

  #observed<T>(requesters: readonly (Requester | undefined)[] | null, work: () => Promise<T>): Promise<T> {
    return this.observer && requesters ? this.observer.observe(requesters, work) : work();
  }

  // Reject the queued batches, because a database this slow would not respond to them in time, and they must not pile
  // up.
  #giveUp(error: unknown): void {
    for (const one of this.#waiting.splice(0)) one.reject(error);
  }

  // One dead connection must not fail all lookups of a batch.
  async #sendSingly(batch: Batch<Row>): Promise<void> {
    await Promise.all(
      [...batch.waiters].map(async ([digest, waiters]) => {
        try {
          const row = (await this.#fetch(batch, [digest])).get(digest) ?? null;
          for (const waiter of waiters) waiter.resolve(row);
        } catch (error) {
          for (const waiter of waiters) waiter.reject(error);
        }
      }),
    );
  }
}

function leftSince(since: number): number {
  return DEADLINE_MS - (performance.now() - since);
}
