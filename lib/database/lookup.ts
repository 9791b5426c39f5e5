const MAX_BATCH = 64;
const MAX_UNDER_WAY = 2;
// A batch that failed sooner than this is tried again one by one; later, the callers have waited enough.
const RETRY_WITHIN_MS = 1000;

interface Waiter<Row> {
  resolve(row: Row | null): void;
  reject(error: unknown): void;
}

/**
 * Finds rows by the digest of a token. Lookups of one turn of the event loop, or that came while two batches
 * were under way, share one SELECT: a busy server asks the database a few times where it would have asked
 * hundreds of times. Nothing is kept: each lookup is answered by a SELECT that began after it was asked for, so
 * that a revoked token is dead on the next request.
 */
export class BatchedLookup<Row> {
  #pending = new Map<string, Waiter<Row>[]>();
  #underWay = 0;
  #scheduled = false;

  /** @param fetch reads the rows of up to 64 digests, keyed by digest */
  constructor(private readonly fetch: (digests: string[]) => Promise<Map<string, Row>>) {}

  find(digest: string): Promise<Row | null> {
    return new Promise((resolve, reject) => {
      const waiters = this.#pending.get(digest);
      if (waiters) waiters.push({ resolve, reject });
      else this.#pending.set(digest, [{ resolve, reject }]);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#pending.size === 0 || this.#underWay >= MAX_UNDER_WAY) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#send(this.#take());
    });
  }

  #take(): Map<string, Waiter<Row>[]> {
    if (this.#pending.size <= MAX_BATCH) {
      const all = this.#pending;
      this.#pending = new Map();
      return all;
    }
    const batch = new Map([...this.#pending].slice(0, MAX_BATCH));
    for (const digest of batch.keys()) this.#pending.delete(digest);
    return batch;
  }

  async #send(batch: Map<string, Waiter<Row>[]>): Promise<void> {
    this.#underWay++;
    this.#schedule();
    const started = performance.now();
    try {
      settle(batch, await this.fetch([...batch.keys()]));
    } catch (error) {
      if (performance.now() - started < RETRY_WITHIN_MS) await this.#sendSingly(batch);
      else this.#giveUp(batch, error);
    } finally {
      this.#underWay--;
      this.#schedule();
    }
  }

  // A database that is this slow answers those in line no sooner, and they must not pile up while it is.
  #giveUp(batch: Map<string, Waiter<Row>[]>, error: unknown): void {
    const waiters = [...batch.values(), ...this.#pending.values()].flat();
    this.#pending.clear();
    for (const waiter of waiters) waiter.reject(error);
  }

  // One connection that died while idle must not cost every request of the batch.
  async #sendSingly(batch: Map<string, Waiter<Row>[]>): Promise<void> {
    await Promise.all(
      [...batch].map(async ([digest, waiters]) => {
        try {
          settle(new Map([[digest, waiters]]), await this.fetch([digest]));
        } catch (error) {
          for (const waiter of waiters) waiter.reject(error);
        }
      }),
    );
  }
}

function settle<Row>(batch: Map<string, Waiter<Row>[]>, rows: Map<string, Row>): void {
  for (const [digest, waiters] of batch) {
    const row = rows.get(digest) ?? null;
    for (const waiter of waiters) waiter.resolve(row);
  }
}
