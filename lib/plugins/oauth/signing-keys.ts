import type { JWK } from 'openid-client';
import type { AuthorizationServer } from './authorization-server.js';
import { candidateKeys, isAboutKeys } from './openid-errors.js';

export type Claims = Readonly<Record<string, unknown>>;
type Keys = readonly JWK[];

const TTL_MS = 5 * 60 * 1000;
// The shortest time between two fetches because of keys that do not match.
const RENEWAL_MS = 3000;
const MAX_FUTURE_SECONDS = 300;
const MAX_PAST_SECONDS = 5;

/** The keys with which a provider signs, kept for some minutes. */
export class SigningKeys {
  #kept: { readonly keys: Keys; readonly until: number } | undefined;
  #renewal: Promise<Keys> | undefined;
  #renewableAt = 0;

  /**
   * Verifies an ID token with the kept keys. If they do not match, the provider may have rotated them: then the same ID
   * token is verified once more, with those that it currently publishes.
   */
  async verify(idToken: string, server: AuthorizationServer): Promise<Claims> {
    const kept = this.#kept && this.#kept.until > Date.now() ? this.#kept.keys : undefined;
    if (!kept) return verifyIdToken(server, idToken, await this.#fetch(server));
    try {
      return await verifyIdToken(server, idToken, kept);
    } catch (error) {
      const newer = isAboutKeys(error) ? await this.#newerThan(kept, server) : null;
      if (!newer) throw error;
      return verifyIdToken(server, idToken, newer);
    }
  }

  /** Of many calls whose keys do not match, one fetches them and the others wait. Null if it is too soon to do so. */
  async #newerThan(keys: Keys, server: AuthorizationServer): Promise<Keys | null> {
    if (this.#kept?.keys !== keys) return this.#kept?.keys ?? null;
    if (!this.#renewal) {
      if (Date.now() < this.#renewableAt) return null;
      this.#renewableAt = Date.now() + RENEWAL_MS;
      this.#renewal = this.#fetch(server).finally(() => {
        this.#renewal = undefined;
      });
    }
    return this.#renewal;
  }

  async #fetch(server: AuthorizationServer): Promise<Keys> {
    const keys = await server.jwks();
    this.#kept = { keys, until: Date.now() + TTL_MS };
    return keys;
  }
}

/** The claims of an ID token that one of these keys has signed. Sends no request. */
async function verifyIdToken(server: AuthorizationServer, idToken: string, keys: Keys): Promise<Claims> {
  try {
    return checkedClaims(await signedClaims(server, idToken, keys));
  } catch (error) {
    // Keys need no ids: if several could match, openid-client leaves it to its caller to try them.
    for (const key of candidateKeys(error)) {
      const claims = await signedClaims(server, idToken, [key]).catch(() => null);
      if (claims) return checkedClaims(claims);
    }
    throw error;
  }
}

// openid-client verifies an ID token only as part of a token response, so it is given one.
async function signedClaims(server: AuthorizationServer, idToken: string, keys: Keys) {
  const { openid } = server;
  const answer = { access_token: 'none', token_type: 'bearer', id_token: idToken };
  const config = await server.configuration(async () => Response.json(answer));
  // Without this, openid-client trusts the token endpoint and never checks the signature.
  openid.enableNonRepudiationChecks(config);
  openid.setJwksCache(config, { jwks: { keys: [...keys] }, uat: Math.floor(Date.now() / 1000) });
  return (await openid.refreshTokenGrant(config, 'none')).claims();
}

// What openid-client accepts: an empty subject, a token from the future, and one that expired half a minute ago.
function checkedClaims(claims: Claims | undefined): Claims {
  if (!claims || typeof claims.sub !== 'string' || claims.sub === '')
    throw new Error('the ID token has no subject');
  const now = Date.now() / 1000;
  if (Number(claims.iat) > now + MAX_FUTURE_SECONDS) throw new Error('the ID token is from the future');
  if (Number(claims.exp) < now - MAX_PAST_SECONDS) throw new Error('the ID token has expired');
  return claims;
}
