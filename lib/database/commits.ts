import type { Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import { performance, timers } from '../timers.js';

/** Rows that show other connections that a transaction of the app has been committed. */
export interface CommitRows {
  /** Writes a row as a part of the transaction. @returns its id */
  insert(transaction: Transaction): Promise<string>;
  /** Deletes those of the rows that exist. @returns their ids */
  take(ids: readonly string[]): Promise<readonly string[]>;
}

const FIRST_PAUSE_MS = 10;
const GIVE_UP_MS = 5 * 60_000;
/** How long platforms that stop a process after each response wait for a commit. */
const ANNOUNCED_MS = 2000;
const MOST_AT_ONCE = 500;

/** A transaction whose end is not known. */
interface Unknown {
  readonly work: readonly (() => void)[];
  readonly since: number;
  pauseMs: number;
  lookAt: number;
  stopAnnouncing(): void;
}

/**
 * Runs work after commits that latchkey cannot observe, because the app sends them on connections of its own. Each
 * transaction has written a row. If another connection sees the row, the transaction has been committed. The pauses
 * between the looks double, so that the work starts at most as much later as the transaction has taken since the call.
 */
export class Commits {
  readonly #awaited = new Map<string, Unknown>();
  #rows: CommitRows | undefined;
  #timer: NodeJS.Timeout | undefined;
  #look: Promise<void> | undefined;

  constructor(private readonly context: CallContext) {}

  /** Sets where the rows are. */
  useRows(rows: CommitRows): void {
    this.#rows = rows;
  }

  /** Makes `work` run after the commit of a transaction. If it is rolled back, `work` does not run. */
  async await(transaction: Transaction, work: readonly (() => void)[]): Promise<void> {
    const id = await this.#rows?.insert(transaction);
    if (id === undefined) throw new TypeError('there are no rows of commits');
    const since = performance.now();
    const end = this.context.background.begin();
    const announced = timers.setTimeout(end, ANNOUNCED_MS).unref();
    const stopAnnouncing = () => {
      timers.clearTimeout(announced);
      end();
    };
    const lookAt = since + FIRST_PAUSE_MS;
    this.#awaited.set(id, { work, since, pauseMs: FIRST_PAUSE_MS, lookAt, stopAnnouncing });
    this.#wait();
  }

  /** Looks once more, and then no longer waits for any commit. */
  async close(): Promise<void> {
    await this.#look;
    await this.#lookFor([...this.#awaited.keys()]);
    timers.clearTimeout(this.#timer);
    for (const id of this.#awaited.keys()) this.#forget(id);
  }

  #wait(): void {
    timers.clearTimeout(this.#timer);
    if (this.#look || this.#awaited.size === 0) return;
    const next = Math.min(...[...this.#awaited.values()].map(({ lookAt }) => lookAt));
    this.#timer = timers.setTimeout(() => this.#lookNow(), Math.max(1, next - performance.now())).unref();
  }

  #lookNow(): void {
    const now = performance.now();
    const due = [...this.#awaited].filter(([, { lookAt }]) => lookAt <= now).map(([id]) => id);
    this.#look = this.#lookFor(due.slice(0, MOST_AT_ONCE)).finally(() => {
      this.#look = undefined;
      this.#wait();
    });
  }

  async #lookFor(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    // While the database does not respond, nothing is known.
    const taken = await this.context
      .detached(async () => this.#rows?.take(ids))
      .catch((): readonly string[] => []);
    const committed = new Set(taken);
    const now = performance.now();
    for (const id of ids) {
      const one = this.#awaited.get(id);
      if (!one) continue;
      one.pauseMs *= 2;
      one.lookAt = now + one.pauseMs;
      if (committed.has(id) || now - one.since > GIVE_UP_MS) this.#forget(id);
      if (committed.has(id)) for (const work of one.work) work();
    }
  }

  #forget(id: string): void {
    this.#awaited.get(id)?.stopAnnouncing();
    this.#awaited.delete(id);
  }
}
