import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { Accounts } from './accounts.js';
import type { ProviderClient } from './client.js';
import type { AccountRow } from './declarations.js';
import type { Flows } from './flows.js';
import { providerNameOf } from './provider.js';
import type { Revocations } from './revocations.js';
import type { TokenBox } from './token-box.js';
import type { Refresher } from './tokens.js';

/** The objects that the parts of `auth.oauth` share. */
export interface OAuthServices {
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
  { core, clients, box, revocations }: OAuthServices,
  account: AccountRow,
  transaction: Transaction,
): void {
  const client = clients.get(account.provider);
  const tokens = box.open(account);
  if (client && tokens) core.database.afterCommit(transaction, () => revocations.start(client, tokens));
}

/** Returns the name of a provider for users, even if it is no longer configured. */
export function nameOf({ clients }: Pick<OAuthServices, 'clients'>, provider: string): string {
  return clients.get(provider)?.provider.name ?? providerNameOf(provider);
}

/** @throws AuthError `provider_not_found` */
export function clientOf({ clients }: Pick<OAuthServices, 'clients'>, provider: string): ProviderClient {
  const client = clients.get(provider);
  if (!client) throw new AuthError('provider_not_found');
  return client;
}
