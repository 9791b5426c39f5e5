import type { JWK } from 'openid-client';
import type { AuthorizationServer } from './authorization-server.js';
import { candidateKeys, isAboutKeys } from './openid-errors.js';

export type Claims = Readonly<Record<string, unknown>>;
type Keys = readonly JWK[];

const TTL_MS = 5 * 60 * 1000;
// How long it takes at least until keys that do not fit make us ask for them again.
const RENEWAL_MS = 3000;
const MAX_FUTURE_SECONDS = 300;
const MAX_PAST_SECONDS = 5;

/** The keys that a provider signs with, kept for some minutes. */
export class SigningKeys {
  #kept: { readonly keys: Keys; readonly until: number } | undefined;
  #renewal: Promise<Keys> | undefined;
  #renewableAt = 0;

  /**
   * Verifies an ID token with the kept keys. Where they do not fit, the provider may have changed them: then the same ID
   * token is verified once more, with those that it publishes now.
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

  /** Of many whom these do not fit, one asks and the others wait for it. Null where it is too soon to ask again. */
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

/** The claims of an ID token that one of these keys has signed. No request is sent for it. */
async function verifyIdToken(server: AuthorizationServer, idToken: string, keys: Keys): Promise<Claims> {
  try {
    return checkedClaims(await signedClaims(server, idToken, keys));
  } catch (error) {
    // Keys without ids are no mistake: where several fit, openid-client leaves it to us to try them.
    for (const key of candidateKeys(error)) {
      const claims = await signedClaims(server, idToken, [key]).catch(() => null);
      if (claims) return checkedClaims(claims);
    }
    throw error;
  }
}

// openid-client verifies an ID token only as part of a token endpoint's answer, so it is handed such an answer.
async function signedClaims(server: AuthorizationServer, idToken: string, keys: Keys) {
  const { openid } = server;
  const answer = { access_token: 'none', token_type: 'bearer', id_token: idToken };
  const config = await server.configuration(async () => Response.json(answer));
  // Without this, an ID token is believed by whence it came and its signature is never looked at.
  openid.enableNonRepudiationChecks(config);
  openid.setJwksCache(config, { jwks: { keys: [...keys] }, uat: Math.floor(Date.now() / 1000) });
  return (await openid.refreshTokenGrant(config, 'none')).claims();
}

// What openid-client takes and we do not: an empty subject, a token from the future, and one that ended half a minute ago.
function checkedClaims(claims: Claims | undefined): Claims {
  if (!claims || typeof claims.sub !== 'string' || claims.sub === '')
    throw new Error('the ID token has no subject');
  const now = Date.now() / 1000;
  if (Number(claims.iat) > now + MAX_FUTURE_SECONDS) throw new Error('the ID token is from the future');
  if (Number(claims.exp) < now - MAX_PAST_SECONDS) throw new Error('the ID token has ended');
  return claims;
}
