import { sessionOf } from '../../carriers/authenticate.js';
import { DEFAULT_BASE_PATH } from '../../config/settings.js';
import type { Core } from '../../core/core.js';
import type { IssuedSession, SessionWithUser } from '../../core/sessions.js';
import { AuthError } from '../../errors.js';
import type { Accounts } from './accounts.js';
import { checkCallbackUrl, withError } from './callback-url.js';
import type { Identity, ProviderClient } from './client.js';
import { type Flows, randomToken, type TakenFlow } from './flows.js';
import { findOrCreateUser, linkIdentity } from './identities.js';
import type { AuthorizeInput, CallbackInput, TokensOptions } from './inputs.js';
import type { Account, AccountRow } from './model.js';
import { openTokens, type ProviderTokens, type Refresher } from './tokens.js';
import './events.js';
import './problems.js';

/** Where to redirect the browser, and the cookie to set. */
export interface AuthorizationRequest {
  /** The provider's authorization endpoint with the parameters of this flow. */
  readonly url: string;
  /** The value of the flow cookie, which binds the flow to this browser. */
  readonly browser: string;
}

/** The result of a flow. */
export interface CallbackResult {
  /** Where to redirect the browser; with `?error=<code>` if the flow failed. */
  readonly callbackUrl: string;
  /** The new session. Null for a link, or if the flow failed. */
  readonly issued: IssuedSession | null;
}

interface Parts {
  readonly clients: ReadonlyMap<string, ProviderClient>;
  readonly accounts: Accounts;
  readonly flows: Flows;
  readonly refresher: Refresher;
  readonly linkByVerifiedEmail: boolean;
}

/** `auth.oauth`: sign-in with providers, and linked accounts. */
export class OAuthApi {
  readonly #core: Core;
  readonly #parts: Parts;

  /** @internal */
  constructor(core: Core, parts: Parts) {
    this.#core = core;
    this.#parts = parts;
  }

  /** The ids of the configured providers, in the order of their names. */
  get providers(): readonly string[] {
    return [...this.#parts.clients.keys()];
  }

  /**
   * Starts a sign-in at a provider. The app must set the flow cookie to `browser` and redirect to `url`, as the routes
   * do.
   *
   * @throws AuthError `provider_not_found`, `invalid_callback_url`, `provider_error`
   */
  authorizeUrl(provider: string, input: AuthorizeInput = {}): Promise<AuthorizationRequest> {
    return this.#begin(provider, input, null);
  }

  /** Starts linking an account at a provider to a session's user. @throws like {@link authorizeUrl} */
  linkUrl(provider: string, sessionId: string, input: AuthorizeInput = {}): Promise<AuthorizationRequest> {
    return this.#begin(provider, input, sessionId);
  }

  /**
   * Whether the parameters of a provider's response belong to a flow in progress, in any browser. Does not end the
   * flow.
   *
   * @throws AuthError `provider_not_found`
   */
  async isPending(provider: string, parameters: URLSearchParams): Promise<boolean> {
    this.#clientOf(provider);
    const state = parameters.get('state');
    return state ? this.#parts.flows.isPending(state, provider) : false;
  }

  /**
   * Completes a flow when the browser returns: signs in, or links. A link requires the `request`, which must carry the
   * session that started it.
   *
   * @throws AuthError `provider_not_found`, `unavailable`; `invalid_flow` if this browser has no such flow in progress
   */
  callback(input: CallbackInput): Promise<CallbackResult> {
    return this.#core.forClient(input, () => this.#complete(input));
  }

  /** Lists a user's linked accounts, oldest first. */
  accounts(userId: string): Promise<Account[]> {
    return this.#parts.accounts.list(userId);
  }

  /**
   * Reads a provider's tokens, for calling its API on behalf of the user.
   *
   * @throws AuthError `account_not_linked`, `relink_required`; with `refreshWithin` also what {@link refresh} throws
   */
  async tokens(
    userId: string,
    provider: string,
    { refreshWithin }: TokensOptions = {},
  ): Promise<ProviderTokens> {
    const account = await this.#linked(userId, provider);
    const endsAt = account.accessTokenExpiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
    if (refreshWithin !== undefined && endsAt < Date.now() + refreshWithin * 1000)
      return this.refresh(userId, provider);
    const tokens = openTokens(this.#parts.accounts, account);
    this.#core.events.emit('tokens.read', { userId, provider });
    return tokens;
  }

  /**
   * Refreshes a provider's tokens. Concurrent calls, even in several processes, share one request to the provider.
   *
   * @throws AuthError `account_not_linked` (404), `refresh_token_missing`, `relink_required` (409), `provider_error`
   *   (502), `unavailable` (503)
   */
  async refresh(userId: string, provider: string): Promise<ProviderTokens> {
    const client = this.#clientOf(provider);
    const account = await this.#parts.refresher.refresh(await this.#linked(userId, provider), client);
    this.#core.events.emit('tokens.refreshed', { userId, provider });
    return openTokens(this.#parts.accounts, account);
  }

  /**
   * Unlinks a provider's account, unless it is the user's last way to sign in.
   *
   * @throws AuthError `account_not_linked` (404), `last_sign_in_method` (409)
   */
  async unlink(userId: string, provider: string): Promise<void> {
    try {
      await this.#core.waysIn.remove(userId, async (transaction) => {
        const deleted = await this.#parts.accounts.delete(userId, provider, transaction);
        if (deleted === 0) throw this.#notLinked(provider);
      });
    } catch (error) {
      throw error instanceof AuthError && error.code === 'user_not_found' ? this.#notLinked(provider) : error;
    }
    this.#core.events.emit('account.unlinked', { userId, provider });
  }

  async #begin(
    provider: string,
    input: AuthorizeInput,
    sessionId: string | null,
  ): Promise<AuthorizationRequest> {
    const client = this.#clientOf(provider);
    const { baseUrl, httpBasePath, origins } = this.#core.settings;
    const {
      callbackUrl = '/',
      browser = randomToken(),
      basePath = httpBasePath ?? DEFAULT_BASE_PATH,
    } = input;
    const redirectUri = `${baseUrl}${basePath}/oauth/${provider}/callback`;
    const flow = { provider, sessionId, redirectUri, callbackUrl: checkCallbackUrl(callbackUrl, origins) };
    const secrets = await this.#parts.flows.begin(flow, browser);
    return {
      url: await client.authorizationUrl(secrets, { redirectUri, purpose: sessionId ? 'link' : 'sign-in' }),
      browser,
    };
  }

