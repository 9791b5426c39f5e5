import { bearerToken } from '../../carriers/bearer.js';
import type { Carrier, PlainRequest } from '../../carriers/carrier.js';
import { API_KEY_PREFIX } from '../../crypto/token.js';
import { AuthError } from '../../errors.js';
import type { ApiKeys } from './store.js';

interface Settings {
  readonly header: string;
  readonly acceptBearer: boolean;
  /** Whether a Bearer token can be a session's. */
  readonly bearerIsSession: boolean;
}

const SCHEME = /^apikey(?![\w!#$%&'*+.^`|~-])/i;

/** `X-Service-API-Key: <key>`, `Authorization: ApiKey <key>` and, if wanted, `Authorization: Bearer <key>`. */
export function apiKeyCarrier(keys: ApiKeys, settings: Settings): Carrier {
  return {
    via: 'api-key',
    challenge: 'ApiKey realm="latchkey"',
    securityScheme: { type: 'apiKey', in: 'header', name: settings.header },
    async authenticate(request) {
      const carried = carriedKeys(request, settings);
      const [key] = carried;
      if (key === undefined) return null;
      // Whoever sends two credentials has mixed something up; guessing which one counts would hide it.
      if (carried.size > 1 || carriesSession(request, settings)) throw new AuthError('ambiguous_credentials');
      const found = await keys.find(key);
      if (!found) throw new AuthError('invalid_api_key');
      return { ...found, session: null, via: 'api-key' };
    },
    sessionTokens: () => [],
  };
}

function carriedKeys(
  request: PlainRequest,
  { header, acceptBearer, bearerIsSession }: Settings,
): Set<string> {
  const keys = new Set<string>();
  // Node joins a header that came several times with commas.
  for (const value of [request.headers[header.toLowerCase()] ?? []].flat()) {
    for (const key of value.split(',')) keys.add(key.trim());
  }
  const { authorization = '' } = request.headers;
  if (SCHEME.test(authorization)) keys.add(authorization.replace(SCHEME, '').trim());
  const bearer = acceptBearer ? bearerToken(request) : null;
  if (bearer !== null && (!bearerIsSession || bearer.startsWith(API_KEY_PREFIX))) keys.add(bearer);
  return keys;
}

function carriesSession(request: PlainRequest, { acceptBearer, bearerIsSession }: Settings): boolean {
  const bearer = bearerIsSession ? bearerToken(request) : null;
  return bearer !== null && !(acceptBearer && bearer.startsWith(API_KEY_PREFIX));
}
