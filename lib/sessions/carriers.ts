import { AuthError } from '../errors.js';
import { authenticationBy } from './authenticate.js';
import type { Carrier } from './request.js';
import type { Sessions } from './sessions.js';
import { trimWhitespace } from './whitespace.js';

/** Sessions in a cookie, beside which browsers have a device cookie. */
export function cookieCarrier(sessions: Pick<Sessions, 'find'>, name: string, deviceName: string): Carrier {
  return {
    via: 'cookie',
    carriesSession: true,
    securityScheme: { type: 'apiKey', in: 'cookie', name },
    challenge: `Cookie realm="latchkey", cookie-name="${name}"`,
    authenticate({ headers }) {
      const tokens = cookieValues(headers.cookie, name);
      const [token] = tokens;
      if (token === undefined) return null;
      // Another subdomain can set a second cookie with this name ("cookie tossing"), and they cannot be told apart.
      if (tokens.length > 1) throw new AuthError('invalid_session');
      return authenticationBy(sessions, token, 'cookie');
    },
    sessionTokens: ({ headers }) => cookieValues(headers.cookie, name),
    deviceTokens: ({ headers }) => cookieValues(headers.cookie, deviceName),
  };
}

/**
 * The distinct values of a cookie, read from the header itself: cookie parsers, including `req.cookies`, drop
 * duplicates and convert some values to objects.
 */
export function cookieValues(header: string | undefined, name: string): string[] {
  const values: string[] = [];
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=');
    if (equals <= 0 || trimWhitespace(pair.slice(0, equals)) !== name) continue;
    const value = trimWhitespace(pair.slice(equals + 1));
    if (!values.includes(value)) values.push(value);
  }
  // Some clients send a cleared cookie with an empty value.
  return values.length === 1 && values[0] === '' ? [] : values;
}
