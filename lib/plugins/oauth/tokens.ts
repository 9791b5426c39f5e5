import { setTimeout as sleep } from 'node:timers/promises';
import { AuthError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import type { Accounts, OpenTokens } from './accounts.js';
import type { ProviderClient } from './client.js';
import type { AccountRow } from './model.js';
import type { TokenSet } from './token-response.js';

/** A provider's tokens, for calling its API in the user's name. */
export interface ProviderTokens {
  readonly provider: string;
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
  readonly idToken: string | null;
  readonly tokenType: string | null;
  readonly scopes: readonly string[];
  readonly accessTokenExpiresAt: Date | null;
}

const POLL_MS = 50;
// A little longer than a provider is waited for, so that those who wait see the outcome.
const MAX_WAIT_MS = 4650;
// Half a minute in all, at short intervals, so that tokens are saved as soon as the database is back.
const SAVE_ATTEMPTS = 16;
const MAX_SAVE_PAUSE_MS = 2000;
const RENEW_LEASE_MS = 1500;
// Longer than a live process that has a lease takes to renew it, or to save, once the database is back.
const GRACE_MS = 2500;

/** @throws AuthError `relink_required` if the tokens cannot be used any more */
export function openTokens(accounts: Accounts, account: AccountRow): ProviderTokens {
  const tokens = openOrRefuse(accounts, account);
  return {
    provider: account.provider,
    ...tokens,
    tokenType: account.tokenType,
    scopes: account.scopes,
    accessTokenExpiresAt: account.accessTokenExpiresAt,
  };
}

/** Refreshes tokens: with one request to the provider, however many calls there are at once, in however many processes. */
export class Refresher {
  /** By account, what is still being saved. */
  readonly #saving = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(
    private readonly accounts: Accounts,
    private readonly logger: Logger,
  ) {}

  /**
   * @returns the account with its new tokens
   * @throws AuthError `refresh_token_missing`, `relink_required` (409), `provider_error` (502), `unavailable` (503)
   */
  async refresh(account: AccountRow, client: ProviderClient): Promise<AccountRow> {
    const { refreshToken } = openOrRefuse(this.accounts, account);
    if (refreshToken === null) throw new AuthError('refresh_token_missing');
    // This refresh token has been used up, and its successor is not saved yet.
    if (this.#saving.has(account.id)) throw new AuthError('unavailable');
    if (await this.#isStillInUse(account)) throw new AuthError('unavailable');
    // A lease on the row instead of a transaction: the provider may take seconds, and a lock would be held for as long.
    const lease = await this.accounts.takeRefreshLease(account);
    if (lease === null) return this.#resultOfAnother(account);
    const tokens = await this.#ask(account, refreshToken, client, lease);
    if (tokens === null) await this.accounts.markRelinkRequired(account);
    else await this.#save(account, tokens, lease);
    return this.#reread(account);
  }

  /** Before closing: tries once more, immediately, to save what is not saved yet. */
  async settle(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#saving.values());
  }

  /** Whether a process whose lease has expired is still working on it: after an outage of the database, for example. */
  async #isStillInUse(account: AccountRow): Promise<boolean> {
    if (account.refreshLease === null || this.accounts.isLeased(account)) return false;
    await sleep(GRACE_MS);
    const { refreshLeaseUntil, refreshedAt } = await this.#reread(account);
    return (
      refreshLeaseUntil?.getTime() !== account.refreshLeaseUntil?.getTime() ||
      refreshedAt.getTime() !== account.refreshedAt.getTime()
    );
  }

  async #ask(account: AccountRow, refreshToken: string, client: ProviderClient, lease: string) {
    try {
      return await client.refresh(refreshToken, account.scopes, account.providerAccountId);
    } catch (error) {
      await this.accounts.releaseRefreshLease(account, lease);
      throw error;
    }
  }

  async #resultOfAnother(before: AccountRow): Promise<AccountRow> {
    const end = Date.now() + MAX_WAIT_MS;
    while (Date.now() < end) {
      const account = await this.#reread(before);
      if (account.refreshedAt.getTime() !== before.refreshedAt.getTime()) return account;
      // The other one failed. If each tried again in turn, the last of many would wait for all the others' timeouts.
      if (account.refreshLease === null) throw new AuthError('provider_error');
      // The other process has died. The next call takes its place, with the full time.
      if (!this.accounts.isLeased(account)) break;
      await sleep(POLL_MS);
    }
    throw new AuthError('unavailable');
  }

  // The provider may have revoked the old refresh token by now: the new one must not be lost with a broken connection. The
  // caller waits for the first attempt only; the lease is renewed, so that nobody uses the old one in the meantime.
  async #save(account: AccountRow, tokens: TokenSet, lease: string): Promise<void> {
    const renewing = setInterval(() => {
      this.accounts.renewRefreshLease(account, lease).catch(() => undefined);
    }, RENEW_LEASE_MS).unref();
    try {
      await this.accounts.saveRefreshed(account, tokens);
      clearInterval(renewing);
    } catch (error) {
      this.logger.error(`latchkey: new tokens of account ${account.id} are not saved yet`, error);
      const saving = this.#saveLater(account, tokens).finally(() => {
        clearInterval(renewing);
        this.#saving.delete(account.id);
      });
      this.#saving.set(account.id, saving);
      throw error;
    }
  }

  async #saveLater(account: AccountRow, tokens: TokenSet): Promise<void> {
    const { signal } = this.#closing;
    const name = `new tokens of account ${account.id}`;
    for (let attempt = 1; attempt <= SAVE_ATTEMPTS; attempt++) {
      const pause = Math.min(2 ** attempt * 250, MAX_SAVE_PAUSE_MS);
      const isLast = await sleep(pause, attempt === SAVE_ATTEMPTS, { signal }).catch(() => true);
      try {
        await this.accounts.saveRefreshed(account, tokens);
        this.logger.info(`latchkey: ${name} are saved`);
        return;
      } catch (error) {
        const outcome = isLast
          ? 'are lost: it may have to be linked again'
          : `are not saved yet (attempt ${attempt})`;
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

function openOrRefuse(accounts: Accounts, account: AccountRow): OpenTokens {
  const tokens = account.relinkRequired ? null : accounts.open(account);
  if (!tokens) throw new AuthError('relink_required');
  return tokens;
}
