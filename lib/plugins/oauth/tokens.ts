import { setTimeout as sleep } from 'node:timers/promises';
import { AuthError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import type { Accounts } from './accounts.js';
import type { ProviderClient } from './client.js';
import type { AccountRow } from './declarations.js';
import type { RefreshLeases } from './refresh-leases.js';
import type { OpenTokens, TokenBox } from './token-box.js';
import type { TokenSet } from './token-response.js';

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
// For everything that one call waits for outside the database.
const MAX_REFRESH_MS = 4500;
// Slightly longer, so that waiting calls see the outcome.
const MAX_WAIT_MS = 4650;
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

/** Refreshes tokens. Concurrent calls, even in several processes, share one request to the provider. */
export class Refresher {
  /** New tokens that are still being saved, by account. */
  readonly #saving = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(
    private readonly accounts: Accounts,
    private readonly leases: RefreshLeases,
    private readonly box: TokenBox,
    private readonly logger: Logger,
  ) {}

  /**
   * @returns the account with its new tokens
   * @throws AuthError `refresh_token_missing`, `relink_required` (409), `provider_error` (502), `unavailable` (503)
   */
  async refresh(account: AccountRow, client: ProviderClient): Promise<AccountRow> {
    const startedAt = performance.now();
    const { refreshToken } = openOrRefuse(this.box, account);
    if (refreshToken === null) throw new AuthError('refresh_token_missing');
    // The refresh token has been used, and the new one is not saved yet.
    if (this.#saving.has(account.id)) throw new AuthError('unavailable');
    if (await this.#isHolderAlive(account)) throw new AuthError('unavailable');
    const lease = await this.leases.take(account);
    if (lease === null) return this.#awaitOtherRefresh(account, startedAt + MAX_WAIT_MS);
    const tokens = await this.#request(account, refreshToken, client, lease, startedAt + MAX_REFRESH_MS);
    if (tokens === null) await this.leases.finish(account, lease, null);
    else await this.#save(account, tokens, lease);
    return this.#reread(account);
  }

  /** Before closing, tries to save unsaved tokens one last time. */
  async settle(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#saving.values());
  }

  /** Whether the holder of an expired lease is still alive, for example after a database outage. */
  async #isHolderAlive(account: AccountRow): Promise<boolean> {
    if (account.refreshLease === null || this.leases.isHeld(account)) return false;
    await sleep(GRACE_MS);
    const { refreshLeaseUntil, refreshedAt } = await this.#reread(account);
    return (
      refreshLeaseUntil?.getTime() !== account.refreshLeaseUntil?.getTime() ||
      refreshedAt.getTime() !== account.refreshedAt.getTime()
    );
  }

  async #request(
    account: AccountRow,
    refreshToken: string,
    client: ProviderClient,
    lease: string,
    end: number,
  ) {
    try {
      const timeoutMs = Math.max(1, Math.floor(end - performance.now()));
      return await client.refresh(refreshToken, account.scopes, account.providerAccountId, timeoutMs);
    } catch (error) {
      await this.leases.release(account, lease);
      throw error;
    }
  }

  async #awaitOtherRefresh(before: AccountRow, end: number): Promise<AccountRow> {
    while (performance.now() < end) {
      const account = await this.#reread(before);
      if (account.refreshedAt.getTime() !== before.refreshedAt.getTime()) return account;
      // The other call failed. If each waiting call retried in turn, the last would wait for the timeouts of all
      // others.
      if (account.refreshLease === null) throw new AuthError('provider_error');
      // The other process has died. The next call can take the lease.
      if (!this.leases.isHeld(account)) break;
      await sleep(POLL_MS);
    }
    throw new AuthError('unavailable');
  }

  // The provider may have revoked the old refresh token, so the new one must survive a database outage. The caller
  // waits for the first attempt only. The lease is renewed, so that no other call uses the old token in the meantime.
  async #save(account: AccountRow, tokens: TokenSet, lease: string): Promise<void> {
    const renewing = setInterval(() => {
      this.leases.renew(account, lease).catch(() => undefined);
    }, RENEW_LEASE_MS).unref();
    try {
      await this.leases.finish(account, lease, tokens);
      clearInterval(renewing);
    } catch (error) {
      this.logger.error(`latchkey: new tokens of account ${account.id} could not be saved yet`, error);
      const saving = this.#saveLater(account, tokens, lease).finally(() => {
        clearInterval(renewing);
        this.#saving.delete(account.id);
      });
      this.#saving.set(account.id, saving);
      throw error;
    }
  }

  async #saveLater(account: AccountRow, tokens: TokenSet, lease: string): Promise<void> {
    const { signal } = this.#closing;
    const name = `new tokens of account ${account.id}`;
    for (let attempt = 1; attempt <= SAVE_ATTEMPTS; attempt++) {
      const pause = Math.min(2 ** attempt * 250, MAX_SAVE_PAUSE_MS);
      const isLast = await sleep(pause, attempt === SAVE_ATTEMPTS, { signal }).catch(() => true);
      try {
        await this.leases.finish(account, lease, tokens);
        this.logger.info(`latchkey: ${name} were saved`);
        return;
      } catch (error) {
        const outcome = isLast
          ? 'are lost: it may have to be linked again'
          : `could not be saved yet (attempt ${attempt})`;
        this.logger.error(`latchkey: ${name} ${outcome}`, error);
        if (isLast) return;
      }
    }
  }

  async #reread({ userId, provider }: AccountRow): Promise<AccountRow> {
    const account = await this.accounts.find(userId, provider);
    if (!account) throw new AuthError('account_not_linked');
    if (account.relinkRequired) throw new AuthError('relink_required');
    return account;
  }
}

function openOrRefuse(box: TokenBox, account: AccountRow): OpenTokens {
  const tokens = account.relinkRequired ? null : box.open(account);
  if (!tokens) throw new AuthError('relink_required');
  return tokens;
}
