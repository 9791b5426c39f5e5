import type { Transaction } from 'sequelize';
import type { Database } from './database.js';

/**
 * Makes the lock on a user's row effective in a whole Galera cluster. A node does not see the locks of other nodes, but
 * if two transactions write the same row, only one of them is committed, and the other is retried.
 */
export class ClusterLock {
  #isNeeded: boolean | undefined;

  constructor(
    private readonly database: Database,
    /** A table with the columns `id` and `updated_at`. */
    private readonly table: string,
  ) {}

  async take(id: string, transaction: Transaction): Promise<void> {
    if (this.database.dialect !== 'mysql') return;
    this.#isNeeded ??= await this.#isGalera(transaction);
    if (!this.#isNeeded) return;
    // Change the row and change it back, because an UPDATE that changes nothing is not sent to the other nodes.
    for (const direction of ['+', '-']) {
      await this.database.change(
        `UPDATE ${this.table} SET updated_at = updated_at ${direction} INTERVAL 1 SECOND WHERE id = :id`,
        { id },
        { transaction },
      );
    }
  }

  async #isGalera(transaction: Transaction): Promise<boolean> {
    const rows = await this.database.select<{ Value: string }>(
      "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'",
      undefined,
      transaction,
    );
    return rows[0]?.Value === 'ON';
  }
}
