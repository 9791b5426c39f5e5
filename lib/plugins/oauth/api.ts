import { removeWayIn } from '../../accounts/change.js';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import { endingWithObject } from '../../known-keys.js';
import type { TransactionOption } from '../../sessions/request.js';
import type { IssuedSession, SignedIn, withSecondFactors } from '../../sessions/signed-in.js';
import { type AuthorizationRequest, beginFlow } from './begin-flow.js';
import { type CallbackResult, completeFlow } from './complete-flow.js';
import { type Account, type AccountRow, providerNotices } from './declarations.js';
import type { AuthorizeInput, CallbackInput, FlowInput, TokensOptions, UnlinkOptions } from './inputs.js';
import { clientOf, nameOf, type OAuthServices, revokeTokens } from './services.js';
import { openTokens, type ProviderTokens } from './tokens.js';
import './declarations.js';

/** `auth.oauth`: sign-in with providers, and linked accounts. */
export class OAuthApi<Outcome extends SignedIn = IssuedSession> {
  declare readonly [withSecondFactors]?: OAuthApi<SignedIn>;
  readonly #core: Core;
  readonly #services: OAuthServices;

  /** @internal */
  constructor(parts: OAuthServices) {
    this.#core = parts.core;
    this.#services = parts;
    endingWithObject('auth.oauth', this);
  }

