import type { Transaction } from 'sequelize';

type Work = () => void;

/** Collects what to do after the commits of transactions. Nothing of one that is rolled back is done. */
export class AfterCommit {
  readonly #units = new WeakMap<Transaction, Work[]>();

  /** Adds work to the unit that a transaction is in. @returns false if it is in none */
  add(transaction: Transaction, work: Work): boolean {
    const unit = this.#units.get(transaction);
    unit?.push(work);
    return unit !== undefined;
  }

  /**
   * Runs a unit, such as a transaction, or a savepoint of one of the app's.
   *
   * @returns what to do after its commit; nothing for a unit within another one, which does it
   */
  async during<T>(
    transaction: Transaction,
    unit: () => Promise<T>,
  ): Promise<{ readonly outcome: T; readonly later: readonly Work[] }> {
    const outer = this.#units.get(transaction);
    const added: Work[] = [];
    this.#units.set(transaction, added);
    try {
      const outcome = await unit();
      outer?.push(...added);
      return { outcome, later: outer ? [] : added };
    } finally {
      if (outer) this.#units.set(transaction, outer);
      else this.#units.delete(transaction);
    }
  }
}
