import { performance } from '../timers.js';
import type { Dialect } from './connect.js';

/** Expressions for the database's time, in milliseconds since 1970. */
export const NOW_SQL: Record<Dialect, string> = {
  // UNIX_TIMESTAMP(NOW(3)) is ambiguous for one hour of the year in a time zone with daylight saving time.
  mysql: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000",
  postgres: "date_part('epoch', clock_timestamp()) * 1000",
  sqlite: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
};

/**
 * Estimates the database's time from the last query that returned it, so that all processes on one database agree on
 * when a session starts and ends, even if their own clocks are minutes apart.
 *
 * Between queries the time advances with the process's monotonic clock, which ignores changes of the system's time.
 */
export class Clock {
  #ahead: number | undefined;
  /** The time that tests have added: see {@link skip}. */
  #skippedMs = 0;

  /** Records the database's time that a statement has returned, in milliseconds since 1970. */
  observe(databaseTime: number | string): void {
    this.#ahead = Number(databaseTime) - performance.now();
  }

  /** Converts a database time that a statement has returned to the time of this clock. */
  at(databaseTime: number | string): number {
    return Number(databaseTime) + this.#skippedMs;
  }

  /** Advances the time, for tests: only `latchkey/testing` calls this. @param ms 0 returns to the real time */
  skip(ms: number): void {
    this.#skippedMs = ms === 0 ? 0 : this.#skippedMs + ms;
  }

  /**
   * Returns the milliseconds since a fixed time in the past, to measure durations in this process without the database.
   */
  elapsed(): number {
    return performance.now() + this.#skippedMs;
  }

  /** Whether the database's time is known. */
  get isSet(): boolean {
    return this.#ahead !== undefined;
  }

  /**
   * Returns the milliseconds since 1970 by the database's clock.
   *
   * @throws Error before the first query, because the process's own clock might be wrong. Every statement reads the
   *   database's clock first. Code that needs the time before its first statement awaits `Database.ready`
   */
  now(): number {
    if (this.#ahead === undefined) throw new Error("the database's clock has not been read yet");
    return this.elapsed() + this.#ahead;
  }

  /** Returns the time `inMs` milliseconds from now, in whole milliseconds as columns store it. */
  date(inMs = 0): Date {
    return new Date(Math.floor(this.now() + inMs));
  }

  /** Whether a time has passed by the later of the two clocks, so that a wrong clock can only shorten lifetimes. */
  hasPassed(time: Date): boolean {
    return time.getTime() <= this.latest();
  }

  /** Returns the later of the database's time and the process's own time. */
  latest(): number {
    return Math.max(this.now(), Date.now());
  }
}
