import { once } from 'node:events';
import { boundedFetch, type Fetch } from '../../context/bounded-fetch.js';
import { abortedAfter } from '../../context/deadline.js';
import { AuthError } from '../../errors.js';
import type { LineFacts, Log } from '../../logger.js';
import { AuthorizationServer, type AuthorizationTarget, type FlowSecrets } from './authorization-server.js';
import { Discovery } from './discovery.js';
import { describe, isDeclined, isRefusal, loadOpenidClient } from './openid-client.js';
import { type CheckedProfile, checkedProfile, profileSources } from './profile.js';
import { type Claims, isSamePerson, type Person, type Provider, type RevocableTokens } from './provider.js';
import { payloadOf, SigningKeys } from './signing-keys.js';
import { type TokenSet, toTokenSet } from './token-response.js';

/** A person that a provider has authenticated. */
export interface Identity {
  readonly issuer: string;
  readonly profile: CheckedProfile;
  /** All of the provider's data about the person. */
  readonly claims: Claims;
  readonly tokens: TokenSet;
  /** When the person authenticated at the provider, if the provider states it (`auth_time`). */
  readonly authenticatedAt: Date | undefined;
}

/** The result of a refresh. */
export interface Refreshed {
  /** The tokens except for the ID token. */
  readonly tokens: TokenSet;
  /** Verifies the ID token. Null if there is none, or if it is not valid. */
  idToken(): Promise<string | null>;
}

// The time limit for all requests to a provider during one call.
const TIMEOUT_MS = 4500;
/**
 * The time limit of a refresh. It continues after its caller has given up, because the provider might have consumed the
 * refresh token already.
 */
const REFRESH_TIMEOUT_MS = 30_000;
// The latest time that a Date can hold.
const MAX_TIME = 8.64e15;

/** The client of one provider. Adds the checks that openid-client leaves to its caller. */
export class ProviderClient {
  readonly #discovery: Discovery;
  readonly #keys = new SigningKeys();

  constructor(
    readonly provider: Provider,
    private readonly log: Log,
  ) {
    this.#discovery = new Discovery(provider);
  }

  /** Returns the URL to redirect the browser to: authorization code flow with PKCE (S256), state and nonce. */
  authorizationUrl(secrets: FlowSecrets, target: AuthorizationTarget): Promise<string> {
    return this.#call((server) => server.authorizationUrl(secrets, target));
  }

