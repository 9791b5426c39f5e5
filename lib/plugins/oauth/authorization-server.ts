import type { Configuration, JWK, ServerMetadata, TokenEndpointResponse } from 'openid-client';
import type { Fetch } from '../../context/bounded-fetch.js';
import { configure, isLocal } from './discovery.js';
import { endsGrant, type OpenidClient } from './openid-client.js';
import { type Claims, type FlowPurpose, isOidc, type Provider } from './provider.js';
import { isObject, type SavableResponse, toSavableResponse, toStandardResponse } from './token-response.js';

/** The secrets of a flow, which are stored while the browser is at the provider. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** The endpoints of a provider, according to its metadata. */
export class AuthorizationServer {
  constructor(
    readonly openid: OpenidClient,
    readonly provider: Provider,
    readonly metadata: ServerMetadata,
    readonly fetch: Fetch,
  ) {}

  get isOidc(): boolean {
    return isOidc(this.provider);
  }

  /** The issuer to store with a subject. */
  issuerOf({ iss }: Claims): string {
    const { server } = this.provider;
    return 'discover' in server ? String(iss) : server.issuer;
  }

  configuration(fetch = this.fetch): Promise<Configuration> {
    return configure(this.openid, this.provider, fetch, withUserinfoAlgorithms(this.metadata));
  }

  /** Builds the URL of an authorization request, with state, nonce and PKCE (S256) unless the provider rejects it. */
  async authorizationUrl(secrets: FlowSecrets, target: AuthorizationTarget): Promise<string> {
    const challenge = await this.openid.calculatePKCECodeChallenge(secrets.codeVerifier);
    const url = this.openid.buildAuthorizationUrl(await this.configuration(), {
      ...authorizationParameters(this.provider, target),
      redirect_uri: target.redirectUri,
      state: secrets.state,
      ...(this.#usesPkce && { code_challenge: challenge, code_challenge_method: 'S256' }),
      // Plain OAuth 2.0 services ignore the nonce.
      nonce: secrets.nonce,
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
      ...(this.#usesPkce && { pkceCodeVerifier: secrets.codeVerifier }),
      ...(this.isOidc && { expectedNonce: secrets.nonce, idTokenExpected: true }),
    });
  }

  /** Refreshes tokens. Null if the grant has ended. `SigningKeys` must verify the ID token. */
  async refresh(refreshToken: string): Promise<RefreshResponse | null> {
    let rest: Omit<SavableResponse, 'response'> = { idToken: null, leftOut: [] };
    const endpoint = await this.#tokenEndpoint(async (answer) => {
      const { response, ...others } = await toSavableResponse(answer);
      rest = others;
      return response;
    });
    try {
      return { response: await this.openid.refreshTokenGrant(endpoint, refreshToken), ...rest };
    } catch (error) {
      if (endsGrant(error)) return null;
      throw error;
    }
  }

  /** Revokes a token (RFC 7009). */
  async revoke(token: string): Promise<void> {
    await this.openid.tokenRevocation(await this.configuration(), token);
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

  /** Fetches any JSON resource of the provider. @throws Error with the `status` of the response */
  async get(url: string, headers: Record<string, string>): Promise<unknown> {
    const answer = await this.fetch(url, { headers });
    if (answer.ok && isJwt(answer))
      throw new Error(
        `${new URL(url).pathname} responded with a JWT, which latchkey verifies only with OpenID Connect`,
      );
    if (answer.ok) return answer.json();
    const { status } = answer;
    throw Object.assign(new Error(`${new URL(url).pathname} responded with ${status}`), { status });
  }

  get #usesPkce(): boolean {
    return this.provider.pkce !== false;
  }

  #tokenEndpoint(read = async (answer: Response) => answer): Promise<Configuration> {
    return this.configuration(async (...request) =>
      read(await toStandardResponse(await this.fetch(...request), this.isOidc, this.provider.errorOf)),
    );
  }
}

/**
 * Adds the algorithms of signed userinfo, which many providers do not list, although openid-client needs them to verify its
 * signature. The algorithms of ID tokens are as secure.
 */
function withUserinfoAlgorithms(metadata: ServerMetadata): ServerMetadata {
  const { userinfo_signing_alg_values_supported: listed, id_token_signing_alg_values_supported: ofIdTokens } =
    metadata;
  if (listed !== undefined || !Array.isArray(ofIdTokens)) return metadata;
  // `none` and the algorithms with a shared secret are not verified by the provider's keys.
  const algorithms = ofIdTokens.filter((one) => typeof one === 'string' && !/^(none|HS\d+)$/i.test(one));
  return { ...metadata, userinfo_signing_alg_values_supported: algorithms };
}

function isJwt({ headers }: Response): boolean {
  return /^application\/jwt\b/i.test(headers.get('content-type') ?? '');
}

/** The response to a refresh, without its ID token. */
export interface RefreshResponse extends Omit<SavableResponse, 'response'> {
  readonly response: TokenEndpointResponse;
}

/** An authorization request, apart from the secrets of its flow. */
export interface AuthorizationTarget {
  readonly redirectUri: string;
  readonly purpose: FlowPurpose;
  /** The account that the user probably has at the provider (OpenID Connect Core 1.0, 3.1.2.1). */
  readonly loginHint?: string | undefined;
}

/** Parameters of the flow itself. An app or a provider module that set them could break or weaken the flow. */
export const FLOW_PARAMETERS: ReadonlySet<string> = new Set([
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);

// `max_age` also requests `auth_time`. Some providers support only `prompt` (OpenID Connect Core 1.0, 3.1.2.1).
const REAUTHENTICATION = { max_age: '0', prompt: 'login' };

/** Returns the parameters of an authorization request that depend on the provider and its options. */
function authorizationParameters(
  provider: Provider,
  { purpose, loginHint }: Pick<AuthorizationTarget, 'purpose' | 'loginHint'>,
): Record<string, string> {
  const {
    scopes,
    authorizeParameters,
    parametersFor,
    appParameters,
    loginHintParameter = 'login_hint',
  } = provider;
  const byPurpose =
    parametersFor?.[purpose] ?? (purpose === 'reauthenticate' && isOidc(provider) ? REAUTHENTICATION : {});
  const prompt = combined(authorizeParameters?.prompt, byPurpose.prompt, appParameters?.prompt);
  return {
    ...authorizeParameters,
    ...appParameters,
    ...byPurpose,
    ...(prompt && { prompt }),
    ...(loginHint !== undefined && { [loginHintParameter]: loginHint }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
}

/** Combines prompts into a list. `none` must be the only prompt in a list (OpenID Connect Core 1.0, 3.1.2.1). */
function combined(...prompts: (string | undefined)[]): string {
  const all = new Set(prompts.join(' ').split(' ').filter(Boolean));
  if (all.size > 1) all.delete('none');
  return [...all].join(' ');
}
