import type { Core } from '../../core.js';
import { AuthError, type AuthErrorCode } from '../../errors.js';
import type { IssuedSession, SessionWithUser } from '../../sessions.js';
import { DEFAULT_BASE_PATH } from '../../settings.js';
import { type Account, type AccountRow, toAccount } from './account.js';
import type { Accounts } from './accounts.js';
import { checkCallbackUrl, withError } from './callback-url.js';
import type { Identity, ProviderClient } from './client.js';
import { type Flows, randomToken, type TakenFlow } from './flows.js';
import { findOrCreateUser, linkIdentity } from './sign-in.js';
import { openTokens, type ProviderTokens, type Refresher } from './tokens.js';

/** What {@link OAuthApi.authorizeUrl} takes. */
export interface AuthorizeInput {
  /** Where the browser ends: a path of this app, or a URL of an origin that it trusts. @default `/` */
  callbackUrl?: string;
  /** The value of the browser's flow cookie, where it has one. @default a new one */
  browser?: string | undefined;
  /** The base path of the routes as the browser sees it. @default `httpBasePath` */
  basePath?: string;
}

/** Where to send a browser, and what it must bring back. */
export interface Departure {
  readonly url: string;
  /** The value of the flow cookie, which binds the flow to this browser. */
  readonly browser: string;
}

/** A browser that comes back from a provider. */
export interface Arrival {
  readonly provider: string;
  /** What the provider added to the redirect URI. */
  readonly answer: URLSearchParams;
  /** The value of the browser's flow cookie. */
  readonly browser: string | undefined;
  /** Finds the session that the browser has, if any. Asked only where it matters: at the end of a link. */
  current(): Promise<SessionWithUser | null>;
  /** The tokens of sessions that the browser carries, which end with a sign-in. */
  readonly tokens: readonly string[];
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** What came of it, and where the browser goes now. */
export interface Landing {
  readonly callbackUrl: string;
  /** After a sign-in. */
  readonly issued: IssuedSession | null;
}

/** What {@link OAuthApi.tokens} takes. */
export interface TokensOptions {
  /** Refreshes first when the access token ends within so many seconds. @default never */
  refreshWithin?: number;
}

// How a flow may fail that was begun properly: the browser is told at its callback URL.
const TOLD_AT_CALLBACK: ReadonlySet<AuthErrorCode> = new Set<AuthErrorCode>([
  'access_denied',
  // The session that a link began with has ended since.
  'invalid_flow',
  'account_exists',
  'account_linked_elsewhere',
  'provider_already_linked',
  'provider_error',
]);

/** `auth.oauth`: sign-in by provider, and linked accounts. */
export class OAuthApi {
  readonly #core: Core;
  readonly #clients: ReadonlyMap<string, ProviderClient>;
  readonly #accounts: Accounts;
  readonly #flows: Flows;
  readonly #refresher: Refresher;
  readonly #linkByVerifiedEmail: boolean;

  constructor(
    core: Core,
    clients: ReadonlyMap<string, ProviderClient>,
    accounts: Accounts,
    flows: Flows,
    refresher: Refresher,
    linkByVerifiedEmail: boolean,
  ) {
    this.#core = core;
    this.#clients = clients;
    this.#accounts = accounts;
    this.#flows = flows;
    this.#refresher = refresher;
    this.#linkByVerifiedEmail = linkByVerifiedEmail;
  }

