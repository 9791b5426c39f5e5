import { once } from 'node:events';
import { AuthError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { AuthorizationServer, type FlowSecrets } from './authorization-server.js';
import { boundedFetch } from './bounded-fetch.js';
import { Discovery } from './discovery.js';
import { describe, isDeclined, isRefusal } from './openid-errors.js';
import type { Profile, ProfileSources, Provider } from './provider.js';
import { type Claims, SigningKeys } from './signing-keys.js';
import { isStorable, type TokenSet, toTokenSet } from './token-response.js';

/** Somebody whom a provider has signed in. */
export interface Identity {
  readonly issuer: string;
  readonly profile: Profile;
  readonly tokens: TokenSet;
}

// A provider may use up most of the five seconds that a request may take.
const TIMEOUT_MS = 4500;
const MAX_SUBJECT_LENGTH = 255;

/** Talks to one provider, with the precautions that openid-client leaves to its caller. */
export class ProviderClient {
  readonly #discovery: Discovery;
  readonly #keys = new SigningKeys();

  constructor(
    readonly provider: Provider,
    private readonly logger: Logger,
  ) {
    this.#discovery = new Discovery(provider);
  }

  /** Where to send the browser: authorization code, PKCE with S256, state and nonce. */
  authorizationUrl(secrets: FlowSecrets, redirectUri: string): Promise<string> {
    return this.#call(async (signal) => {
      const server = await this.#discover(signal);
      return server.authorizationUrl(secrets, redirectUri);
    });
  }

  /**
   * Redeems the code that a browser brings back, and finds out whom the provider has signed in.
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
      };
    });
  }

  /**
   * Exchanges a refresh token for new tokens. Null if the provider has ended the grant.
   *
   * @param subject whom an ID token must be about, if there is one in the response
   * @throws AuthError `provider_error`
   */
  refresh(refreshToken: string, scopes: readonly string[], subject: string): Promise<TokenSet | null> {
    return this.#call(async (signal) => {
      const server = await this.#discover(signal);
      const tokens = await server.refresh(refreshToken);
      if (!tokens) return null;
      if (tokens.id_token) {
        const { sub } = await this.#keys.verify(tokens.id_token, server);
        if (sub !== subject) throw new Error('the new ID token is about somebody else');
      }
      return toTokenSet(tokens, scopes);
    });
  }

  async #discover(signal: AbortSignal): Promise<AuthorizationServer> {
    const openid = await import('openid-client');
    const fetch = boundedFetch(signal);
    const metadata = await this.#discovery.metadata(openid, fetch);
    return new AuthorizationServer(openid, this.provider, metadata, fetch);
  }

  /** All requests of a call share one deadline, so that several slow responses do not add up. */
  async #call<T>(steps: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      // The signal ends requests by itself, but neither the loading of openid-client nor a wait for another call's keys.
      const tooLate = once(signal, 'abort').then(() => Promise.reject(signal.reason));
      return await Promise.race([steps(signal), tooLate]);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): AuthError {
    // The provider may have moved, unless this is a proper response, if only to refuse.
    if (!isRefusal(error)) this.#discovery.forget();
    if (isDeclined(error)) return new AuthError('access_denied');
    this.logger.warn(`latchkey: provider ${this.provider.id} failed: ${describe(error)}`);
    return new AuthError('provider_error');
  }
}

/** What the provider's module can read a profile from; it requests userinfo and other resources as it needs them. */
function profileSources(server: AuthorizationServer, accessToken: string, claims: Claims): ProfileSources {
  const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}` };
  return {
    claims,
    userinfo: () => server.userinfo(accessToken, String(claims.sub)),
    get: (url) => server.get(url, headers),
  };
}

function checkedProfile(profile: Profile): Profile {
  const { subject } = profile;
  if (typeof subject !== 'string' || subject === '' || !isStorable(subject, MAX_SUBJECT_LENGTH)) {
    throw new Error('the provider names no subject that can be stored');
  }
  return profile;
}
