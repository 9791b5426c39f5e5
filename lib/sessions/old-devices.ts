import type { Chore } from '../database/chore.js';
import { countRows, type Ends, endsOf, isOld } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { BATCH, inBatches } from '../database/in-batches.js';
import { UNDO_MS } from '../notices/changes.js';

/**
 * Devices that have not been used for so long that they are none any more, and those that were forgotten, once they can prove
 * nothing. The newest one of an account stays, which tells that a sign-in is not its first.
 */
export class OldDevices implements Chore {
  readonly #ages: Readonly<Record<string, number>>;
  readonly #isSuperseded: string;

  /** @param lifeMs how long a device is one after the last sign-in there */
  constructor(
    private readonly database: Database,
    readonly table: string,
    lifeMs: number,
  ) {
    this.#ages = { last_used_at: lifeMs + UNDO_MS, forgotten_at: UNDO_MS };
    this.#isSuperseded = `EXISTS (SELECT 1 FROM ${table} n WHERE n.user_id = d.user_id AND n.id > d.id)`;
  }

  async run(dryRun: boolean): Promise<number> {
    const ends = await endsOf(this.database, this.#ages);
    const columns = Object.keys(this.#ages);
    if (dryRun) {
      const old = columns.map((column) => `d.${isOld(column)}`).join(' OR ');
      const from = `${this.table} d WHERE d.kept IS NULL AND (${old}) AND ${this.#isSuperseded}`;
      return countRows(this.database, from, ends);
    }
    let deleted = 0;
    for (const column of columns) deleted += await this.#deleteBy(column, ends);
    return deleted;
  }

  /**
   * Marks those that it keeps, and does not look at them again: otherwise, each call would look at a device of every account
   * that is no longer used.
   */
  #deleteBy(column: string, ends: Ends): Promise<number> {
    const { database, table } = this;
    const found = `SELECT d.id, CASE WHEN ${this.#isSuperseded} THEN 1 ELSE 0 END AS is_superseded
       FROM ${table} d WHERE d.kept IS NULL AND d.${isOld(column)} ORDER BY d.${column} LIMIT ${BATCH}`;
    const where = `WHERE id IN (:ids) AND ${isOld(column)}`;
    return inBatches(
      () => database.select<{ id: string; is_superseded: unknown }>(found, ends),
      async (rows) => {
        const [gone, kept] = [true, false].map((is) =>
          rows.filter((row) => Number(row.is_superseded) > 0 === is).map(({ id }) => id),
        );
        if (kept?.length)
          await database.change(`UPDATE ${table} SET kept = TRUE ${where}`, { ...ends, ids: kept });
        return gone?.length ? database.change(`DELETE FROM ${table} ${where}`, { ...ends, ids: gone }) : 0;
      },
    );
  }
}
