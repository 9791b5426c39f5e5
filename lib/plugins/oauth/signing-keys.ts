import type { JWK } from 'openid-client';
import type { Fetch } from '../../context/bounded-fetch.js';
import type { AuthorizationServer } from './authorization-server.js';
import { candidateKeys, isAboutKeys } from './openid-client.js';
import type { Claims } from './provider.js';
import { isObject } from './token-response.js';

type Keys = readonly JWK[];

const TTL_MS = 5 * 60 * 1000;
// The minimum interval between two fetches that are triggered by keys that do not match.
const RENEWAL_MS = 3000;
const MICROSOFT = 'https://login.microsoftonline.com/';
const MAX_FUTURE_SECONDS = 300;
const MAX_PAST_SECONDS = 5;

/** A provider's signing keys, cached for five minutes. */
export class SigningKeys {
  #cached: { readonly keys: Keys; readonly until: number } | undefined;
  #renewal: Promise<Keys> | undefined;
  #renewableAt = 0;

  /** Fetches the keys unless they are cached, before a request that cannot be repeated. */
  async prepare(server: AuthorizationServer): Promise<void> {
    if (!this.#current) await this.#fetch(server);
  }

  /** Verifies an ID token. @returns its claims */
  verify(idToken: string, server: AuthorizationServer): Promise<Claims> {
    const { iss, tid } = payloadOf(idToken);
    return this.#withKeys(server, async (keys) => {
      const own = keys.filter((key) => signsFor(key, String(iss), String(tid)));
      return checkedClaims(await signedClaims(server, idToken, own));
    });
  }

  /**
   * Fetches userinfo, and verifies its signature if it is signed, which is rare. Null if there is no userinfo endpoint.
   *
   * @param subject the subject that userinfo must have
   */
  async userinfo(server: AuthorizationServer, accessToken: string, subject: string): Promise<Claims | null> {
    if (server.metadata.userinfo_endpoint === undefined) return null;
    let response: Response | undefined;
    const fetchOnce: Fetch = async (...request) => {
      response ??= await server.fetch(...request);
      return response.clone();
    };
    return this.#withKeys(server, async (keys) => {
      const config = await verifyingConfiguration(server, keys, fetchOnce);
      return server.openid.fetchUserInfo(config, accessToken, subject);
    });
  }

  /**
   * Verifies a signature with the cached keys. If they do not match, the provider might have rotated its keys, so
   * they are fetched again and the signature is verified once more.
   */
  async #withKeys<T>(server: AuthorizationServer, verify: (keys: Keys) => Promise<T>): Promise<T> {
    const cached = this.#current;
    if (!cached) return withCandidates(await this.#fetch(server), verify);
    try {
      return await withCandidates(cached, verify);
    } catch (error) {
      const newer = isAboutKeys(error) ? await this.#newerThan(cached, server) : null;
      if (!newer) throw error;
      return withCandidates(newer, verify);
    }
  }

  get #current(): Keys | undefined {
    return this.#cached && this.#cached.until > Date.now() ? this.#cached.keys : undefined;
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

/**
 * Whether a key is allowed to sign tokens of an issuer. Microsoft publishes the keys of all tenants together, each with
 * the issuer that it is for. Without this check, the key of personal accounts could sign for any company.
 *
 * @see https://learn.microsoft.com/entra/identity-platform/access-tokens#validate-the-issuer
 */
function signsFor(key: JWK, iss: string, tid: string): boolean {
  const { issuer } = key as { readonly issuer?: unknown };
  if (typeof issuer !== 'string' || !issuer.startsWith(MICROSOFT)) return true;
  return issuer.replace('{tenantid}', () => tid) === iss;
}

/** Returns the claims of an ID token before anything is verified. Empty if it is malformed, so that no key fits. */
export function payloadOf(idToken: string): Claims {
  try {
    const claims = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
    return isObject(claims) ? claims : {};
  } catch {
    return {};
  }
}

/** Tries each matching key. Keys can lack ids, and if several match, openid-client leaves the choice to its caller. */
async function withCandidates<T>(keys: Keys, verify: (keys: Keys) => Promise<T>): Promise<T> {
  try {
    return await verify(keys);
  } catch (error) {
    for (const key of candidateKeys(error)) {
      const verified = await verify([key]).catch(() => null);
      if (verified) return verified;
    }
    throw error;
  }
}

// openid-client verifies ID tokens only in token responses, so this function constructs a response.
async function signedClaims(server: AuthorizationServer, idToken: string, keys: Keys) {
  const answer = { access_token: 'none', token_type: 'bearer', id_token: idToken };
  const config = await verifyingConfiguration(server, keys, async () => Response.json(answer));
  return (await server.openid.refreshTokenGrant(config, 'none')).claims();
}

/** A configuration that verifies signatures with these keys, and fetches no others. */
async function verifyingConfiguration(server: AuthorizationServer, keys: Keys, fetch: Fetch) {
  const { openid } = server;
  const config = await server.configuration(fetch);
  // By default, openid-client trusts responses over TLS and does not verify signatures.
  openid.enableNonRepudiationChecks(config);
  openid.setJwksCache(config, { jwks: { keys: [...keys] }, uat: Math.floor(Date.now() / 1000) });
  return config;
}

// openid-client lacks these checks: it accepts an empty subject, a future `iat`, and tokens 30 seconds after expiry.
function checkedClaims(claims: Claims | undefined): Claims {
  if (!claims || typeof claims.sub !== 'string' || claims.sub === '')
    throw new Error('the ID token has no subject');
  const now = Date.now() / 1000;
  if (Number(claims.iat) > now + MAX_FUTURE_SECONDS) throw new Error('the ID token was issued in the future');
  if (Number(claims.exp) < now - MAX_PAST_SECONDS) throw new Error('the ID token has expired');
  return claims;
}
