/**
 * The database's time, as last seen in a row that carried it. All processes on one database agree on when a session
 * began and ends, even if their own clocks are minutes apart.
 */
export class Clock {
  #ahead = 0;

  /** Takes note of the database's time, in milliseconds since 1970. */
  observe(databaseTime: number): void {
    this.#ahead = databaseTime - Date.now();
  }

  /** Milliseconds since 1970, by the database; by this process until the database has answered once. */
  now(): number {
    return Date.now() + this.#ahead;
  }

  /** The time in so many milliseconds, as a column stores it. */
  date(inMs = 0): Date {
    return new Date(Math.floor(this.now() + inMs));
  }

  /** Whether a time has passed, by the later of the two clocks: one that is wrong can only shorten what ends then. */
  hasPassed(time: Date): boolean {
    return time.getTime() <= Math.max(this.now(), Date.now());
  }
}
