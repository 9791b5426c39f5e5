import { once } from 'node:events';
import { AuthError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { AuthorizationServer, type AuthorizationTarget, type FlowSecrets } from './authorization-server.js';
import { boundedFetch } from './bounded-fetch.js';
import { Discovery } from './discovery.js';
import { loadOpenidClient } from './load-openid-client.js';
import { describe, isDeclined, isRefusal } from './openid-errors.js';
import type { Profile, ProfileSources, Provider } from './provider.js';
import { type Claims, SigningKeys } from './signing-keys.js';
import { isStorable, type TokenSet, toTokenSet } from './token-response.js';

/** A person that a provider has authenticated. */
export interface Identity {
  readonly issuer: string;
  readonly profile: Profile;
  readonly tokens: TokenSet;
  /** When the person authenticated at the provider, if it says so (`auth_time`). */
  readonly authenticatedAt: Date | undefined;
}

// For all requests to a provider during one call.
const TIMEOUT_MS = 4500;
const MAX_SUBJECT_LENGTH = 255;
// The latest time that a Date can hold.
const MAX_TIME = 8.64e15;

/** The client of one provider. Adds the checks that openid-client leaves to its caller. */
export class ProviderClient {
  readonly #discovery: Discovery;
  readonly #keys = new SigningKeys();

  constructor(
    readonly provider: Provider,
    private readonly logger: Logger,
  ) {
    this.#discovery = new Discovery(provider);
  }

  /** The URL to redirect the browser to: authorization code flow with PKCE (S256), state and nonce. */
  authorizationUrl(secrets: FlowSecrets, target: AuthorizationTarget): Promise<string> {
    return this.#call(async (signal) => {
      const server = await this.#discover(signal);
      return server.authorizationUrl(secrets, target);
    });
  }

  /**
   * Redeems the authorization code, and reads the identity of the person.
   *
   * @throws AuthError `access_denied`, `provider_error`
   */
  redeem(parameters: URLSearchParams, secrets: FlowSecrets, redirectUri: string): Promise<Identity> {
    return this.#call(async (signal) => {
      const server = await this.#discover(signal);
      const tokens = await server.redeemCode(new URL(`?${parameters}`, redirectUri), secrets);
      const claims = server.isOidc ? await this.#keys.verify(String(tokens.id_token), server) : {};
      const sources = profileSources(server, tokens.access_token, claims);
      const profile = checkedProfile(await this.provider.profile(sources));
      return {
        issuer: server.isOidc ? String(claims.iss) : server.metadata.issuer,
        profile,
        tokens: toTokenSet(tokens, this.provider.scopes),
        authenticatedAt: timeOf(claims.auth_time),
      };
    });
  }

  /**
   * Exchanges a refresh token for new tokens. Null if the grant has ended.
   *
   * @param subject the subject that an ID token in the response must have
   * @param timeoutMs how long it may take, if it is less than usual
   * @throws AuthError `provider_error`
   */
  refresh(
    refreshToken: string,
    scopes: readonly string[],
    subject: string,
    timeoutMs = TIMEOUT_MS,
  ): Promise<TokenSet | null> {
    return this.#call(async (signal) => {
      const server = await this.#discover(signal);
      const tokens = await server.refresh(refreshToken);
      if (!tokens) return null;
      if (tokens.id_token) {
        const { sub } = await this.#keys.verify(tokens.id_token, server);
        if (sub !== subject) throw new Error('the new ID token has a different subject');
      }
      return toTokenSet(tokens, scopes);
    }, timeoutMs);
  }

  /** Revokes a token, if the provider has a revocation endpoint. @throws AuthError `provider_error` */
  revoke(token: string): Promise<void> {
    return this.#call(async (signal) => (await this.#discover(signal)).revoke(token));
  }

  async #discover(signal: AbortSignal): Promise<AuthorizationServer> {
    const openid = await loadOpenidClient();
    const fetch = boundedFetch(signal);
    const metadata = await this.#discovery.metadata(openid, fetch);
    return new AuthorizationServer(openid, this.provider, metadata, fetch);
  }

  /** All requests of a call share one deadline. */
  async #call<T>(steps: (signal: AbortSignal) => Promise<T>, timeoutMs = TIMEOUT_MS): Promise<T> {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      // The signal aborts requests, but neither the import of openid-client nor waiting for keys that another call
      // fetches.
      const timedOut = once(signal, 'abort').then(() => Promise.reject(signal.reason));
      return await Promise.race([steps(signal), timedOut]);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): AuthError {
    // Unless it is a standard error response, the metadata may be outdated.
    if (!isRefusal(error)) this.#discovery.forget();
    if (isDeclined(error)) return new AuthError('access_denied');
    this.logger.warn(`latchkey: provider ${this.provider.id} failed: ${describe(error)}`);
    return new AuthError('provider_error');
  }
}

/** The sources of a profile. Provider modules request userinfo and other resources only if they need them. */
function profileSources(server: AuthorizationServer, accessToken: string, claims: Claims): ProfileSources {
  const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}` };
  return {
    claims,
    userinfo: () => server.userinfo(accessToken, String(claims.sub)),
    get: (url) => server.get(url, headers),
  };
}

/** A time in seconds since 1970. openid-client has checked that it is a positive number. */
function timeOf(claim: unknown): Date | undefined {
  return claim === undefined ? undefined : new Date(Math.min(Number(claim) * 1000, MAX_TIME));
}

function checkedProfile(profile: Profile): Profile {
  const { subject } = profile;
  if (typeof subject !== 'string' || subject === '' || !isStorable(subject, MAX_SUBJECT_LENGTH)) {
    throw new Error('the subject is missing or cannot be stored');
  }
  return profile;
}
