import { AuthError } from '../errors.js';
import type { Sessions } from '../sessions.js';
import type { Carrier } from './carrier.js';

/** The session cookie. */
export function cookieCarrier(sessions: Sessions, name: string): Carrier {
  return {
    via: 'cookie',
    securityScheme: { type: 'apiKey', in: 'cookie', name },
    challenge: `Cookie realm="latchkey", cookie-name="${name}"`,
    async authenticate({ headers }) {
      const [token, ...others] = cookieValues(headers.cookie, name);
      if (token === undefined) return null;
      // A neighbouring subdomain can set a second cookie of this name ("cookie tossing"), and nothing tells which one
      // is ours.
      const found = others.length > 0 ? null : await sessions.find(token);
      if (!found) throw new AuthError('invalid_session');
      return { ...found, apiKey: null, via: 'cookie' };
    },
    sessionTokens: ({ headers }) => cookieValues(headers.cookie, name),
  };
}

/**
 * The different values of one cookie. Read from the header itself, since cookie parsers, `req.cookies` included, keep
 * the first of two and turn some values into objects.
 */
export function cookieValues(header: string | undefined, name: string): string[] {
  const values = new Set<string>();
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals).trim() === name) values.add(pair.slice(equals + 1).trim());
  }
  // An empty value is what some clients keep of a cookie that was cleared.
  return values.size === 1 && values.has('') ? [] : [...values];
}