  /** The ids of the configured providers, in the order of their names. */
  get providers(): readonly string[] {
    return [...this.#services.clients.keys()];
  }

  /**
   * Starts a sign-in at a provider. The app must send the `setCookie` headers and redirect to `url`, as the routes do.
   * The call counts against the sign-in limit of the client's address, if the address is known.
   *
   * @throws AuthError `provider_not_found`, `invalid_callback_url`, `invalid_request`, `rate_limited`, `provider_error`
   */
  authorizeUrl(provider: string, input: AuthorizeInput = {}): Promise<AuthorizationRequest> {
    return beginFlow(this.#services, { provider, purpose: 'sign-in', sessionId: null }, input);
  }

  /**
   * Starts linking an account at a provider to a session's user. Linking the same account again replaces its tokens.
   *
   * @throws AuthError `provider_not_found`, `invalid_callback_url`, `invalid_session`, `provider_error`
   */
  linkUrl(provider: string, sessionId: string, input: FlowInput = {}): Promise<AuthorizationRequest> {
    return beginFlow(this.#services, { provider, purpose: 'link', sessionId }, input);
  }

  /**
   * Starts a reauthentication: the provider asks its user to sign in again, and then the session counts as recently
   * authenticated. The provider must be linked, and must report when its user signed in (`auth_time`, OpenID Connect
   * Core 1.0, 2).
   *
   * @throws AuthError `reauthentication_required` if the provider supports only OAuth 2.0; `account_not_linked`, and
   *   like {@link linkUrl}
   */
  reauthenticateUrl(
    provider: string,
    sessionId: string,
    input: FlowInput = {},
  ): Promise<AuthorizationRequest> {
    return beginFlow(this.#services, { provider, purpose: 'reauthenticate', sessionId }, input);
  }

  /**
   * Returns whether the parameters of a provider's response belong to a flow in progress, in any browser. The flow
   * stays valid.
   *
   * @throws AuthError `provider_not_found`
   */
  async isPending(
    provider: string,
    parameters: URLSearchParams,
    options: TransactionOption = {},
  ): Promise<boolean> {
    clientOf(this.#services, provider);
    const state = parameters.get('state') ?? '';
    return this.#core.call(
      'auth.oauth.isPending',
      options,
      [],
      async () => (await this.#services.flows.pending(state, provider)) !== null,
    );
  }

  /**
   * Stores the claims that the provider sends only in a form post, for the request with the flow's cookie that follows.
   *
   * @returns the redirect URI of the flow in progress that the form belongs to; null if there is none
   * @internal
   */
  async keepForm(provider: string, parameters: URLSearchParams): Promise<string | null> {
    const state = parameters.get('state') ?? '';
    const redirectUri = await this.#services.flows.pending(state, provider);
    const claims = clientOf(this.#services, provider).provider.unsignedClaims?.(parameters) ?? {};
    if (redirectUri !== null && Object.keys(claims).length > 0)
      await this.#services.flows.keep(state, claims);
    return redirectUri;
  }

  /**
   * Whether the app serves the provider's redirect URI itself.
   *
   * @internal
   */
  returnsToApp(provider: string): boolean {
    return this.#services.clients.get(provider)?.provider.callbackUrl !== undefined;
  }

  /**
   * Completes a flow when the browser returns: signs in, links, or reauthenticates. The last two require the `request`,
   * which must present the session that started the flow.
   *
   * @throws AuthError `provider_not_found`, `unavailable`; `invalid_flow` if this browser has no such flow in progress
   */
  callback(input: CallbackInput): Promise<CallbackResult<Outcome>> {
    return this.#core.callByAnyone(
      'auth.oauth.callback',
      input,
      ['provider', 'parameters', 'browser'],
      async () => (await completeFlow(this.#services, input)) as CallbackResult<Outcome>,
    );
  }

  /** Lists a user's linked accounts, oldest first. */
  accounts(userId: string, options: TransactionOption = {}): Promise<Account[]> {
    return this.#core.call('auth.oauth.accounts', options, [], () => this.#services.accounts.list(userId));
  }

  /**
   * Reads a provider's tokens, for calling its API on behalf of the user.
   *
   * @throws AuthError `account_not_linked`, `relink_required`; with `refreshWithin` also the errors of {@link refresh}
   * @throws TypeError with both `refreshWithin` and `transaction`
   */
  async tokens(userId: string, provider: string, options: TokensOptions = {}): Promise<ProviderTokens> {
    const { refreshWithin, transaction } = options;
    if (refreshWithin !== undefined && transaction)
      throw new TypeError(
        'latchkey: auth.oauth.tokens: pass refreshWithin or transaction, not both: refreshed tokens must be stored ' +
          'even if the transaction is rolled back',
      );
    return this.#core.call('auth.oauth.tokens', options, ['refreshWithin'], () =>
      this.#tokens(userId, provider, refreshWithin),
    );
  }

  async #tokens(
    userId: string,
    provider: string,
    refreshWithin: number | undefined,
  ): Promise<ProviderTokens> {
    const account = await this.#linked(userId, provider);
    const endsAt = account.accessTokenExpiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
    if (refreshWithin !== undefined && endsAt < this.#core.database.clock.now() + refreshWithin * 1000)
      return this.refresh(userId, provider);
    const tokens = openTokens(this.#services.box, account);
    const { events } = this.#core;
    await events.together(['tokens.read'], async (within) =>
      events.emit('tokens.read', { userId, provider }, within),
    );
    return tokens;
  }

  /**
   * Refreshes a provider's tokens. Concurrent calls, even in several processes, share one request to the provider.
   *
   * @throws AuthError `account_not_linked` (404), `refresh_token_missing`, `relink_required` (409), `provider_error`
   *   (502); `provider_slow` while the provider has not responded, `unavailable` (503)
   */
  async refresh(userId: string, provider: string): Promise<ProviderTokens> {
    const client = clientOf(this.#services, provider);
    const account = await this.#services.refresher.refresh(await this.#linked(userId, provider), client);
    return openTokens(this.#services.box, account);
  }

  /**
   * Unlinks a provider's account, unless it is the user's last sign-in method. If the provider has a revocation
   * endpoint (RFC 7009), the account's tokens are then revoked in the background, without affecting the outcome.
   *
   * @throws AuthError `account_not_linked` (404), `last_sign_in_method` (409); with `sessionId` also `invalid_session`
   *   (401), and for an account with a second factor `second_factor_required`, `reauthentication_required` (403)
   */
  unlink(userId: string, provider: string, options: UnlinkOptions = {}): Promise<void> {
    const { sessionId = null } = options;
    return this.#core.call('auth.oauth.unlink', options, ['sessionId'], () =>
      this.#unlink(userId, provider, sessionId),
    );
  }

  async #unlink(userId: string, provider: string, sessionId: string | null): Promise<void> {
    const { accounts } = this.#services;
    const { events, notices } = this.#core;
    try {
      await removeWayIn(this.#core, userId, sessionId, async (record, transaction) => {
        const unlinked = await accounts.find(userId, provider, transaction);
        if (!unlinked) throw this.#notLinked(provider);
        const details = { subject: provider, subjectName: nameOf(this.#services, provider) };
        await notices.changed(sessionId, providerNotices['provider-unlinked'], record, transaction, details);
        await accounts.delete(unlinked, transaction);
        events.emit('account.unlinked', { userId, provider }, transaction);
        revokeTokens(this.#services, unlinked, transaction);
        return record;
      });
    } catch (error) {
      throw error instanceof AuthError && error.code === 'user_not_found' ? this.#notLinked(provider) : error;
    }
  }

  async #linked(userId: string, provider: string): Promise<AccountRow> {
    const account = await this.#services.accounts.find(userId, provider);
    if (!account) throw this.#notLinked(provider);
    return account;
  }

  #notLinked(provider: string): AuthError {
    return new AuthError(this.#services.clients.has(provider) ? 'account_not_linked' : 'provider_not_found');
  }
}