  /**
   * Redeems the authorization code, and reads the identity of the person.
   *
   * @throws AuthError `access_denied`, `provider_error`
   */
  redeem(parameters: URLSearchParams, secrets: FlowSecrets, redirectUri: string): Promise<Identity> {
    return this.#call(async (server) => {
      const response = await server.redeemCode(new URL(`?${parameters}`, redirectUri), secrets);
      const tokens = toTokenSet(response, this.provider.scopes);
      const idToken = server.isOidc ? await this.#verified(String(tokens.idToken), server) : {};
      const sources = profileSources({
        server,
        keys: this.#keys,
        accessToken: tokens.accessToken,
        claims: idToken,
        onFailure: (error) =>
          this.log.warn(
            'oauth.userinfo_left_out',
            ...this.#about('failed to return userinfo, which was left out', error),
          ),
      });
      const { claims, ...profile } = await this.provider.profile(sources);
      return {
        issuer: server.issuerOf(idToken),
        profile: checkedProfile(profile),
        claims,
        tokens,
        authenticatedAt: timeOf(idToken.auth_time),
      };
    });
  }

  /**
   * Exchanges a refresh token for new tokens. They are returned even if other parts of the response are wrong, because
   * the provider might have consumed the refresh token.
   *
   * @param who the person whom an ID token in the response must name
   * @param ended aborts the request
   * @returns null if the grant has ended, or if the ID token names someone else
   * @throws AuthError `provider_error`
   */
  refresh(
    refreshToken: string,
    scopes: readonly string[],
    who: Person,
    ended: AbortSignal,
  ): Promise<Refreshed | null> {
    return this.#call(
      async (server) => {
        if (server.isOidc) await this.#keys.prepare(server);
        const refreshed = await server.refresh(refreshToken);
        if (!refreshed) return null;
        const { response, idToken, leftOut } = refreshed;
        if (idToken !== null && this.#contradicts(payloadOf(idToken), who, server)) {
          const error = new Error('the new ID token has a different issuer or subject');
          this.log.warn('oauth.refresh_refused', ...this.#about('refreshed tokens', error));
          return null;
        }
        const tokens = toTokenSet(response, scopes);
        if (leftOut.length > 0) {
          const error = new Error(`left out, since malformed: ${leftOut.join(', ')}`);
          this.log.warn('oauth.refresh_incomplete', ...this.#about('refreshed tokens', error));
        }
        return {
          tokens: leftOut.includes('token_type') ? { ...tokens, tokenType: null } : tokens,
          idToken: async () => (idToken === null ? null : this.#verifiedOrNull(idToken, server)),
        };
      },
      abortedAfter(REFRESH_TIMEOUT_MS, ended),
    );
  }

  /** Whether an ID token that has not been verified yet names another person, or one of another tenant. */
  #contradicts(claims: Claims, who: Person, server: AuthorizationServer): boolean {
    const { subjectOf = ({ sub }: Claims) => sub, checkClaims } = this.provider;
    const subject = subjectOf(claims);
    // A malformed ID token names no one.
    if (!claims.iss || !subject) return false;
    try {
      checkClaims?.(claims);
    } catch {
      return true;
    }
    const named = { issuer: server.issuerOf(claims), providerAccountId: String(subject) };
    return !isSamePerson(this.provider, who, named);
  }

  async #verifiedOrNull(idToken: string, server: AuthorizationServer): Promise<string | null> {
    try {
      await this.#verified(idToken, server);
      return idToken;
    } catch (error) {
      const what = 'refreshed tokens, and its ID token was left out';
      this.log.warn('oauth.refresh_incomplete', ...this.#about(what, error));
      return null;
    }
  }

  /**
   * Ends the grant at the provider, if the provider supports RFC 7009 or has its own way to do so.
   *
   * @throws AuthError `provider_error`
   */
  revoke(tokens: RevocableTokens): Promise<void> {
    return this.#call(async (server, fetch) => {
      const { revocation } = this.provider;
      // Revoking the refresh token also revokes the access tokens of the same grant (RFC 7009, 2.1).
      const token = tokens.refreshToken ?? tokens.accessToken;
      if (!revocation) {
        if (token !== null && server.metadata.revocation_endpoint) await server.revoke(token);
        return;
      }
      const request = revocation(tokens);
      if (!request) return;
      const { url, ...options } = request;
      const { ok, status } = await fetch(url, options);
      // With these statuses, the grant has already ended, or the token has expired.
      if (!ok && ![400, 401, 404].includes(status))
        throw new Error(`the revocation endpoint responded with ${status}`);
    });
  }

  async #verified(idToken: string, server: AuthorizationServer): Promise<Claims> {
    const claims = await this.#keys.verify(idToken, server);
    this.provider.checkClaims?.(claims);
    return claims;
  }

  /** All requests of a call share one deadline. */
  async #call<T>(
    steps: (server: AuthorizationServer, fetch: Fetch) => Promise<T>,
    signal = abortedAfter(TIMEOUT_MS),
  ): Promise<T> {
    let hasAsked = false;
    const fetch: Fetch = (...request) => {
      hasAsked = true;
      return boundedFetch(signal)(...request);
    };
    try {
      // The signal aborts requests, but not the import of openid-client, nor the wait for another call's request.
      const timedOut = once(signal, 'abort').then(() => Promise.reject(signal.reason));
      return await Promise.race([this.#discover(fetch).then((server) => steps(server, fetch)), timedOut]);
    } catch (error) {
      // The metadata might be outdated. It is kept if the provider sent a standard error response, or if the parameters
      // from the browser caused the failure before any request.
      if (hasAsked && !isRefusal(error)) this.#discovery.forget();
      if (isDeclined(error)) throw new AuthError('access_denied');
      this.log.warn('oauth.provider_failed', ...this.#about('failed', error));
      throw new AuthError('provider_error');
    }
  }

  async #discover(fetch: Fetch): Promise<AuthorizationServer> {
    const openid = await loadOpenidClient();
    const metadata = await this.#discovery.metadata(openid);
    return new AuthorizationServer(openid, this.provider, metadata, fetch);
  }

  /** The error itself is not logged: see {@link describe}. */
  #about(what: string, error: unknown): [text: string, facts: LineFacts] {
    const text = `provider ${this.provider.id} ${what}: ${describe(error)}`;
    return [text, { cause: text }];
  }
}

/** Reads a time in seconds since 1970. openid-client has checked that it is a positive number. */
function timeOf(claim: unknown): Date | undefined {
  return claim === undefined ? undefined : new Date(Math.min(Number(claim) * 1000, MAX_TIME));
}
