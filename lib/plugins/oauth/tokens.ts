import { withTimeout } from '../../context/deadline.js';
import type { Core } from '../../core/core.js';
import { uuidv7 } from '../../crypto/uuid.js';
import type { Database } from '../../database/database.js';
import { AuthError } from '../../errors.js';
import type { Table } from '../../tables/table.js';
import { performance, sleep, timers } from '../../timers.js';
import type { Accounts } from './accounts.js';
import type { ProviderClient } from './client.js';
import { type AccountColumns, type AccountRow, accountsTable } from './declarations.js';
import type { Revocations } from './revocations.js';
import type { OpenTokens, TokenBox } from './token-box.js';
import type { TokenSet } from './token-response.js';

// Longer than any request to a provider, but short, because a process that dies with a lease blocks the account.
const LEASE_MS = 7000;
const NO_LEASE = { refreshLease: null, refreshLeaseUntil: null };
const MAX_ATTEMPTS = 5;

/**
 * The leases of calls that refresh tokens, across all processes. A transaction would instead hold a row lock for the
 * seconds that the provider might take. Only the holder releases a lease. A sign-in that stores tokens in the meantime
 * does not, because the refresh token in use could then be sent twice.
 */
class RefreshLeases {
  readonly #database: Database;
  readonly #table: Table<AccountColumns>;

