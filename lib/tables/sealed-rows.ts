import type { SecretBox } from '../crypto/secret-box.js';
import { FEW_ROWS, readBatches, slicesOf } from '../database/batches.js';
import type { Chore } from '../database/chores.js';
import type { Columns, RowOf } from './column.js';
import type { Table } from './table.js';

type Raw = Readonly<Record<string, unknown>>;

/**
 * Re-encrypts, in batches, the rows of a table whose values were not encrypted with the config's first secret. Rows
 * that cannot be decrypted stay as they are.
 */
export class SealedRows<C extends Columns, K extends keyof C & string> implements Chore {
  /**
   * @param columns the encrypted columns
   * @param contextOf returns the context of a value: see {@link SecretBox.seal}
   */
  constructor(
    private readonly rows: Table<C>,
    private readonly box: SecretBox,
    private readonly columns: readonly K[],
    private readonly contextOf: (row: RowOf<C>, column: K) => string,
  ) {}

  get table(): string {
    return this.rows.name;
  }

  async *run(dryRun: boolean): AsyncGenerator<number> {
    const rows = this.rows.whole('r');
    const { attribute, name } = this.rows.key;
    const key = `r.${name}`;
    // Select all rows, because a statement that searches for the few outdated ones could exceed its deadline.
    const batches = readBatches<RowOf<C>>((last, size) =>
      rows.select(`${last ? `WHERE ${key} > :after` : ''} ORDER BY ${key} LIMIT ${size}`, {
        after: ((last as Raw | undefined)?.[attribute] ?? null) as string | Buffer | null,
      }),
    );
    for await (const batch of batches) {
      let resealed = 0;
      for await (const few of slicesOf(batch, FEW_ROWS))
        for (const row of few) resealed += await this.#reseal(row, dryRun);
      yield resealed;
    }
  }

  async #reseal(row: RowOf<C>, dryRun: boolean): Promise<number> {
    const values = this.#resealed(row);
    if (!values || dryRun) return values ? 1 : 0;
    // Only update an unchanged row, because a write in the meantime has used the first secret or removed the value.
    const { attribute } = this.rows.key;
    const found = Object.fromEntries([attribute, ...this.columns].map((name) => [name, (row as Raw)[name]]));
    return this.rows.update(values, found as Partial<RowOf<C>>);
  }

  /** Returns the re-encrypted values, or null if all are current or if one of them cannot be decrypted. */
  #resealed(row: RowOf<C>): Partial<RowOf<C>> | null {
    const found = this.columns.map((column) => [column, (row as Raw)[column] as string | null] as const);
    if (found.every(([, sealed]) => sealed?.startsWith(this.box.currentPrefix) ?? true)) return null;
    const values: Record<string, string> = {};
    for (const [column, sealed] of found) {
      if (sealed === null) continue;
      const context = this.contextOf(row, column);
      const open = this.box.open(sealed, context);
      if (open === null) return null;
      values[column] = this.box.seal(open, context);
    }
    return values as Partial<RowOf<C>>;
  }
}
