import type { Core } from '../../core/core.js';
import { uuidv7 } from '../../crypto/uuid.js';
import type { Database } from '../../database/database.js';
import { AuthError } from '../../errors.js';
import type { Table } from '../../tables/table.js';
import type { Accounts } from './accounts.js';
import { type AccountColumns, type AccountRow, accountsTable } from './declarations.js';
import type { TokenBox } from './token-box.js';
import type { TokenSet } from './token-response.js';

// Longer than a request to a provider may take, but short, since a process that dies holding it blocks the account.
const LEASE_MS = 7000;
const NO_LEASE = { refreshLease: null, refreshLeaseUntil: null };
const MAX_ATTEMPTS = 5;

/**
 * The leases of calls that refresh tokens, across all processes. A lease instead of a transaction, which would hold a
 * row lock for the seconds that the provider may take. Only its holder releases it: a sign-in that stores tokens in the
 * meantime does not, since the refresh token in use could otherwise be sent twice.
 */
export class RefreshLeases {
  readonly #core: Core;
  readonly #database: Database;
  readonly #table: Table<AccountColumns>;

  constructor(
    core: Core,
    private readonly accounts: Accounts,
    private readonly box: TokenBox,
  ) {
    this.#core = core;
    this.#database = core.database;
    this.#table = core.table(accountsTable);
  }

  /** Acquires the lease of an account. Null if another call holds it, or has refreshed the tokens. */
  async take(account: AccountRow): Promise<string | null> {
    const lease = uuidv7();
    const { clock } = this.#database;
    const taken = await this.#database.change(
      `UPDATE ${this.#table.name} SET refresh_lease = :lease, refresh_lease_until = :until
       WHERE id = :id AND refreshed_at = :seen AND (refresh_lease IS NULL OR refresh_lease_until < :now)`,
      { lease, now: clock.date(), until: clock.date(LEASE_MS), id: account.id, seen: account.refreshedAt },
    );
    return taken > 0 ? lease : null;
  }

  /** Whether the lease is held and has not expired. */
  isHeld({ refreshLeaseUntil }: AccountRow): boolean {
    return refreshLeaseUntil !== null && refreshLeaseUntil >= this.#database.clock.date();
  }

  /** Extends the lease while new tokens cannot be saved yet. */
  async renew(account: AccountRow, lease: string): Promise<void> {
    const refreshLeaseUntil = this.#database.clock.date(LEASE_MS);
    await this.#table.update({ refreshLeaseUntil }, { id: account.id, refreshLease: lease });
  }

  /** Releases the lease of a refresh that failed. */
  async release(account: AccountRow, lease: string): Promise<void> {
    await this.#table.update(NO_LEASE, { id: account.id, refreshLease: lease });
  }

  /**
   * Ends a refresh: stores its tokens, or that the grant has ended if there are none, and releases the lease.
   *
   * @param account as it was when the refresh started
   */
  async finish(account: AccountRow, lease: string, tokens: TokenSet | null): Promise<void> {
    let row: AccountRow | null = { ...account, refreshLease: lease };
    for (let attempt = 1; row && attempt <= MAX_ATTEMPTS; attempt++) {
      const { id, accessToken, refreshToken, refreshLease } = row;
      const values = {
        ...this.#outcome(account, row, tokens),
        // After an outage, another call may hold it.
        ...(refreshLease === lease && NO_LEASE),
      };
      // Only if unchanged, also by a rotation of secrets.
      const unchanged = { id, accessToken, refreshToken, refreshLease };
      if (await this.#write(values, unchanged, account, tokens !== null)) return;
      row = await this.accounts.findById(id);
    }
    if (row) throw new AuthError('unavailable');
  }

  #write(
    values: Partial<AccountRow>,
    where: Partial<AccountRow>,
    { userId, provider }: AccountRow,
    isRefreshed: boolean,
  ): Promise<boolean> {
    const { events } = this.#core;
    return events.together(['tokens.refreshed'], async (transaction) => {
      const isWritten = (await this.#table.update(values, where, transaction)) > 0;
      if (isWritten && isRefreshed) events.emit('tokens.refreshed', { userId, provider }, transaction);
      return isWritten;
    });
  }

  /** What a refresh stores. Nothing that a sign-in or link has replaced in the meantime. */
  #outcome(before: AccountRow, row: AccountRow, tokens: TokenSet | null): Partial<AccountRow> {
    const now = this.#database.clock.date();
    const isReplaced = (field: 'accessToken' | 'refreshToken') =>
      this.box.openField(row, field) !== this.box.openField(before, field);
    // Calls that are waiting for this refresh get the newer tokens.
    if (isReplaced('refreshToken')) return { refreshedAt: now };
    // The newer access token can be used, but the refresh token beside it is the one that this refresh has used up.
    if (isReplaced('accessToken')) {
      const { refreshToken } = tokens ? this.box.seal(row, tokens) : { refreshToken: null };
      return { refreshedAt: now, ...(refreshToken !== undefined && { refreshToken }) };
    }
    return tokens ? this.box.columnsOf(row, tokens, now) : { relinkRequired: true };
  }
}
