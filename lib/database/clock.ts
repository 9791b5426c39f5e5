/**
 * The database's time, as last seen in a row that carried it. All processes on one database then agree on when a
 * session began and ends, though their own clocks may be minutes apart.
 */
export class Clock {
  #ahead = 0;

  /** Takes note of the database's time, in milliseconds since 1970. */
  observe(databaseTime: number): void {
    this.#ahead = databaseTime - Date.now();
  }

  /** Milliseconds since 1970, by the database; by this process until the database has been heard. */
  now(): number {
    return Date.now() + this.#ahead;
  }
}
