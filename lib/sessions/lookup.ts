import { digestInHex, isWellFormedToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import type { LookupSql } from '../database/driver.js';
import { digestList, placeholder, valueTable } from '../database/literal.js';
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

/** Other rows that are read together with a credential, by a name and by the user. */
export interface NamedJoin {
  readonly selected: readonly Selected[];
  readonly nameType: 'text' | 'uuid';
  /**
   * Returns the joins, which leave the number of rows as it is. The user has the alias `u`.
   *
   * @param name the SQL of the name
   */
  sql(name: string): string;
}

/** The rows that a request needs together with its credential. */
export interface Alongside {
  readonly join: NamedJoin;
  readonly name: string;
  /** Called with the rows that were read together with a valid credential of this user. */
  receive(userId: string, raw: object): void;
}

/**
 * Marks a request that needs other rows together with its credential. A carrier that looks up a token passes them on. Other
 * carriers ignore them, so the rows must be read in another way if they were not received.
 */
export const ALONGSIDE = Symbol('latchkey.alongside');

declare module '../context/call.js' {
  interface PlainRequest {
    [ALONGSIDE]?: Alongside | undefined;
  }
}

/**
 * Finds rows by token. Each lookup sends at most one statement, which concurrent lookups share. A lookup within a
 * transaction of the app sends its own statement, because it must see the transaction's own writes.
 */
export class TokenLookup<Row, Owner extends User = User> {
  readonly #rows: KeyedRows<Row, Owner>;
  /** The lookups with other rows. */
  readonly #joined = new Map<NamedJoin, KeyedRows<Row, Owner>>();

  constructor(
    private readonly database: Database,
    private readonly lookup: Lookup<Row, Owner>,
    private readonly telemetry: Telemetry | null,
  ) {
    this.#rows = new KeyedRows(database, lookup, telemetry, null);
  }

  /**
   * @param token a token, or the digest of a token
   * @param use converts the row, if the row exists. If it returns null, the lookup finds nothing
   * @param options `ofAnyone`: whether the user can lack their row in the table of `user.model`
   */
  async find<Result>(
    token: string | Buffer,
    use: (found: Found<Row, Owner>) => Result | null,
    { ofAnyone = false, alongside }: FindOptions = {},
  ): Promise<Result | null> {
    if (typeof token === 'string' && !this.lookup.prefixes.some((one) => isWellFormedToken(one, token)))
      return null;
    const digest = typeof token === 'string' ? digestInHex(token) : token.toString('hex');
    const raw = await (alongside
      ? this.#with(alongside.join).find(pairOf(digest, alongside.name))
      : this.#rows.find(digest));
    if (!raw) return null;
    const { row, user: owner } = this.lookup;
    const user = owner.read(raw);
    if (!ofAnyone && owner.isPresent && !(await owner.isPresent(user))) return null;
    const found = use({ row: row.read(raw), user, now: this.database.clock.at(raw.db_now) });
    if (found !== null) alongside?.receive(user.id, raw);
    return found;
  }

  #with(join: NamedJoin): KeyedRows<Row, Owner> {
    const known = this.#joined.get(join);
    if (known) return known;
    const made = new KeyedRows(this.database, this.lookup, this.telemetry, join);
    this.#joined.set(join, made);
    return made;
  }
}

interface FindOptions {
  readonly ofAnyone?: boolean;
  readonly alongside?: Alongside | undefined;
}

interface Raw {
  /** Missing if a single key was looked up. */
  readonly token_digest?: Buffer;
  /** Missing if a single key was looked up, and in a lookup by digest only. */
  readonly pair_name?: string;
  readonly db_now: number | string;
}

const HEX_DIGITS = 64;

/** The key of a lookup by digest and name. */
function pairOf(digest: string, name: string): string {
  return `${digest} ${name}`;
}

function ofPair(key: string): readonly [digest: string, name: string] {
  return [key.slice(0, HEX_DIGITS), key.slice(HEX_DIGITS + 1)];
}

/** Finds the rows of a {@link TokenLookup} by key: by the digest of a token or, with a join, by a digest and a name. */
class KeyedRows<Row, Owner extends User> {
  readonly #batches: BatchedLookup<Raw>;
  /** The statements, and what they select of users. With `user.model`, this includes the model's columns. */
  #built:
    | { readonly ofUser: readonly Selected[]; readonly sql: LookupSql; readonly list: PackedList }
    | undefined;

  constructor(
    private readonly database: Database,
    private readonly lookup: Lookup<Row, Owner>,
    private readonly telemetry: Telemetry | null,
    private readonly join: NamedJoin | null,
  ) {
    this.#batches = new BatchedLookup(
      {
        several: (keys, deadlineMs) => database.share(() => this.#fetchSeveral(keys, deadlineMs)),
        now: (key) => this.#fetchNow(key),
        one: (key, deadlineMs) => database.share(() => this.#fetchOne(key, deadlineMs)),
      },
      telemetry && {
        requester: () => telemetry.requester(),
        observe: (requesters, work) => telemetry.lookUp(lookup.credential, requesters, work),
      },
    );
  }

  find(key: string): Promise<Raw | null> {
    return this.database.isJoined
      ? this.#fetchAlone(key)
      : this.database.awaitShared(() => this.#batches.find(key));
  }

  /** The statements. They are built only once, because the statements that are prepared for them belong to this object. */
  get #statements() {
    const { row, user } = this.lookup;
    const ofUser = user.selected;
    if (this.#built?.ofUser === ofUser) return this.#built;
    const { dialect, nowSql } = this.database;
    const now = { sql: nowSql, name: 'db_now', isPlain: true };
    const list = new PackedList(dialect, [...row.selected, ...ofUser, ...(this.join?.selected ?? []), now]);
    const sql = {
      ...(this.join ? this.#byPair(list.sql, this.join) : this.#byDigest(list.sql)),
      hasAppColumns: user.isPresent !== undefined,
      isTraced: this.telemetry !== null,
    };
    this.#built = { ofUser, sql, list };
    return this.#built;
  }

  #byDigest(list: string): Pick<LookupSql, 'ofOne' | 'boundOf' | 'ofSeveral'> {
    const { row, hash, user, on } = this.lookup;
    const { dialect } = this.database;
    const rest = `${list} FROM ${row.from} JOIN ${user.from} ON ${on} WHERE ${hash}`;
    return {
      ofOne: `SELECT ${rest} = ${placeholder(dialect, 1)}`,
      boundOf: (digest) => [Buffer.from(digest, 'hex')],
      ofSeveral: (digests) => `SELECT ${hash} AS token_digest, ${rest} IN ${digestList(dialect, digests)}`,
    };
  }

  #byPair(list: string, join: NamedJoin): Pick<LookupSql, 'ofOne' | 'boundOf' | 'ofSeveral'> {
    const { row, hash, user, on } = this.lookup;
    const { dialect } = this.database;
    const [name, digest] = [placeholder(dialect, 1), placeholder(dialect, 2)];
    const columns = { token_digest: 'digest', pair_name: join.nameType } as const;
    // SQLite could otherwise read the whole table of tokens, and find the pairs by an index that it creates for them.
    const inOrder = dialect === 'sqlite' ? 'CROSS JOIN' : 'JOIN';
    const rest = `${inOrder} ${row.from} ON ${hash} = pair.token_digest JOIN ${user.from} ON ${on} ${join.sql('pair.pair_name')}`;
    return {
      ofOne: `SELECT ${list} FROM ${row.from} JOIN ${user.from} ON ${on} ${join.sql(name)} WHERE ${hash} = ${digest}`,
      boundOf(pair) {
        const [hex, named] = ofPair(pair);
        return [named, Buffer.from(hex, 'hex')];
      },
      ofSeveral(pairs) {
        const asked = valueTable(dialect, columns, pairs.map(ofPair));
        return `SELECT pair.token_digest AS token_digest, pair.pair_name AS pair_name, ${list} FROM (${asked}) pair ${rest}`;
      },
    };
  }

  #fetchAlone(key: string): Promise<Raw | null> {
    const { telemetry } = this;
    const work = () => this.#fetchOne(key);
    return telemetry ? telemetry.lookUp(this.lookup.credential, [telemetry.requester()], work) : work();
  }

  #fetchNow(key: string): Raw | null | undefined {
    if (this.telemetry || this.lookup.user.ready) return undefined;
    const { sql, list } = this.#statements;
    const raw = this.database.findNow<Raw>(sql, key);
    return raw ? this.#received(raw, list) : raw;
  }

  async #fetchSeveral(keys: readonly string[], deadlineMs: number): Promise<Map<string, Raw>> {
    const rows = await this.#fetch(keys, deadlineMs);
    const [single] = keys as [string];
    return new Map(rows.map((one) => [this.#keyOf(one) ?? single, one]));
  }

  #keyOf({ token_digest: digest, pair_name: name = '' }: Raw): string | undefined {
    const hex = digest?.toString('hex');
    return hex !== undefined && this.join ? pairOf(hex, name) : hex;
  }

  async #fetchOne(key: string, deadlineMs?: number): Promise<Raw | null> {
    const [row = null] = await this.#fetch([key], deadlineMs);
    return row;
  }

  async #fetch(keys: readonly string[], deadlineMs?: number): Promise<Raw[]> {
    const { user } = this.lookup;
    if (user.ready) await user.ready();
    const { sql, list } = this.#statements;
    const rows = await this.database.lookUp<Raw>(sql, keys, deadlineMs);
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

/** Selects rows by key, such as a digest, within `deadlineMs` milliseconds. */
interface Source<Row> {
  /** Selects the rows of up to 64 keys. */
  several(keys: readonly string[], deadlineMs: number): Promise<ReadonlyMap<string, Row>>;
  one(key: string, deadlineMs: number): Promise<Row | null>;
  /** Selects the row immediately, which only SQLite can. Returns undefined if {@link one} must do it. */
  now?(key: string): Row | null | undefined;
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
 * Finds rows by key, such as the digest of a token. Lookups that are requested in the same turn of the event loop, or while two
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

  find(key: string): Promise<Row | null> {
    const isAlone = this.#wasSingle && this.#running === 0 && !this.#scheduled;
    return isAlone ? this.#findAlone(key) : this.#findTogether(key);
  }

  async #findAlone(key: string): Promise<Row | null> {
    const found = this.source.now?.(key);
    if (found !== undefined) {
      this.#endTurn();
      return found;
    }
    const since = performance.now();
    const requesters = this.observer && [this.observer.requester()];
    const ask = () => this.#observed(requesters, () => this.source.one(key, leftSince(since)));
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

  #findTogether(key: string): Promise<Row | null> {
    return new Promise((resolve, reject) => {
      // Call this before a batch is created. If it threw afterwards, an empty batch would be sent.
      const requester = this.observer?.requester();
      const batch = this.#batchFor(key);
      batch.add(key, { resolve, reject, requester });
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

  #batchFor(key: string): Batch<Row> {
    const known = this.#waiting.find(({ waiters }) => waiters.has(key));
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
  #fetch({ since, waiters }: Batch<Row>, keys: readonly string[]): Promise<ReadonlyMap<string, Row>> {
    const requesters =
      this.observer && keys.flatMap((key) => (waiters.get(key) ?? []).map(({ requester }) => requester));
    return this.#observed(requesters, () => this.source.several(keys, leftSince(since)));
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
      [...batch.waiters].map(async ([key, waiters]) => {
        try {
          const row = (await this.#fetch(batch, [key])).get(key) ?? null;
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
