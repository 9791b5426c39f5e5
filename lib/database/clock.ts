import type { Dialect } from './connect.js';

/** Expressions for the database's time, in milliseconds since 1970. */
export const NOW_SQL: Record<Dialect, string> = {
  // Not UNIX_TIMESTAMP(NOW(3)): in a time zone with summer time, one hour of the year is ambiguous.
  mysql: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000",
  postgres: '(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::float8',
  sqlite: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
};

/**
 * The database's time, as estimated from the last query that returned it. All processes on one database agree on when a
 * session starts and ends, even if their own clocks are minutes apart.
 *
 * Between queries it advances with the process's monotonic clock, which does not follow when the system's time is set.
 */
export class Clock {
  #ahead: number | undefined;
  /** What tests have added to the time: see {@link skip}. */
  #skippedMs = 0;

  /** Records the database's time as a statement has returned it, in milliseconds since 1970. */
  observe(databaseTime: number | string): void {
    this.#ahead = Number(databaseTime) - performance.now();
  }

  /** The time when a statement returned the database's time. */
  at(databaseTime: number | string): number {
    return Number(databaseTime) + this.#skippedMs;
  }

  /** Moves the time on, for tests: `latchkey/testing` calls it, and nothing else. @param ms 0 goes back to the real time */
  skip(ms: number): void {
    this.#skippedMs = ms === 0 ? 0 : this.#skippedMs + ms;
  }

  /** Milliseconds since some time in the past, for durations within this process. It needs no database. */
  elapsed(): number {
    return performance.now() + this.#skippedMs;
  }

  /** Whether the database's time is known. */
  get isSet(): boolean {
    return this.#ahead !== undefined;
  }

  /**
   * Milliseconds since 1970 by the database's clock.
   *
   * @throws Error before the first query: the process's own clock may be wrong, so it is no replacement. Every statement
   *   reads the clock first; code that needs the time before its first statement awaits `Database.ready`
   */
  now(): number {
    if (this.#ahead === undefined) throw new Error("the database's clock has not been read yet");
    return this.elapsed() + this.#ahead;
  }

  /** The time `inMs` milliseconds from now, in whole milliseconds as columns store it. */
  date(inMs = 0): Date {
    return new Date(Math.floor(this.now() + inMs));
  }

  /** Whether a time has passed by the later of the two clocks, so that a wrong clock can only shorten lifetimes. */
  hasPassed(time: Date): boolean {
    return time.getTime() <= this.latest();
  }

  /** The later of the database's and the process's own time. */
  latest(): number {
    return Math.max(this.now(), Date.now());
  }
}
