/**
 * How long one request may wait for the database, all its statements together. Only the time in which a statement is
 * running counts: a turn in the queue of password hashes and a provider's response have limits of their own.
 */
export class DatabaseBudget {
  #running = 0;
  #since = 0;

  constructor(private leftMs: number) {}

  /** In milliseconds; negative when it is used up. */
  get left(): number {
    return this.#running > 0 ? this.leftMs - (performance.now() - this.#since) : this.leftMs;
  }

  /** Counts the time that work takes. */
  async spend<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#since = performance.now();
    try {
      return await work();
    } finally {
      if (--this.#running === 0) this.leftMs -= performance.now() - this.#since;
    }
  }

  /** Nobody waits any more: what is still running keeps to the deadline of a single statement. */
  release(): void {
    this.leftMs = Number.POSITIVE_INFINITY;
  }
}
