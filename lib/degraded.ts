import { performance } from './timers.js';

/**
 * The parts of an Auth that currently do less than they should, for `auth.health()`. Each process has its own list, so
 * a name is also missing if another process has noticed the failure.
 */
export class Degraded {
  /** The times until which the names are listed, by `performance.now()`. */
  readonly #names = new Map<string, number>();

  /** Adds a part, such as `bridges.express-session`. @param forMs how long it is listed. @default until it is removed */
  add(name: string, forMs = Number.POSITIVE_INFINITY): void {
    this.#names.set(name, performance.now() + forMs);
  }

  /** Removes a part that works again. */
  remove(name: string): void {
    this.#names.delete(name);
  }

  /** The names, in alphabetical order. */
  get names(): readonly string[] {
    const now = performance.now();
    return [...this.#names].flatMap(([name, until]) => (until > now ? name : [])).sort();
  }
}
