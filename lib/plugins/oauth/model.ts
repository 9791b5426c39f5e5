import {
  boolean,
  digest,
  internal,
  longText,
  named,
  nullable,
  onWire,
  type RowOf,
  type ShownOf,
  secret,
  text,
  time,
  uuid,
  words,
} from '../../models/column.js';
import { declareTable } from '../../models/table.js';

export const accountsTable = declareTable({
  name: 'accounts',
  ofUser: 'accounts',
  columns: {
    /** UUID, version 7. */
    id: uuid(),
    userId: uuid(),
    /** The id of the provider: `:provider` in the routes. */
    provider: onWire(text(64)),
    /** The provider's issuer, by which its accounts are told from those of others. */
    issuer: text(255),
    /** The provider's own id for the account. */
    providerAccountId: named('subject', onWire(text(255))),
    scopes: onWire(words()),
    tokenType: nullable(internal(text(64))),
    // The three tokens are encrypted, each for its own row, provider and column.
    accessToken: nullable(secret(longText())),
    refreshToken: nullable(secret(longText())),
    idToken: nullable(secret(longText())),
    accessTokenExpiresAt: nullable(onWire(time())),
    /** The provider has ended the grant: only linking the account again helps. */
    relinkRequired: boolean(),
    /** Who is refreshing the tokens, and until when nobody else may. */
    refreshLease: nullable(internal(uuid())),
    refreshLeaseUntil: nullable(internal(time())),
    refreshedAt: internal(time()),
    createdAt: onWire(time()),
    updatedAt: onWire(time()),
  },
});

export type AccountColumns = typeof accountsTable.columns;

/** A user's account at a provider. */
export interface Account extends ShownOf<AccountColumns> {}

export interface AccountRow extends RowOf<AccountColumns> {}

export const flowsTable = declareTable({
  name: 'oauth_flows',
  columns: {
    stateHash: internal(digest()),
    browserHash: internal(digest()),
    provider: text(64),
    /** The session that began a link; null for a sign-in. */
    sessionId: nullable(uuid()),
    callbackUrl: text(2048),
    redirectUri: text(2048),
    /** State, nonce and code verifier, encrypted. */
    sealed: secret(longText()),
    expiresAt: time(),
  },
});
