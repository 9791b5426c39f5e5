/**
 * The parts of an Auth that currently do less than they should, for `auth.health()`. Each process has its own list, so
 * a name is also missing if another process has noticed the failure.
 */
export class Degraded {
  readonly #names = new Set<string>();

  /** Adds a part, such as `bridges.express-session`. */
  add(name: string): void {
    this.#names.add(name);
  }

  /** Removes a part that works again. */
  remove(name: string): void {
    this.#names.delete(name);
  }

  /** The names, in alphabetical order. */
  get names(): readonly string[] {
    return [...this.#names].sort();
  }
}
