import type { Transaction } from 'sequelize';

type Work = () => void;

/** Writes what has been collected during a transaction, as a part of it. */
export type Writer<Item> = (items: readonly Item[], transaction: Transaction) => Promise<void>;

interface Unit {
  readonly items: Map<Writer<never>, unknown[]>;
  readonly later: Work[];
}

/**
 * Collects what transactions are to write at their end, and what to do after their commits. Nothing of one that is rolled
 * back is written or done.
 */
export class Units {
  readonly #units = new WeakMap<Transaction, Unit>();

  /** Adds what to do after the commit of the unit that a transaction is in. @returns false if it is in none */
  addLater(transaction: Transaction, work: Work): boolean {
    const unit = this.#units.get(transaction);
    unit?.later.push(work);
    return unit !== undefined;
  }

  /** Adds what to write at the end of the unit that a transaction is in. @returns false if it is in none */
  addItems<Item>(transaction: Transaction, items: readonly Item[], write: Writer<Item>): boolean {
    const unit = this.#units.get(transaction);
    if (unit) collect(unit, items, write);
    return unit !== undefined;
  }

  /**
   * Runs a unit, such as a transaction, or a savepoint of one of the app's.
   *
   * @returns what to do after its commit; nothing for a unit within another one, which also writes what it has collected
   */
  async during<T>(
    transaction: Transaction,
    work: () => Promise<T>,
  ): Promise<{ readonly outcome: T; readonly later: readonly Work[] }> {
    const outer = this.#units.get(transaction);
    const unit: Unit = { items: new Map(), later: [] };
    this.#units.set(transaction, unit);
    try {
      const outcome = await work();
      for (const [write, items] of unit.items) {
        if (outer) collect(outer, items, write);
        else await write(items as never[], transaction);
      }
      outer?.later.push(...unit.later);
      return { outcome, later: outer ? [] : unit.later };
    } finally {
      if (outer) this.#units.set(transaction, outer);
      else this.#units.delete(transaction);
    }
  }
}

function collect(unit: Unit, items: readonly unknown[], write: Writer<never>): void {
  const collected = unit.items.get(write) ?? [];
  collected.push(...items);
  unit.items.set(write, collected);
}
