/**
 * How long somebody waits for the database, in all of their statements together. Only the time in which a statement is
 * under way counts: a password's turn in the line of hashes, or a provider's answer, has a bound of its own.
 */
export class Patience {
  #underWay = 0;
  #since = 0;

  constructor(private leftMs: number) {}

  /** In milliseconds; negative when it has run out. */
  get left(): number {
    return this.#underWay > 0 ? this.leftMs - (performance.now() - this.#since) : this.leftMs;
  }

  begin(): void {
    if (this.#underWay++ === 0) this.#since = performance.now();
  }

  end(): void {
    if (--this.#underWay === 0) this.leftMs -= performance.now() - this.#since;
  }

  /** Nobody waits any more: what still goes on is held up by its own deadlines alone. */
  release(): void {
    this.leftMs = Number.POSITIVE_INFINITY;
  }
}