  async #complete(input: CallbackInput): Promise<CallbackResult> {
    const { provider, parameters } = input;
    const client = this.#clientOf(provider);
    const { request } = this.#core.context.client;
    const flow = await this.#takeFlow(input, request ? this.#core.sessionTokens(request) : []);
    const current = flow.sessionId !== null && request ? await sessionOf(this.#core.carriers, request) : null;
    if (flow.sessionId !== (current?.session.id ?? null)) throw new AuthError('invalid_flow');
    try {
      const identity = await client.redeem(parameters, flow.secrets, flow.redirectUri);
      const issued = current ? null : await this.#signIn(flow, identity);
      if (current) await this.#link(provider, current, identity);
      return { callbackUrl: flow.callbackUrl, issued };
    } catch (error) {
      // The flow is valid, so the app gets the error at the callback URL.
      if (!(error instanceof AuthError) || error.code === 'unavailable') throw error;
      return { callbackUrl: withError(flow.callbackUrl, error.code), issued: null };
    }
  }

  async #takeFlow(
    { provider, parameters, browser }: CallbackInput,
    tokens: readonly string[],
  ): Promise<TakenFlow> {
    const state = parameters.get('state');
    const flow = state && browser ? await this.#parts.flows.take(state, browser, provider, tokens) : null;
    if (!flow) throw new AuthError('invalid_flow');
    return flow;
  }

  async #signIn({ provider, carried }: TakenFlow, identity: Identity): Promise<IssuedSession> {
    const { accounts, linkByVerifiedEmail } = this.#parts;
    const { events } = this.#core;
    const found = await findOrCreateUser(this.#core, accounts, provider, identity, linkByVerifiedEmail);
    const userId = found.user.id;
    if (found.userCreated) events.emit('user.created', { userId });
    if (found.accountLinked) events.emit('account.linked', { userId, provider });
    return this.#core.signIn(found, { replaced: carried });
  }

  async #link(provider: string, current: SessionWithUser, identity: Identity): Promise<void> {
    const userId = current.user.id;
    if (await linkIdentity(this.#core, this.#parts.accounts, current, provider, identity)) {
      this.#core.events.emit('account.linked', { userId, provider });
    }
  }

  async #linked(userId: string, provider: string): Promise<AccountRow> {
    const account = await this.#parts.accounts.find(userId, provider);
    if (!account) throw this.#notLinked(provider);
    return account;
  }

  #clientOf(provider: string): ProviderClient {
    const client = this.#parts.clients.get(provider);
    if (!client) throw new AuthError('provider_not_found');
    return client;
  }

  #notLinked(provider: string): AuthError {
    return new AuthError(this.#parts.clients.has(provider) ? 'account_not_linked' : 'provider_not_found');
  }
}
