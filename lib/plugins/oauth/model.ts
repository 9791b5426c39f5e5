import { column, type RowOf, type ShownOf } from '../../models/column.js';
import { declareTable } from '../../models/table.js';

export const accountsTable = declareTable({
  name: 'accounts',
  ofUser: 'accounts',
  columns: {
    /** UUID, version 7. */
    id: column.uuid(),
    userId: column.uuid(),
    /** The id of the provider: `:provider` in the routes. */
    provider: column.text(64).onWire(),
    /** The provider's issuer, by which its accounts are told from those of others. */
    issuer: column.text(255),
    /** The provider's own id for the account. */
    providerAccountId: column.text(255).onWire().named('subject'),
    scopes: column.words().onWire(),
    tokenType: column.text(64).internal().nullable(),
    // The three tokens are encrypted, each for its own row, provider and column.
    accessToken: column.longText().secret().nullable(),
    refreshToken: column.longText().secret().nullable(),
    idToken: column.longText().secret().nullable(),
    accessTokenExpiresAt: column.time().onWire().nullable(),
    /** The provider has ended the grant: only linking the account again helps. */
    relinkRequired: column.boolean(),
    /** Who is refreshing the tokens, and until when nobody else may. */
    refreshLease: column.uuid().internal().nullable(),
    refreshLeaseUntil: column.time().internal().nullable(),
    refreshedAt: column.time().internal(),
    createdAt: column.time().onWire(),
    updatedAt: column.time().onWire(),
  },
});

export type AccountColumns = typeof accountsTable.columns;

/** A user's account at a provider. */
export interface Account extends ShownOf<AccountColumns> {}

export interface AccountRow extends RowOf<AccountColumns> {}

export const flowsTable = declareTable({
  name: 'oauth_flows',
  columns: {
    stateHash: column.digest().internal(),
    browserHash: column.digest().internal(),
    provider: column.text(64),
    /** The session that began a link; null for a sign-in. */
    sessionId: column.uuid().nullable(),
    callbackUrl: column.text(2048),
    redirectUri: column.text(2048),
    /** State, nonce and code verifier, encrypted. */
    sealed: column.longText().secret(),
    expiresAt: column.time(),
  },
});
