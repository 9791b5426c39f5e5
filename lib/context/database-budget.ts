/**
 * How long one request may wait for the database in total. Only time during which a statement is running counts:
 * password hashing and requests to providers have limits of their own.
 */
export class DatabaseBudget {
  #running = 0;
  #since = 0;

  constructor(private leftMs: number) {}

  /** The remaining time in milliseconds; negative if it has been exceeded. */
  get left(): number {
    return this.#running > 0 ? this.leftMs - (performance.now() - this.#since) : this.leftMs;
  }

  /** Starts to charge the time, until {@link end} is called as often. Statements that overlap are charged once. */
  begin(): void {
    if (this.#running++ === 0) this.#since = performance.now();
  }

  /** Ends what {@link begin} began. */
  end(): void {
    if (--this.#running === 0) this.leftMs -= performance.now() - this.#since;
  }

  /** Lifts the limit after the response. Statements that are still running keep their own deadlines. */
  release(): void {
    this.leftMs = Number.POSITIVE_INFINITY;
  }
}
