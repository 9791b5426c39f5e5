import type { Configuration, JWK, ServerMetadata, TokenEndpointResponse } from 'openid-client';
import type { Fetch } from './bounded-fetch.js';
import { configure, isLocal, type OpenidClient } from './discovery.js';
import { endsGrant } from './openid-errors.js';
import type { Provider } from './provider.js';
import { isObject, toStandardResponse } from './token-response.js';

/** The secrets of one flow, which are kept while the browser is at the provider. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** The endpoints of one provider, as its metadata names them. */
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

  /** Asks for a code, with PKCE by S256, state and nonce. */
  async authorizationUrl({ state, nonce, codeVerifier }: FlowSecrets, redirectUri: string): Promise<string> {
    const { scopes, authorizeParameters } = this.provider;
    const url = this.openid.buildAuthorizationUrl(await this.configuration(), {
      ...authorizeParameters,
      redirect_uri: redirectUri,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      state,
      code_challenge: await this.openid.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      // Without OpenID Connect it is ignored.
      nonce,
    });
    return url.href;
  }

  /**
   * Redeems a code. openid-client checks the state and issuer first, and then everything about the ID token except its
   * signature, which is left to `SigningKeys`.
   *
   * @param callback the URL to which the browser has come back
   */
  async redeemCode(callback: URL, secrets: FlowSecrets): Promise<TokenEndpointResponse> {
    return this.openid.authorizationCodeGrant(await this.#tokenEndpoint(), callback, {
      expectedState: secrets.state,
      pkceCodeVerifier: secrets.codeVerifier,
      ...(this.isOidc && { expectedNonce: secrets.nonce, idTokenExpected: true }),
    });
  }

  /** Null if the provider has ended the grant. Here too, the signature of an ID token is left to `SigningKeys`. */
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
    // openid-client checks this for all other endpoints.
    if (!isLocal(this.provider) && new URL(jwks_uri).protocol !== 'https:')
      throw new Error('the signing keys are not published over https');
    const jwks = await this.get(jwks_uri, { accept: 'application/json, application/jwk-set+json' });
    const { keys } = jwks as { keys?: unknown };
    if (!Array.isArray(keys) || !keys.every(isObject))
      throw new Error('the provider publishes no signing keys');
    return keys;
  }

  /**
   * The userinfo response; null if the provider has no endpoint for it.
   *
   * @param subject whom it must be about
   */
  async userinfo(accessToken: string, subject: string): Promise<Record<string, unknown> | null> {
    if (this.metadata.userinfo_endpoint === undefined) return null;
    const config = await this.configuration();
    // The few providers that sign userinfo: openid-client verifies it with keys that it fetches itself.
    this.openid.enableNonRepudiationChecks(config);
    return this.openid.fetchUserInfo(config, accessToken, subject);
  }

  /** Any other resource of the provider, as JSON. A failure is an error with the response's `status`. */
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
