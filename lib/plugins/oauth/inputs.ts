import type { ClientInput, TransactionOption } from '../../sessions/request.js';

declare module '../../config/hooks.js' {
  interface CreatedVias {
    /** A sign-in with a provider. */
    oauth: unknown;
  }
}

/** The input of `auth.oauth.linkUrl` and `auth.oauth.reauthenticateUrl`. */
export interface FlowInput extends ClientInput {
  /**
   * Where to redirect the browser afterwards: a path of this origin, or a URL of a trusted one.
   * @default the root of `baseUrl`
   */
  callbackUrl?: string;
  /** Your own value for the flow cookie, if your app sets and reads the cookie itself. @default a new one */
  browser?: string | undefined;
  /** The base path of the routes, below `baseUrl`. @default `httpBasePath`, or the path that the router is mounted at */
  basePath?: string;
}

/** The input of `auth.oauth.authorizeUrl`. */
export interface AuthorizeInput extends FlowInput {
  /** Whether the session is kept when the browser is closed. @default false */
  rememberMe?: boolean;
  /**
   * The account that the user probably has at the provider, such as an email: at most 320 characters. A provider can
   * fill it in or ignore it.
   * @default none
   */
  loginHint?: string | undefined;
}

/** The input of `auth.oauth.callback`. */
export interface CallbackInput extends ClientInput {
  /** The `:provider` of the route. */
  readonly provider: string;
  /** The parameters of the provider's response. */
  readonly parameters: URLSearchParams;
  /** The value of the browser's flow cookie. @default read from the `request` */
  readonly browser?: string | undefined;
}

/** Options of `auth.oauth.tokens`. */
export interface TokensOptions extends TransactionOption {
  /**
   * The minimum remaining lifetime of the access token, in seconds: below it, the tokens are refreshed first. Not with
   * `transaction`.
   * @default never
   */
  refreshWithin?: number;
}

/** Options of `auth.oauth.unlink`. */
export interface UnlinkOptions extends TransactionOption {
  /**
   * The session of the user who requests it. If the session has ended in the meantime, nothing is unlinked. Without a
   * session, the change is final: no link undoes it.
   * @default none
   */
  sessionId?: string | undefined;
}
