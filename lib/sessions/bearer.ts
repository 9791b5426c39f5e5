import type { PlainRequest } from '../context/call.js';
import { declareVia } from '../core/switches.js';
import { authenticationBy } from './authenticate.js';
import type { Carrier } from './request.js';
import type { Sessions } from './sessions.js';
import { trimWhitespace } from './whitespace.js';

// Matches the scheme as a whole token (RFC 9110, 5.6.2).
const SCHEME = /^bearer(?![\w!#$%&'*+.^`|~-])/i;

declareVia('bearer', 'set bearerEnabled: true');

/** `Authorization: Bearer <session token>` (RFC 6750). */
export function bearerCarrier(sessions: Pick<Sessions, 'find'>): Carrier {
  return {
    via: 'bearer',
    carriesSession: true,
    challenge: 'Bearer realm="latchkey"',
    securityScheme: { type: 'http', scheme: 'bearer' },
    authenticate(request) {
      const token = bearerToken(request);
      return token === null ? null : authenticationBy(sessions, token, 'bearer');
    },
    sessionTokens: (request) => [bearerToken(request) ?? []].flat(),
  };
}

/** The credentials after `Bearer`. Null if the request has another scheme or none. */
export function bearerToken({ headers }: PlainRequest): string | null {
  const value = headers.authorization ?? '';
  return SCHEME.test(value) ? trimWhitespace(value.replace(SCHEME, '')) : null;
}
