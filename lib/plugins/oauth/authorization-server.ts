import type { Configuration, JWK, ServerMetadata, TokenEndpointResponse } from 'openid-client';
import type { Fetch } from './bounded-fetch.js';
import { configure, isLocal, type OpenidClient } from './discovery.js';
import { endsGrant } from './openid-errors.js';
import type { FlowPurpose, Provider } from './provider.js';
import { isObject, toStandardResponse } from './token-response.js';

/** The secrets of a flow, which are stored while the browser is at the provider. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** An authorization request, apart from the secrets of its flow. */
export interface AuthorizationTarget {
  readonly redirectUri: string;
  readonly purpose: FlowPurpose;
  /** The account that the user probably has at the provider (OpenID Connect Core 1.0, 3.1.2.1). */
  readonly loginHint?: string | undefined;
}

// `max_age` also requests `auth_time`. Some providers only know `prompt` (OpenID Connect Core 1.0, 3.1.2.1).
const REAUTHENTICATION = { max_age: '0', prompt: 'login' };

/** The endpoints of a provider, according to its metadata. */
export class AuthorizationServer {
  constructor(
    readonly openid: OpenidClient,
    readonly provider: Provider,
    readonly metadata: ServerMetadata,
    readonly fetch: Fetch,
  ) {}

  get isOidc(): boolean {
    return 'discover' in this.provider.server;
  }

  configuration(fetch = this.fetch): Promise<Configuration> {
    return configure(this.openid, this.provider, fetch, this.metadata);
  }

  /** The URL of an authorization request, with PKCE (S256), state and nonce. */
  async authorizationUrl(
    { state, nonce, codeVerifier }: FlowSecrets,
    { redirectUri, purpose, loginHint }: AuthorizationTarget,
  ): Promise<string> {
    const { scopes, authorizeParameters, parametersFor } = this.provider;
    const url = this.openid.buildAuthorizationUrl(await this.configuration(), {
      ...authorizeParameters,
      ...(parametersFor?.[purpose] ?? (purpose === 'reauthenticate' && this.isOidc && REAUTHENTICATION)),
      ...(loginHint !== undefined && { login_hint: loginHint }),
      redirect_uri: redirectUri,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      state,
      code_challenge: await this.openid.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      // Plain OAuth 2.0 services ignore it.
      nonce,
    });
    return url.href;
  }

  /**
   * Redeems an authorization code. openid-client validates the state, the issuer and the ID token, except for its
   * signature, which `SigningKeys` verifies.
   *
   * @param callback the URL to which the browser has returned
   */
  async redeemCode(callback: URL, secrets: FlowSecrets): Promise<TokenEndpointResponse> {
    return this.openid.authorizationCodeGrant(await this.#tokenEndpoint(), callback, {
      expectedState: secrets.state,
      pkceCodeVerifier: secrets.codeVerifier,
      ...(this.isOidc && { expectedNonce: secrets.nonce, idTokenExpected: true }),
    });
  }

  /** Refreshes tokens. Null if the grant has ended. Here too, `SigningKeys` must verify the ID token's signature. */
  async refresh(refreshToken: string): Promise<TokenEndpointResponse | null> {
    try {
      return await this.openid.refreshTokenGrant(await this.#tokenEndpoint(), refreshToken);
    } catch (error) {
      if (endsGrant(error)) return null;
      throw error;
    }
  }

  /** The keys that the provider currently publishes. */
  async jwks(): Promise<JWK[]> {
    const { jwks_uri = '' } = this.metadata;
    // For all other endpoints, openid-client checks this itself.
    if (!isLocal(this.provider) && new URL(jwks_uri).protocol !== 'https:')
      throw new Error('the signing keys are not published over https');
    const jwks = await this.get(jwks_uri, { accept: 'application/json, application/jwk-set+json' });
    const { keys } = jwks as { keys?: unknown };
    if (!Array.isArray(keys) || !keys.every(isObject))
      throw new Error('the provider publishes no signing keys');
    return keys;
  }

  /** Revokes a token (RFC 7009). Does nothing if the provider has no revocation endpoint. */
  async revoke(token: string): Promise<void> {
    if (this.metadata.revocation_endpoint === undefined) return;
    await this.openid.tokenRevocation(await this.configuration(), token);
  }

  /**
   * Fetches userinfo. Null if the provider has no userinfo endpoint.
   *
   * @param subject the subject that it must be about
   */
  async userinfo(accessToken: string, subject: string): Promise<Record<string, unknown> | null> {
    if (this.metadata.userinfo_endpoint === undefined) return null;
    const config = await this.configuration();
    // If userinfo is signed, which is rare, openid-client fetches the keys and verifies it.
    this.openid.enableNonRepudiationChecks(config);
    return this.openid.fetchUserInfo(config, accessToken, subject);
  }

  /** Fetches any other JSON resource of the provider. @throws Error with the `status` of the response */
  async get(url: string, headers: Record<string, string>): Promise<unknown> {
    const answer = await this.fetch(url, { headers });
    if (answer.ok) return answer.json();
    const { status } = answer;
    throw Object.assign(new Error(`${new URL(url).pathname} answered ${status}`), { status });
  }

  #tokenEndpoint(): Promise<Configuration> {
    return this.configuration(async (...request) =>
      toStandardResponse(await this.fetch(...request), this.isOidc),
    );
  }
}
