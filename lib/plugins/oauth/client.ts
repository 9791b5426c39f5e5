import type { Logger } from '../../logger.js';
import { Connection } from './connection.js';
import type { Profile, Provider } from './provider.js';
import { endsGrant, isStorable, type TokenSet, toTokenSet } from './token-response.js';

/** Somebody whom a provider has signed in. */
export interface Identity {
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

const MAX_FUTURE_SECONDS = 300;
const MAX_PAST_SECONDS = 5;
const MAX_SUBJECT_LENGTH = 255;

/** Talks to one provider, with the precautions that openid-client leaves to its caller. */
export class ProviderClient {
  readonly #connection: Connection;

  constructor(
    readonly provider: Provider,
    logger: Logger,
  ) {
    this.#connection = new Connection(provider, logger);
  }

  /** Where to send the browser: authorization code, PKCE with S256, state and nonce. */
  authorizationUrl({ state, nonce, codeVerifier }: FlowSecrets, redirectUri: string): Promise<string> {
    const { scopes, authorizeParameters } = this.provider;
    return this.#connection.call(async (client, config) => {
      const url = client.buildAuthorizationUrl(config, {
        ...authorizeParameters,
        redirect_uri: redirectUri,
        ...(scopes.length > 0 && { scope: scopes.join(' ') }),
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
  redeem(answer: URLSearchParams, secrets: FlowSecrets, redirectUri: string): Promise<Identity> {
    const { isOidc } = this.#connection;
    return this.#connection.call(async (client, config, fetchBounded) => {
      const currentUrl = new URL(redirectUri);
      currentUrl.search = answer.toString();
      const response = await client.authorizationCodeGrant(config, currentUrl, {
        expectedState: secrets.state,
        pkceCodeVerifier: secrets.codeVerifier,
        ...(isOidc && { expectedNonce: secrets.nonce, idTokenExpected: true }),
      });
      const claims = isOidc ? checkedClaims(response.claims()) : {};
      const profile = await this.provider.profile({
        claims,
        userinfo: async () => {
          if (config.serverMetadata().userinfo_endpoint === undefined) return null;
          return client.fetchUserInfo(config, response.access_token, String(claims.sub));
        },
        get: async (url) => {
          const headers = { accept: 'application/json', authorization: `Bearer ${response.access_token}` };
          const answer = await fetchBounded(url, { headers });
          if (answer.ok) return answer.json();
          const { status } = answer;
          throw Object.assign(new Error(`${new URL(url).pathname} answered ${status}`), { status });
        },
      });
      return {
        issuer: isOidc ? String(claims.iss) : config.serverMetadata().issuer,
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
    return this.#connection.call(async (client, config) => {
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
}

// What openid-client takes and we do not: an empty subject, a token from the future, and one that ended half a minute ago.
function checkedClaims(claims: Record<string, unknown> | undefined): Record<string, unknown> {
  if (!claims || typeof claims.sub !== 'string' || claims.sub === '')
    throw new Error('the ID token has no subject');
  const now = Date.now() / 1000;
  if (Number(claims.iat) > now + MAX_FUTURE_SECONDS) throw new Error('the ID token is from the future');
  if (Number(claims.exp) < now - MAX_PAST_SECONDS) throw new Error('the ID token has ended');
  return claims;
}

function checkedProfile(profile: Profile): Profile {
  const { subject } = profile;
  if (typeof subject !== 'string' || subject === '' || !isStorable(subject, MAX_SUBJECT_LENGTH)) {
    throw new Error('the provider names no subject that could be stored');
  }
  return profile;
}
