import { AuthError } from '../errors.js';
import type { Sessions } from '../sessions.js';
import type { Carrier, PlainRequest } from './carrier.js';

// The first word of the header (a token of RFC 9110, 5.6.2) is Bearer, whatever comes behind it.
const SCHEME = /^bearer(?![\w!#$%&'*+.^`|~-])/i;

/** `Authorization: Bearer <session token>` (RFC 6750). */
export function bearerCarrier(sessions: Sessions): Carrier {
  return {
    via: 'bearer',
    challenge: 'Bearer realm="latchkey"',
    securityScheme: { type: 'http', scheme: 'bearer' },
    async authenticate(request) {
      const token = bearerToken(request);
      if (token === null) return null;
      const found = await sessions.find(token);
      if (!found) throw new AuthError('invalid_session');
      return { ...found, apiKey: null, via: 'bearer' };
    },
    sessionTokens: (request) => [bearerToken(request) ?? []].flat(),
  };
}

/** What stands behind `Bearer`; null where the request has another scheme or none. */
export function bearerToken({ headers }: PlainRequest): string | null {
  const value = headers.authorization ?? '';
  return SCHEME.test(value) ? value.replace(SCHEME, '').trim() : null;
}
