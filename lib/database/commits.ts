import type { Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import { performance, timers } from '../timers.js';
import { slicesOf } from './batches.js';

/** Rows that show other connections that a transaction of the app has been committed. */
export interface CommitRows {
  /** Writes a row as a part of the transaction. @returns its id */
  insert(transaction: Transaction): Promise<string>;
  /** Returns the ids of those of the rows that exist, and deletes the rows. */
  take(ids: readonly string[]): Promise<readonly string[]>;
}

const FIRST_PAUSE_MS = 10;
const GIVE_UP_MS = 5 * 60_000;
/** How long platforms that stop a process after each response wait for a commit. */
const ANNOUNCED_MS = 2000;

/** A transaction whose end is not known. */
interface Pending {
  readonly since: number;
  pauseMs: number;
  lookAt: number;
  work(): void;
  stopAnnouncing(): void;
}

/**
 * Runs work after commits that latchkey cannot observe, because the app sends them on connections of its own. Each
 * transaction has written a row. If another connection sees the row, the transaction has been committed. The pauses
 * between the looks double, so that the work starts at most as much later as the transaction has taken since the call.
 */
export class Commits {
  readonly #pending = new Map<string, Pending>();
  #rows: CommitRows | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #look: Promise<void> | undefined;

  constructor(private readonly context: CallContext) {}

  /** Sets where the rows are. */
  useRows(rows: CommitRows): void {
    this.#rows = rows;
  }

  /** Makes `work` run after the commit of a transaction. If it is rolled back, `work` does not run. */
  async add(transaction: Transaction, work: () => void): Promise<void> {
    const id = await this.#rows?.insert(transaction);
    if (id === undefined) throw new TypeError('there are no rows of commits');
    const since = performance.now();
    const end = this.context.background.begin();
    const announced = timers.setTimeout(end, ANNOUNCED_MS).unref();
    this.#pending.set(id, {
      since,
      pauseMs: FIRST_PAUSE_MS,
      lookAt: since + FIRST_PAUSE_MS,
      work,
      stopAnnouncing() {
        timers.clearTimeout(announced);
        end();
      },
    });
    this.#wait(since + FIRST_PAUSE_MS);
  }

  /** Looks once more, and then no longer waits for any commit. */
  async close(): Promise<void> {
    await this.#look;
    await this.#lookFor([...this.#pending.keys()]);
    timers.clearTimeout(this.#timer);
    for (const id of this.#pending.keys()) this.#forget(id);
  }

  #wait(until: number): void {
    if (this.#look || until >= this.#timerAt) return;
    timers.clearTimeout(this.#timer);
    this.#timerAt = until;
    this.#timer = timers.setTimeout(() => this.#lookNow(), Math.max(1, until - performance.now())).unref();
  }

  #lookNow(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    const due = [...this.#pending].filter(([, { lookAt }]) => lookAt <= now).map(([id]) => id);
    this.#look = this.#lookFor(due).finally(() => {
      this.#look = undefined;
      let next = Number.POSITIVE_INFINITY;
      for (const { lookAt } of this.#pending.values()) next = Math.min(next, lookAt);
      if (this.#pending.size > 0) this.#wait(next);
    });
  }

  async #lookFor(ids: readonly string[]): Promise<void> {
    for await (const some of slicesOf(ids)) {
      // While the database does not respond, nothing is known.
      const found = await this.context
        .detached(async () => this.#rows?.take(some))
        .catch((): readonly string[] => []);
      this.#looked(some, new Set(found));
    }
  }

  #looked(ids: readonly string[], committed: ReadonlySet<string>): void {
    const now = performance.now();
    for (const id of ids) {
      const one = this.#pending.get(id);
      if (!one) continue;
      one.pauseMs *= 2;
      one.lookAt = now + one.pauseMs;
      if (committed.has(id) || now - one.since > GIVE_UP_MS) this.#forget(id);
      if (committed.has(id)) one.work();
    }
  }

  #forget(id: string): void {
    this.#pending.get(id)?.stopAnnouncing();
    this.#pending.delete(id);
  }
}
