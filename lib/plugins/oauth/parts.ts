import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { Accounts } from './accounts.js';
import type { ProviderClient } from './client.js';
import type { AccountRow } from './declarations.js';
import type { Flows } from './flows.js';
import type { OpenTokens, TokenBox } from './token-box.js';
import type { Refresher } from './tokens.js';

/** Revokes the tokens of unlinked accounts at their providers, in the background. A failure is only logged. */
export class Revocations {
  readonly #running = new Set<Promise<void>>();

  start(client: ProviderClient, tokens: OpenTokens): void {
    const running = client
      .revoke(tokens)
      // The client has already logged the failure.
      .catch(() => undefined)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits for the running revocations, each of which has a time limit. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }
}

/** The objects that the parts of `auth.oauth` share. */
export interface Parts {
  readonly core: Core;
  readonly clients: ReadonlyMap<string, ProviderClient>;
  readonly accounts: Accounts;
  readonly box: TokenBox;
  readonly flows: Flows;
  readonly refresher: Refresher;
  readonly revocations: Revocations;
  readonly linkByVerifiedEmail: boolean;
}

/** Revokes the tokens of a deleted account at its provider, in the background and after the commit. */
export function revokeTokens(
  { core, clients, box, revocations }: Parts,
  account: AccountRow,
  transaction: Transaction,
): void {
  const client = clients.get(account.provider);
  const tokens = box.open(account);
  if (client && tokens) core.database.afterCommit(transaction, () => revocations.start(client, tokens));
}

/** @throws AuthError `provider_not_found` */
export function clientOf({ clients }: Pick<Parts, 'clients'>, provider: string): ProviderClient {
  const client = clients.get(provider);
  if (!client) throw new AuthError('provider_not_found');
  return client;
}
