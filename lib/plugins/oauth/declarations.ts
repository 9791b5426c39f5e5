import { column, type RowOf, type ShownOf } from '../../tables/column.js';
import { declareTable } from '../../tables/table.js';

export const accountsTable = declareTable({
  name: 'accounts',
  ofUser: 'accounts',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    /** The user that the account is linked to. */
    userId: column.uuid(),
    /** The provider's id: `:provider` in the routes. */
    provider: column.text(64).onWire(),
    /** The provider's issuer. Together with `providerAccountId`, it identifies the account. */
    issuer: column.text(255),
    /** The account's id at the provider (the subject). */
    providerAccountId: column.text(255).onWire().named('subject'),
    /** The granted scopes. */
    scopes: column.words().onWire(),
    tokenType: column.text(64).internal().nullable(),
    // The tokens are encrypted, and bound to their row, provider and column.
    accessToken: column.longText().secret().nullable(),
    refreshToken: column.longText().secret().nullable(),
    idToken: column.longText().secret().nullable(),
    /** When the access token expires. Null if unknown. */
    accessTokenExpiresAt: column.time().onWire().nullable(),
    /** Whether the provider has ended the grant, so that the account must be linked again. */
    relinkRequired: column.boolean(),
    /** The lease of the call that is refreshing the tokens, and its expiry. */
    refreshLease: column.uuid().internal().nullable(),
    refreshLeaseUntil: column.time().internal().nullable(),
    refreshedAt: column.time().internal(),
    /** When the account was linked. */
    createdAt: column.time().onWire(),
    /** When the tokens were last updated. */
    updatedAt: column.time().onWire(),
  },
});

export type AccountColumns = typeof accountsTable.columns;

/** A user's account at a provider. */
export interface Account extends ShownOf<AccountColumns> {}

/** A row with all columns, including the encrypted tokens. */
export interface AccountRow extends RowOf<AccountColumns> {}

export const flowsTable = declareTable({
  name: 'oauth_flows',
  columns: {
    stateHash: column.digest().internal(),
    browserHash: column.digest().internal(),
    provider: column.text(64),
    /** The session that started a link or a reauthentication. Null for a sign-in. */
    sessionId: column.uuid().nullable(),
    callbackUrl: column.text(2048),
    redirectUri: column.text(2048),
    /** State, nonce, code verifier and the options of the request, encrypted. */
    sealed: column.longText().secret(),
    expiresAt: column.time(),
  },
});
