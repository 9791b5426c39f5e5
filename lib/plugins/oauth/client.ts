import type { Configuration, ExportedJWKSCache, TokenEndpointResponse } from 'openid-client';
import { AuthError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { boundedFetch, type Fetch, withoutIdToken } from './bounded-fetch.js';
import { Discovery } from './discovery.js';
import type { Profile, Provider } from './provider.js';

/** Tokens as a provider gave them. */
export interface TokenSet {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly idToken: string | null;
  readonly tokenType: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
}

/** Somebody whom a provider has signed in. */
export interface ProvenIdentity {
  readonly issuer: string;
  readonly profile: Profile;
  readonly tokens: TokenSet;
}

/** The secrets of one flow, between the request to the provider and its answer. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

type OpenidClient = typeof import('openid-client');

const TIMEOUT_MS = 5000;
const MAX_FUTURE_SECONDS = 300;
const MAX_TOKEN_LENGTH = 32 * 1024;
const MAX_SCOPES_LENGTH = 16 * 1024;
const MAX_SUBJECT_LENGTH = 255;
/** A hundred years: later, MySQL has no date. */
const MAX_SECONDS = 100 * 365 * 24 * 60 * 60;
// By RFC 6749; by GitHub, with status 200.
const GRANT_ENDED = /^(invalid_grant|bad_refresh_token)$/;
// By RFC 6749; by Apple and LinkedIn.
const DECLINED = /^(access_denied|user_cancelled_\w+)$/;

/** Talks to one provider, with the precautions that openid-client leaves to its caller. */
export class ProviderClient {
  readonly #discovery = new Discovery();
  #jwks: ExportedJWKSCache | undefined;

  constructor(
    readonly provider: Provider,
    private readonly logger: Logger,
  ) {}

  /** Where to send the browser: authorization code, PKCE with S256, state and nonce. */
  authorizationUrl({ state, nonce, codeVerifier }: FlowSecrets, redirectUri: string): Promise<string> {
    return this.#call(async (client, config) => {
      const url = client.buildAuthorizationUrl(config, {
        ...this.provider.authorizeParameters,
        redirect_uri: redirectUri,
        scope: this.provider.scopes.join(' '),
        state,
        code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        // Without an ID token nothing brings it back, and nothing is lost by it.
        nonce,
      });
      return url.href;
    });
  }

  /**
   * Redeems the provider's answer for tokens, and reads who it is about.
   *
   * @throws AuthError `access_denied`, `provider_error`
   */
  redeem(answer: URLSearchParams, secrets: FlowSecrets, redirectUri: string): Promise<ProvenIdentity> {
    return this.#call(async (client, config, fetchBounded) => {
      const currentUrl = new URL(redirectUri);
      currentUrl.search = answer.toString();
      const response = await client.authorizationCodeGrant(config, currentUrl, {
        expectedState: secrets.state,
        pkceCodeVerifier: secrets.codeVerifier,
        ...(this.#isOidc && { expectedNonce: secrets.nonce, idTokenExpected: true }),
      });
      const claims = this.#isOidc ? checkedClaims(response.claims()) : {};
      const profile = await this.provider.profile({
        claims,
        userinfo: async () => {
          if (config.serverMetadata().userinfo_endpoint === undefined) return null;
          return client.fetchUserInfo(config, response.access_token, String(claims.sub));
        },
        get: async (url) => {
          const headers = { accept: 'application/json', authorization: `Bearer ${response.access_token}` };
          const answer = await fetchBounded(url, { headers });
          if (!answer.ok) throw new Error(`${new URL(url).pathname} answered ${answer.status}`);
          return answer.json();
        },
      });
      return {
        issuer: this.#isOidc ? String(claims.iss) : config.serverMetadata().issuer,
        profile: checkedProfile(profile),
        tokens: toTokenSet(response, this.provider.scopes),
      };
    });
  }

  /**
   * Exchanges a refresh token for new tokens. Null where the provider has ended the grant.
   *
   * @param subject whom an ID token must be about, if one comes along
   * @throws AuthError `provider_error`
   */
  refresh(refreshToken: string, scopes: readonly string[], subject: string): Promise<TokenSet | null> {
    return this.#call(async (client, config) => {
      try {
        const response = await client.refreshTokenGrant(config, refreshToken);
        const claims = response.claims();
        if (claims && checkedClaims(claims).sub !== subject)
          throw new Error('the new ID token is about somebody else');
        return toTokenSet(response, scopes);
      } catch (error) {
        if (endsGrant(error)) return null;
        throw error;
      }
    });
  }

  get #isOidc(): boolean {
    return 'discover' in this.provider.server;
  }

  /** Plain http is for providers on this machine; `checkOptions` lets no other in. */
  get #isLocal(): boolean {
    const { server } = this.provider;
    return ('discover' in server ? server.discover : server.tokenUrl).startsWith('http:');
  }

  async #call<T>(
    work: (client: OpenidClient, config: Configuration, fetchBounded: Fetch) => Promise<T>,
  ): Promise<T> {
    // One limit for all requests of a call together: a provider that is slow three times is three times too slow.
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const fetchBounded = boundedFetch(signal);
    const client = await import('openid-client');
    try {
      const config = await this.#configure(client, fetchBounded);
      const result = await work(client, config, fetchBounded);
      this.#jwks = client.getJwksCache(config) ?? this.#jwks;
      return result;
    } catch (error) {
      if (error instanceof client.AuthorizationResponseError && DECLINED.test(error.error)) {
        throw new AuthError('access_denied');
      }
      this.logger.warn(`latchkey: provider ${this.provider.id} failed: ${describe(error)}`);
      throw new AuthError('provider_error');
    }
  }

  async #configure(client: OpenidClient, fetchBounded: Fetch): Promise<Configuration> {
    const { clientId, clientAuth, clientSecret, server } = this.provider;
    const secret = typeof clientSecret === 'string' ? clientSecret : clientSecret();
    const authentication =
      clientAuth === 'basic' ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
    const config =
      'discover' in server
        ? await this.#discovery.configure(client, server.discover, clientId, authentication, fetchBounded)
        : new client.Configuration(
            {
              issuer: server.issuer,
              authorization_endpoint: server.authorizationUrl,
              token_endpoint: server.tokenUrl,
              userinfo_endpoint: server.userinfoUrl,
            },
            clientId,
            {},
            authentication,
          );
    config[client.customFetch] = (this.#isOidc ? fetchBounded : withoutIdToken(fetchBounded)) as never;
    // Without this, an ID token is believed by whence it came and its signature is never looked at.
    if (this.#isOidc) client.enableNonRepudiationChecks(config);
    if (this.#isLocal) client.allowInsecureRequests(config);
    if (this.#jwks) client.setJwksCache(config, this.#jwks);
    return config;
  }
}

// What openid-client takes and we do not: an empty subject, and a token from the future.
function checkedClaims(claims: Record<string, unknown> | undefined): Record<string, unknown> {
  if (!claims || typeof claims.sub !== 'string' || claims.sub === '')
    throw new Error('the ID token has no subject');
  if (Number(claims.iat) > Date.now() / 1000 + MAX_FUTURE_SECONDS)
    throw new Error('the ID token is from the future');
  return claims;
}

function checkedProfile(profile: Profile): Profile {
  const { subject } = profile;
  if (typeof subject !== 'string' || subject === '' || !isStorable(subject, MAX_SUBJECT_LENGTH)) {
    throw new Error('the provider names no subject that could be stored');
  }
  return profile;
}

function toTokenSet(response: TokenEndpointResponse, requested: readonly string[]): TokenSet {
  const { access_token, refresh_token = null, id_token = null, token_type, expires_in, scope } = response;
  for (const token of [access_token, refresh_token, id_token]) {
    if (token && token.length > MAX_TOKEN_LENGTH)
      throw new Error('the provider gave a token that is too long');
  }
  if (!isStorable(scope ?? '', MAX_SCOPES_LENGTH))
    throw new Error('the provider gave scopes that cannot be stored');
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    idToken: id_token,
    tokenType: token_type,
    // Some services separate scopes by commas; one that says nothing granted what was asked for (RFC 6749, 5.1).
    scopes: scope === undefined ? requested : scope.split(/[ ,]+/).filter(Boolean),
    expiresAt:
      expires_in === undefined ? null : new Date(Date.now() + Math.min(expires_in, MAX_SECONDS) * 1000),
  };
}

function endsGrant(error: unknown): boolean {
  // What comes with status 200 has no access token: openid-client misses that, and keeps the body with the cause.
  const { error: code, cause } = error as Error & { error?: string; cause?: Error };
  const { body } = (cause?.cause ?? {}) as { body?: { error?: string } };
  return GRANT_ENDED.test(code ?? body?.error ?? '');
}

/** No database takes broken Unicode, and PostgreSQL no NUL. */
function isStorable(text: string, maxLength: number): boolean {
  return text.length <= maxLength && text.isWellFormed() && !text.includes('\0');
}

/** For the log: what went wrong, without what the provider sent, which can hold a code or a token. */
function describe(error: unknown): string {
  const { name, code, message, cause } = error as Error & { code?: string };
  // The parser of JSON quotes what it could not read.
  if (name === 'SyntaxError') return `${name}: the answer is not valid JSON`;
  const inner = cause instanceof Error && cause.name !== 'SyntaxError' ? ` (${cause.message})` : '';
  return `${code ?? name}: ${message}${inner}`;
}
