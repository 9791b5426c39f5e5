import type { JWK } from 'openid-client';
import type { AuthorizationServer } from './authorization-server.js';
import { candidateKeys, isAboutKeys } from './openid-errors.js';

export type Claims = Readonly<Record<string, unknown>>;
type Keys = readonly JWK[];

const TTL_MS = 5 * 60 * 1000;
// The minimum interval between two fetches that are triggered by keys that do not match.
const RENEWAL_MS = 3000;
const MAX_FUTURE_SECONDS = 300;
const MAX_PAST_SECONDS = 5;

/** A provider's signing keys, cached for five minutes. */
export class SigningKeys {
  #cached: { readonly keys: Keys; readonly until: number } | undefined;
  #renewal: Promise<Keys> | undefined;
  #renewableAt = 0;

  /**
   * Verifies an ID token with the cached keys. If they do not match, the provider may have rotated them, so the token
   * is verified once more with newly fetched keys.
   */
  async verify(idToken: string, server: AuthorizationServer): Promise<Claims> {
    const cached = this.#cached && this.#cached.until > Date.now() ? this.#cached.keys : undefined;
    if (!cached) return verifyIdToken(server, idToken, await this.#fetch(server));
    try {
      return await verifyIdToken(server, idToken, cached);
    } catch (error) {
      const newer = isAboutKeys(error) ? await this.#newerThan(cached, server) : null;
      if (!newer) throw error;
      return verifyIdToken(server, idToken, newer);
    }
  }

  /** Fetches the keys again; concurrent calls share one request. Null if the last such fetch was too recent. */
  async #newerThan(keys: Keys, server: AuthorizationServer): Promise<Keys | null> {
    if (this.#cached?.keys !== keys) return this.#cached?.keys ?? null;
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
    this.#cached = { keys, until: Date.now() + TTL_MS };
    return keys;
  }
}

/** Verifies an ID token with these keys. Sends no request. @returns its claims */
async function verifyIdToken(server: AuthorizationServer, idToken: string, keys: Keys): Promise<Claims> {
  try {
    return checkedClaims(await signedClaims(server, idToken, keys));
  } catch (error) {
    // Keys may lack ids. If several keys match, openid-client leaves trying them to the caller.
    for (const key of candidateKeys(error)) {
      const claims = await signedClaims(server, idToken, [key]).catch(() => null);
      if (claims) return checkedClaims(claims);
    }
    throw error;
  }
}

// openid-client verifies ID tokens only in token responses, so one is constructed.
async function signedClaims(server: AuthorizationServer, idToken: string, keys: Keys) {
  const { openid } = server;
  const answer = { access_token: 'none', token_type: 'bearer', id_token: idToken };
  const config = await server.configuration(async () => Response.json(answer));
  // Without this, openid-client trusts the token endpoint and does not verify the signature.
  openid.enableNonRepudiationChecks(config);
  openid.setJwksCache(config, { jwks: { keys: [...keys] }, uat: Math.floor(Date.now() / 1000) });
  return (await openid.refreshTokenGrant(config, 'none')).claims();
}

// Checks that openid-client lacks: it accepts an empty subject, a future `iat`, and tokens that expired 30 seconds ago.
function checkedClaims(claims: Claims | undefined): Claims {
  if (!claims || typeof claims.sub !== 'string' || claims.sub === '')
    throw new Error('the ID token has no subject');
  const now = Date.now() / 1000;
  if (Number(claims.iat) > now + MAX_FUTURE_SECONDS) throw new Error('the ID token was issued in the future');
  if (Number(claims.exp) < now - MAX_PAST_SECONDS) throw new Error('the ID token has expired');
  return claims;
}
