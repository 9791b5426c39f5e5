/**
 * The database's time, as estimated from the last query that returned it. All processes on one database agree on when a
 * session starts and ends, even if their own clocks are minutes apart.
 */
export class Clock {
  #ahead = 0;

  /** Records the database's time, in milliseconds since 1970. */
  observe(databaseTime: number): void {
    this.#ahead = databaseTime - Date.now();
  }

  /** Milliseconds since 1970 by the database's clock, or by the local clock before the first query. */
  now(): number {
    return Date.now() + this.#ahead;
  }

  /** The time `inMs` milliseconds from now, in whole milliseconds as columns store it. */
  date(inMs = 0): Date {
    return new Date(Math.floor(this.now() + inMs));
  }

  /** Whether a time has passed by the later of the two clocks, so that a wrong clock can only shorten lifetimes. */
  hasPassed(time: Date): boolean {
    return time.getTime() <= Math.max(this.now(), Date.now());
  }
}
