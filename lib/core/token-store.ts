import type { Transaction } from 'sequelize';
import { digestToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { deleteInBatches } from '../database/delete-in-batches.js';
import type { RowOf } from '../models/column.js';
import type { oneTimeTokens } from '../models/one-time-token.js';
import type { Selection, Table } from '../models/table.js';

/** What a token allows. */
export interface Purpose {
  /** At most 32 characters. */
  readonly name: string;
  readonly lifetimeMs: number;
}

type Columns = typeof oneTimeTokens.columns;

/** The rows of one-time tokens. */
export class TokenStore {
  readonly #whole: Selection<RowOf<Columns>>;

  constructor(
    private readonly database: Database,
    private readonly table: Table<Columns>,
  ) {
    this.#whole = table.whole('t');
  }

  async insert(token: string, purpose: Purpose, userId: string, email: string): Promise<void> {
    const expiresAt = this.database.clock.date(purpose.lifetimeMs);
    await this.table.insert({
      tokenHash: digestToken(token),
      userId,
      purpose: purpose.name,
      email,
      expiresAt,
    });
  }

  async find(token: string, purpose: Purpose): Promise<RowOf<Columns> | null> {
    const [row] = await this.#whole.select('WHERE t.token_hash = :hash AND t.purpose = :purpose', {
      hash: digestToken(token),
      purpose: purpose.name,
    });
    return row && !this.database.clock.hasPassed(row.expiresAt) ? row : null;
  }

  /** @returns whether it was there: of any number of deletions at once, one finds it */
  async delete(token: string, transaction: Transaction): Promise<boolean> {
    return (await this.table.delete({ tokenHash: digestToken(token) }, transaction)) > 0;
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.table.delete({ userId }, transaction);
  }

  async deleteOf(userId: string, purpose: string, transaction: Transaction): Promise<void> {
    await this.table.delete({ userId, purpose }, transaction);
  }

  /** @returns how many rows were deleted */
  prune(): Promise<number> {
    const now = this.database.clock.date();
    return deleteInBatches(this.database, this.table.name, 'token_hash', 'expires_at <= :now', { now });
  }
}