  constructor(private readonly oauth: RefresherNeeds) {
    this.#database = oauth.core.database;
    this.#table = oauth.core.table(accountsTable);
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
   * Completes a refresh: stores its tokens, or if there are none, that the grant has ended, and releases the lease.
   *
   * @param account as it was when the refresh started
   * @returns false if the account has been unlinked, or has lost its tokens, in the meantime
   */
  async finish(account: AccountRow, lease: string, tokens: TokenSet | null): Promise<boolean> {
    let row: AccountRow | null = { ...account, refreshLease: lease };
    for (let attempt = 1; row && attempt <= MAX_ATTEMPTS; attempt++) {
      const { id, accessToken, refreshToken, refreshLease } = row;
      const hasLost = row.relinkRequired && refreshToken === null;
      const values = {
        ...(hasLost ? {} : this.#outcome(account, row, tokens)),
        // After an outage, another call might hold the lease.
        ...(refreshLease === lease && NO_LEASE),
      };
      // Write only if the row is unchanged. A rotation of secrets changes it too.
      const unchanged = { id, accessToken, refreshToken, refreshLease };
      if (await this.#write(values, unchanged, account, tokens !== null && !hasLost)) return !hasLost;
      row = await this.oauth.accounts.findById(id);
    }
    if (row) throw new AuthError('unavailable');
    return false;
  }

  /** Stores the ID token of a refresh, unless its tokens have been replaced in the meantime. */
  async keepIdToken(account: AccountRow, accessToken: string, idToken: string): Promise<void> {
    const row = await this.oauth.accounts.findById(account.id);
    if (!row || this.oauth.box.openField(row, 'accessToken') !== accessToken) return;
    const { id, accessToken: unchanged } = row;
    await this.#table.update(this.oauth.box.seal(row, { idToken }), { id, accessToken: unchanged });
  }

  #write(
    values: Partial<AccountRow>,
    where: Partial<AccountRow>,
    { userId, provider }: AccountRow,
    isRefreshed: boolean,
  ): Promise<boolean> {
    const { events } = this.oauth.core;
    return events.together(['tokens.refreshed'], async (transaction) => {
      const isWritten = (await this.#table.update(values, where, transaction)) > 0;
      if (isWritten && isRefreshed) events.emit('tokens.refreshed', { userId, provider }, transaction);
      return isWritten;
    });
  }

  /** Returns the columns that a refresh writes, without tokens that a sign-in or link has replaced in the meantime. */
  #outcome(before: AccountRow, row: AccountRow, tokens: TokenSet | null): Partial<AccountRow> {
    const now = this.#database.clock.date();
    const isReplaced = (field: 'accessToken' | 'refreshToken') =>
      this.oauth.box.openField(row, field) !== this.oauth.box.openField(before, field);
    // Keep the newer tokens, and let calls that wait for this refresh get them.
    if (isReplaced('refreshToken')) return { refreshedAt: now };
    // The newer access token works, but this refresh has consumed the refresh token that is stored with it.
    if (isReplaced('accessToken')) {
      const { refreshToken } = tokens ? this.oauth.box.seal(row, tokens) : { refreshToken: null };
      return { refreshedAt: now, ...(refreshToken !== undefined && { refreshToken }) };
    }
    return tokens ? this.oauth.box.columnsOf(row, tokens, now) : { relinkRequired: true };
  }
}

/** A provider's decrypted tokens, for calling its API on behalf of the user. */
export interface ProviderTokens {
  /** The provider's id. */
  readonly provider: string;
  /** The access token. */
  readonly accessToken: string | null;
  /** The refresh token. Null if the provider issued none. */
  readonly refreshToken: string | null;
  /** The ID token. Null if the provider issued none. */
  readonly idToken: string | null;
  /** The type of the access token, such as `bearer`. */
  readonly tokenType: string | null;
  /** The granted scopes. */
  readonly scopes: readonly string[];
  /** When the access token expires. Null if unknown. */
  readonly accessTokenExpiresAt: Date | null;
}

const POLL_MS = 50;
// The time limit for everything that one call waits for outside the database. The refresh itself continues.
const MAX_REFRESH_MS = 4500;
// Slightly longer than MAX_REFRESH_MS, so that waiting calls see the outcome.
const MAX_WAIT_MS = 4650;
/** The time after which a call that failed with `provider_slow` should be retried. */
const SLOW_RETRY_SECONDS = 5;
// About 30 seconds in total, at short intervals, so that tokens are saved soon after a database outage.
const SAVE_ATTEMPTS = 16;
const MAX_SAVE_PAUSE_MS = 2000;
const RENEW_LEASE_MS = 1500;
// Longer than a live process needs to renew its lease or save its tokens after a database outage.
const GRACE_MS = 2500;

/** Decrypts tokens. @throws AuthError `relink_required` if they can no longer be used */
export function openTokens(box: TokenBox, account: AccountRow): ProviderTokens {
  const tokens = openOrRefuse(box, account);
  return {
    provider: account.provider,
    ...tokens,
    tokenType: account.tokenType,
    scopes: account.scopes,
    accessTokenExpiresAt: account.accessTokenExpiresAt,
  };
}

/** What {@link Refresher} needs. */
interface RefresherNeeds {
  readonly core: Core;
  readonly accounts: Accounts;
  readonly box: TokenBox;
  readonly revocations: Revocations;
}

/** Refreshes tokens. Concurrent calls, even in several processes, share one request to the provider. */
export class Refresher {
  /** New tokens that are still being saved, by account. */
  readonly #saving = new Map<string, Promise<void>>();
  /** Refreshes in progress, even if their callers have given up. */
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #closed = new AbortController();

  readonly #leases: RefreshLeases;

  constructor(private readonly oauth: RefresherNeeds) {
    this.#leases = new RefreshLeases(oauth);
  }

  /**
   * @returns the account with its new tokens
   * @throws AuthError `refresh_token_missing`, `relink_required` (409), `provider_error` (502), `provider_slow`,
   *   `unavailable` (503)
   */
  async refresh(account: AccountRow, client: ProviderClient): Promise<AccountRow> {
    const startedAt = performance.now();
    const { refreshToken } = openOrRefuse(this.oauth.box, account);
    if (refreshToken === null) throw new AuthError('refresh_token_missing');
    // The refresh token has been used, and the new one is not saved yet.
    if (this.#saving.has(account.id)) throw new AuthError('unavailable');
    if (await this.#isHolderAlive(account)) throw new AuthError('unavailable');
    const lease = await this.#leases.take(account);
    if (lease === null) return this.#awaitOtherRefresh(account, startedAt + MAX_WAIT_MS);
    const refreshing = this.#hold(account, lease, () =>
      this.#carryOut(account, refreshToken, client, lease),
    ).finally(() => this.#running.delete(refreshing));
    this.#running.add(refreshing);
    this.oauth.core.context.background.add(refreshing);
    await withTimeout(refreshing, Math.max(1, startedAt + MAX_REFRESH_MS - performance.now()), slow);
    return this.#reread(account);
  }

  /**
   * Before closing, waits for refreshes in progress, as long as a call would, and tries to save unsaved tokens one last
   * time.
   */
  async settle(): Promise<void> {
    this.#closing.abort();
    const timer = timers.setTimeout(() => this.#closed.abort(), MAX_REFRESH_MS);
    await Promise.allSettled(this.#running);
    timers.clearTimeout(timer);
    await Promise.all(this.#saving.values());
  }

  /** Whether the holder of an expired lease is still alive, for example after a database outage. */
  async #isHolderAlive(account: AccountRow): Promise<boolean> {
    if (account.refreshLease === null || this.#leases.isHeld(account)) return false;
    await sleep(GRACE_MS);
    const { refreshLeaseUntil, refreshedAt } = await this.#reread(account);
    return (
      refreshLeaseUntil?.getTime() !== account.refreshLeaseUntil?.getTime() ||
      refreshedAt.getTime() !== account.refreshedAt.getTime()
    );
  }

  /** Renews the lease as long as the work takes, so that no other call uses the old refresh token in the meantime. */
  async #hold<T>(account: AccountRow, lease: string, work: () => Promise<T>): Promise<T> {
    const renewing = timers
      .setInterval(() => {
        this.#leases.renew(account, lease).catch(() => undefined);
      }, RENEW_LEASE_MS)
      .unref();
    try {
      return await work();
    } finally {
      timers.clearInterval(renewing);
    }
  }

  /** Requests new tokens, and saves them before it does anything else with the response. */
  async #carryOut(
    account: AccountRow,
    refreshToken: string,
    client: ProviderClient,
    lease: string,
  ): Promise<void> {
    const refreshed = await this.#request(account, refreshToken, client, lease);
    if (refreshed === null) return void (await this.#leases.finish(account, lease, null));
    const { tokens } = refreshed;
    const save = async () => {
      const isLinked = await this.#leases.finish(account, lease, tokens);
      if (!isLinked) await this.#revoke(account, client, tokens);
    };
    await this.#save(account, lease, save);
    const idToken = await refreshed.idToken();
    if (idToken !== null) await this.#keepIdToken(account, tokens.accessToken, idToken);
  }

  /** The tokens are saved, so an error here must not fail the refresh. */
  async #keepIdToken(...given: Parameters<RefreshLeases['keepIdToken']>): Promise<void> {
    try {
      await this.#leases.keepIdToken(...given);
    } catch (error) {
      this.oauth.core.settings.log.warn(
        'oauth.id_token_not_saved',
        'the ID token of a refresh could not be saved',
        {
          err: error,
        },
      );
    }
  }

  async #request(account: AccountRow, refreshToken: string, client: ProviderClient, lease: string) {
    try {
      return await client.refresh(refreshToken, account.scopes, account, this.#closed.signal);
    } catch (error) {
      await this.#leases.release(account, lease);
      throw error;
    }
  }

  /** Ends a grant whose account lost its tokens during the refresh, unless the same person now has other tokens. */
  async #revoke(account: AccountRow, client: ProviderClient, tokens: TokenSet): Promise<void> {
    const { issuer, providerAccountId } = account;
    if (!(await this.oauth.accounts.hasTokens({ issuer, providerAccountId })))
      this.oauth.revocations.start(client, tokens);
  }

  async #awaitOtherRefresh(before: AccountRow, end: number): Promise<AccountRow> {
    while (performance.now() < end) {
      const account = await this.#reread(before);
      if (account.refreshedAt.getTime() !== before.refreshedAt.getTime()) return account;
      // The other call failed. If each waiting call retried in turn, the last would wait for the timeouts of all
      // others.
      if (account.refreshLease === null) throw new AuthError('provider_error');
      // The other process has died. The next call can take the lease.
      if (!this.#leases.isHeld(account)) throw new AuthError('unavailable');
      await sleep(POLL_MS);
    }
    throw slow();
  }

  /**
   * The provider might have revoked the old refresh token, so the new one must survive a database outage. The caller
   * waits for the first attempt only.
   */
  async #save(account: AccountRow, lease: string, save: () => Promise<void>): Promise<void> {
    try {
      await save();
    } catch (error) {
      this.oauth.core.settings.log.error(
        'oauth.tokens_not_saved',
        `new tokens of account ${account.id} could not be saved yet`,
        {
          cause: null,
          err: error,
        },
      );
      const saving = this.#hold(account, lease, () => this.#saveLater(account, save)).finally(() =>
        this.#saving.delete(account.id),
      );
      this.#saving.set(account.id, saving);
      this.oauth.core.context.background.add(saving);
      throw error;
    }
  }

  async #saveLater(account: AccountRow, save: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    const name = `new tokens of account ${account.id}`;
    for (let attempt = 1; attempt <= SAVE_ATTEMPTS; attempt++) {
      const pause = Math.min(2 ** attempt * 250, MAX_SAVE_PAUSE_MS);
      await sleep(pause, signal);
      const isLast = attempt === SAVE_ATTEMPTS || signal.aborted;
      try {
        await save();
        this.oauth.core.settings.log.info('oauth.tokens_saved', `${name} were saved`);
        return;
      } catch (error) {
        const facts = { cause: null, err: error };
        if (isLast) {
          const what = `${name} are lost: the user might have to link the account again`;
          return this.oauth.core.settings.log.error('oauth.tokens_lost', what, facts);
        }
        const what = `${name} could not be saved yet (attempt ${attempt})`;
        this.oauth.core.settings.log.error('oauth.tokens_not_saved', what, facts);
      }
    }
  }

  async #reread({ userId, provider }: AccountRow): Promise<AccountRow> {
    const account = await this.oauth.accounts.find(userId, provider);
    if (!account) throw new AuthError('account_not_linked');
    if (account.relinkRequired) throw new AuthError('relink_required');
    return account;
  }
}

function slow(): AuthError {
  return new AuthError('provider_slow', { retryAfter: SLOW_RETRY_SECONDS });
}

function openOrRefuse(box: TokenBox, account: AccountRow): OpenTokens {
  const tokens = account.relinkRequired ? null : box.open(account);
  if (!tokens) throw new AuthError('relink_required');
  return tokens;
}
