import { declareProblems } from '../../errors.js';
import { declareLimits } from '../../limits/limiter.js';
import { declareNotices } from '../../mail/notice-kinds.js';
import { declareEvents } from '../../outbox/events.js';
import type { Owner } from '../../owners.js';
import { column, type RowOf, type ShownOf } from '../../tables/column.js';
import { users } from '../../tables/core.js';
import { declareTable } from '../../tables/table.js';
import { defineWaiting } from '../../tables/waiting.js';

const OWNER: Owner = { name: 'oauth' };

export const accountsTable = declareTable({
  name: 'accounts',
  ofUser: 'accounts',
  exported: { as: 'linked_accounts', by: 'userId' },
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().exported(),
    /** The user that the account is linked to. */
    userId: column.uuid().exported(),
    /** The provider's id: `:provider` in the routes. */
    provider: column.text(64).exact().onWire(),
    /** The provider's issuer. Together with `providerAccountId`, it identifies the account. */
    issuer: column.text(255).exact().exported(),
    /** The account's id at the provider (the subject). */
    providerAccountId: column.text(255).exact().onWire().named('subject'),
    /** The granted scopes. */
    scopes: column.words().onWire(),
    tokenType: column.text(64).internal().nullable().notExported('It describes a token, which is secret.'),
    // The tokens are encrypted and bound to their row, provider and column.
    accessToken: column.longText().secret().nullable(),
    refreshToken: column.longText().secret().nullable(),
    idToken: column.longText().secret().nullable(),
    /** When the access token expires. Null if this is not known. */
    accessTokenExpiresAt: column.time().onWire().nullable(),
    /** Whether the provider has ended the grant, so that the account must be linked again. */
    relinkRequired: column.boolean().exported(),
    /** The lease of the call that is refreshing the tokens, and its expiry. */
    refreshLease: column
      .uuid()
      .internal()
      .nullable()
      .notExported('It belongs to a call that refreshes the tokens.'),
    refreshLeaseUntil: column
      .time()
      .internal()
      .nullable()
      .notExported('It belongs to a call that refreshes the tokens.'),
    refreshedAt: column.time().internal().exported(),
    /** When the account was linked. */
    createdAt: column.time().onWire(),
    /** When the tokens were last updated. */
    updatedAt: column.time().onWire(),
  },
  unique: { issuerSubject: ['issuer', 'providerAccountId'], userIdProvider: ['userId', 'provider'] },
  foreignKeys: { userId: users },
});

export type AccountColumns = typeof accountsTable.columns;

/** A user's account at a provider. */
export interface Account extends ShownOf<AccountColumns> {}

/** A row with all columns, including the encrypted tokens. */
export interface AccountRow extends RowOf<AccountColumns> {}

/** The lifetime of a flow. */
export const FLOW_MS = 10 * 60 * 1000;

export const flowsTable = defineWaiting({
  name: 'oauth_flows',
  hangsOn: 'browser',
  lifetimeMs: FLOW_MS,
  exported: 'Its rows name no account, and expire within minutes.',
  columns: {
    stateHash: column.digest().internal(),
    provider: column.text(64).exact(),
    /** The session that started a link or a reauthentication. Null for a sign-in. */
    sessionId: column.uuid().nullable(),
    callbackUrl: column.text(2048),
    redirectUri: column.text(2048),
    /** State, nonce, code verifier and the options of the request, encrypted. */
    sealed: column.longText().secret(),
  },
});

const problems = declareProblems({
  invalid_flow: [
    400,
    'This sign-in was not started in this browser, is already complete, or took too long. Start again.',
  ],
  access_denied: [403, 'The sign-in at the provider was declined. Start again, and accept there.'],
  sign_up_incomplete: [
    403,
    'The provider did not return everything that an account needs. Sign up in another way.',
  ],
  account_not_linked: [404, 'You have not linked an account at this provider. Link one first.'],
  provider_not_found: [404, 'There is no such provider: check its id.'],
  account_linked_elsewhere: [
    409,
    'This account is linked to another user. Sign in as that user and unlink it first.',
  ],
  provider_already_linked: [409, 'Another account at this provider is already linked. Unlink it first.'],
  refresh_token_missing: [
    409,
    'The provider issued no refresh token for this account. Link the account again.',
  ],
  relink_required: [409, 'These tokens can no longer be used. Link the account again.'],
  provider_error: [502, 'The provider did not respond as expected. Try again later.'],
  provider_slow: [503, 'The provider has not responded yet. Try again in a few seconds.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** An account at a provider was linked. */
    'account.linked': { readonly userId: string; readonly provider: string };
    /** An account at a provider was unlinked. */
    'account.unlinked': { readonly userId: string; readonly provider: string };
    /** A provider's tokens were read. */
    'tokens.read': { readonly userId: string; readonly provider: string };
    /** A provider's tokens were refreshed. */
    'tokens.refreshed': { readonly userId: string; readonly provider: string };
  }
}

declareEvents(OWNER, {
  'account.linked': { provider: true },
  'account.unlinked': { provider: true },
  'tokens.read': { provider: true },
  'tokens.refreshed': { provider: true },
});

const limits = declareLimits(OWNER, {
  /** Links and reauthentications at providers that one account starts through the routes, counted separately. */
  providerLink: { limit: 20, window: 60 },
});

declare module '../../limits/limiter.js' {
  interface LimitNames extends Record<keyof typeof limits, unknown> {}
}

export const providerNotices = declareNotices(OWNER, { 'provider-linked': {}, 'provider-unlinked': {} });

declare module '../../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof providerNotices, unknown> {}
}
