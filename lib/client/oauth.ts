import type { FreshCode, FreshOrPasswordCode, ReadingCode } from './codes.js';
import type { WithPassword } from './resources.js';
import type { Call, CallOptions } from './result.js';

/** An account at a provider that is linked to the user. */
export interface LinkedAccount {
  readonly provider: string;
  readonly provider_account_id: string;
  readonly scopes: readonly string[];
  readonly access_token_expires_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A provider's tokens, for its API. */
export interface ProviderTokens {
  readonly provider: string;
  readonly access_token: string | null;
  readonly refresh_token: string | null;
  readonly id_token: string | null;
  readonly token_type: string | null;
  readonly scopes: readonly string[];
  readonly access_token_expires_at: string | null;
}

/** The page where the browser arrives after the provider. */
export interface FlowInput {
  /** A path of the app, or a URL of a trusted origin. */
  callback_url?: string;
}

type StartCodes = 'invalid_callback_url' | 'invalid_request' | 'origin_not_allowed' | FlowCodes;
type FlowCodes = 'provider_error' | 'provider_not_found' | 'rate_limited' | 'unavailable';

/** The routes of `oauth()`. To start a flow, navigate to the `url` in the data: `location.assign(data.url)`. */
export interface OAuthClient {
  /** Lists the linked accounts. */
  accounts(
    options?: CallOptions,
  ): Call<{ readonly accounts: readonly LinkedAccount[] }, ReadingCode | 'task_required'>;
  /** Starts a sign-in with a provider, such as `google`. */
  authorize(
    provider: string,
    input?: FlowInput & { remember_me?: 'true' | 'false'; login_hint?: string },
    options?: CallOptions,
  ): Call<{ readonly url: string }, StartCodes>;
  /** Starts linking an account at a provider, after a recent sign-in. */
  link(
    provider: string,
    input?: FlowInput,
    options?: CallOptions,
  ): Call<
    { readonly url: string },
    ReadingCode | StartCodes | 'reauthentication_required' | 'second_factor_required' | 'task_required'
  >;
  /** Starts a reauthentication with a linked provider. */
  reauthenticate(
    provider: string,
    input?: FlowInput,
    options?: CallOptions,
  ): Call<
    { readonly url: string },
    ReadingCode | StartCodes | 'account_not_linked' | 'reauthentication_required'
  >;
  /** Unlinks an account, unless it is the last sign-in method. */
  unlink(
    provider: string,
    input?: WithPassword,
    options?: CallOptions,
  ): Call<null, FreshOrPasswordCode | NotLinked | 'last_sign_in_method' | 'task_required'>;
  /** Gets a provider's tokens, for its API. */
  tokens(
    provider: string,
    options?: CallOptions,
  ): Call<
    ProviderTokens,
    | ReadingCode
    | NotLinked
    | 'invalid_request'
    | 'reauthentication_required'
    | 'relink_required'
    | 'second_factor_required'
    | 'task_required'
  >;
  /** Refreshes a provider's tokens. */
  refreshTokens(
    provider: string,
    options?: CallOptions,
  ): Call<
    ProviderTokens,
    | FreshCode
    | NotLinked
    | 'provider_error'
    | 'provider_slow'
    | 'refresh_token_missing'
    | 'relink_required'
    | 'task_required'
  >;
}

type NotLinked = 'account_not_linked' | 'provider_not_found';

/** @internal */
export const OAUTH = {
  accounts: 'GET /oauth/accounts',
  authorize: 'GET /oauth/:provider/authorize input',
  link: 'GET /oauth/:provider/link input',
  reauthenticate: 'GET /oauth/:provider/reauthenticate input',
  unlink: 'DELETE /oauth/:provider/unlink input',
  tokens: 'GET /oauth/:provider/tokens',
  refreshTokens: 'POST /oauth/:provider/tokens/refresh',
} satisfies Record<keyof OAuthClient, string>;