  /** The ids of the configured providers. */
  get providers(): readonly string[] {
    return [...this.#clients.keys()];
  }

  /**
   * Begins a sign-in at a provider. The app must set the flow cookie to `browser` before it sends the browser away, as
   * the routes do.
   *
   * @throws AuthError `provider_not_found`, `invalid_callback_url`, `provider_error`
   */
  authorizeUrl(provider: string, input: AuthorizeInput = {}): Promise<Departure> {
    return this.#depart(provider, input, null);
  }

  /** Begins a link to the account of a session's user. @throws like {@link authorizeUrl} */
  linkUrl(provider: string, sessionId: string, input: AuthorizeInput = {}): Promise<Departure> {
    return this.#depart(provider, input, sessionId);
  }

  /**
   * Whether a provider's answer belongs to a flow that is under way, in whatever browser. It ends no flow.
   *
   * @throws AuthError `provider_not_found`
   */
  async isExpected(provider: string, answer: URLSearchParams): Promise<boolean> {
    this.#clientOf(provider);
    const state = answer.get('state');
    return state ? this.#flows.isUnderWay(state, provider) : false;
  }

  /**
   * Ends a flow: signs in, or links.
   *
   * @throws AuthError `provider_not_found`, `invalid_flow` where no flow of this browser is under way
   */
  async arrive(arrival: Arrival): Promise<Landing> {
    const client = this.#clientOf(arrival.provider);
    const flow = await this.#takeFlow(arrival);
    const current = flow.sessionId === null ? null : await arrival.current();
    if (flow.sessionId !== (current?.session.id ?? null)) throw new AuthError('invalid_flow');
    try {
      const identity = await client.redeem(arrival.answer, flow.secrets, flow.redirectUri);
      const issued = current ? null : await this.#signIn(arrival, flow, identity);
      if (current) await this.#link(arrival.provider, current, identity);
      return { callbackUrl: flow.callbackUrl, issued };
    } catch (error) {
      if (!(error instanceof AuthError) || !TOLD_AT_CALLBACK.has(error.code)) throw error;
      return { callbackUrl: withError(flow.callbackUrl, error.code), issued: null };
    }
  }

  /** A user's linked accounts, in the order in which they were linked. */
  async accounts(userId: string): Promise<Account[]> {
    return (await this.#accounts.list(userId)).map(toAccount);
  }

  /**
   * A provider's tokens, for calling its API in the user's name.
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
    const tokens = openTokens(this.#accounts, account);
    this.#core.events.emit('tokens.read', { userId, provider });
    return tokens;
  }

  /**
   * Refreshes a provider's tokens. Asked for several times at once, also in several processes, it asks the provider
   * once.
   *
   * @throws AuthError `account_not_linked` (404), `refresh_token_missing`, `relink_required` (409), `provider_error`
   *   (502), `unavailable` (503)
   */
  async refresh(userId: string, provider: string): Promise<ProviderTokens> {
    const client = this.#clientOf(provider);
    const account = await this.#refresher.refresh(await this.#linked(userId, provider), client);
    this.#core.events.emit('tokens.refreshed', { userId, provider });
    return openTokens(this.#accounts, account);
  }

  /**
   * Unlinks a provider's account, unless it is the user's last way to sign in.
   *
   * @throws AuthError `account_not_linked` (404), `last_sign_in_method` (409)
   */
  async unlink(userId: string, provider: string): Promise<void> {
    const { passwords, usernames } = this.#core;
    await this.#core.database.transaction(async (transaction) => {
      // Under a lock on the user, so that two unlinks at once do not each count on the other's account.
      const user = await this.#core.users.lockForUpdate(userId, transaction);
      const accounts = await this.#accounts.list(userId, transaction);
      if (!user || !accounts.some((account) => account.provider === provider))
        throw this.#notLinked(provider);
      // What the app has no more opens nothing: neither a password nor an account at a provider.
      const isNamed = user.email !== null || (usernames && user.username !== null);
      const hasPassword = passwords && isNamed && user.passwordHash !== null;
      const hasAnother = accounts.some((one) => one.provider !== provider && this.#clients.has(one.provider));
      if (!hasAnother && !hasPassword) throw new AuthError('last_sign_in_method');
      await this.#accounts.delete(userId, provider, transaction);
    });
    this.#core.events.emit('account.unlinked', { userId, provider });
  }

  async #depart(provider: string, input: AuthorizeInput, sessionId: string | null): Promise<Departure> {
    const client = this.#clientOf(provider);
    const { baseUrl, httpBasePath, origins } = this.#core.settings;
    const {
      callbackUrl = '/',
      browser = randomToken(),
      basePath = httpBasePath ?? DEFAULT_BASE_PATH,
    } = input;
    const redirectUri = `${baseUrl}${basePath}/oauth/${provider}/callback`;
    const flow = { provider, sessionId, redirectUri, callbackUrl: checkCallbackUrl(callbackUrl, origins) };
    const secrets = await this.#flows.begin(flow, browser);
    return { url: await client.authorizationUrl(secrets, redirectUri), browser };
  }

  async #takeFlow({ provider, answer, browser, tokens }: Arrival): Promise<TakenFlow> {
    const state = answer.get('state');
    const flow = state && browser ? await this.#flows.take(state, browser, provider, tokens) : null;
    if (!flow) throw new AuthError('invalid_flow');
    return flow;
  }

  async #signIn(
    { provider, ip, userAgent }: Arrival,
    { carried }: TakenFlow,
    identity: Identity,
  ): Promise<IssuedSession> {
    const core = this.#core;
    const outcome = await findOrCreateUser(
      core,
      this.#accounts,
      provider,
      identity,
      this.#linkByVerifiedEmail,
    );
    const { user, authEpoch } = outcome;
    if (outcome.userCreated) core.events.emit('user.created', { userId: user.id, ip, userAgent });
    if (outcome.accountLinked) core.events.emit('account.linked', { userId: user.id, provider });
    const issued = await core.sessions.create(user, authEpoch, { remembered: false, ip, userAgent });
    // The new session takes the place of the one that the browser had.
    for (const { userId, sessionId } of carried) await core.sessions.revoke(userId, sessionId);
    return issued;
  }

  async #link(provider: string, current: SessionWithUser, identity: Identity): Promise<void> {
    const userId = current.user.id;
    if (await linkIdentity(this.#core, this.#accounts, current, provider, identity)) {
      this.#core.events.emit('account.linked', { userId, provider });
    }
  }

  async #linked(userId: string, provider: string): Promise<AccountRow> {
    const account = await this.#accounts.find(userId, provider);
    if (!account) throw this.#notLinked(provider);
    return account;
  }

  #clientOf(provider: string): ProviderClient {
    const client = this.#clients.get(provider);
    if (!client) throw new AuthError('provider_not_found');
    return client;
  }

  #notLinked(provider: string): AuthError {
    return new AuthError(this.#clients.has(provider) ? 'account_not_linked' : 'provider_not_found');
  }
}
