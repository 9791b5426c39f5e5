import type { ClientInput } from '../../core/client-input.js';

/** The input of `auth.oauth.authorizeUrl` and `auth.oauth.linkUrl`. */
export interface AuthorizeInput {
  /** Where to redirect the browser afterwards: a path of this app, or a URL of a trusted origin. @default `/` */
  callbackUrl?: string;
  /** The value of the browser's flow cookie. @default a new one */
  browser?: string | undefined;
  /** The base path of the routes as the browser sees it. @default `httpBasePath` */
  basePath?: string;
}

/** The input of `auth.oauth.callback`. */
export interface CallbackInput extends ClientInput {
  /** The `:provider` of the route. */
  readonly provider: string;
  /** The parameters of the provider's response. */
  readonly parameters: URLSearchParams;
  /** The value of the browser's flow cookie. */
  readonly browser: string | undefined;
}

/** Options of `auth.oauth.tokens`. */
export interface TokensOptions {
  /** Refreshes the tokens first if the access token expires within this many seconds. @default never */
  refreshWithin?: number;
}
