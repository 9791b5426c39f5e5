import { createPool } from 'mysql2/promise';
import { SECRET } from '../support/people.mjs';

/**
 * better-auth on MySQL, with its defaults.
 *
 * @param {string} url
 * @param {string} mode `plain`, `joins` for one query instead of two, or `cookie-cache` for none, which is stale for as
 *   long as the cookie lives
 */
export function betterAuthOptions(url, mode) {
  const pool = createPool({ uri: url, connectionLimit: 10, timezone: 'Z' });
  const options = {
    database: pool,
    secret: SECRET,
    baseURL: 'http://127.0.0.1',
    emailAndPassword: { enabled: true },
    telemetry: { enabled: false },
    // A day, so that the cookies of the load stay valid; the default is five minutes.
    ...(mode === 'cookie-cache' && { session: { cookieCache: { enabled: true, maxAge: 86_400 } } }),
    ...(mode === 'joins' && { advanced: { database: { joins: true } } }),
  };
  return { pool, options };
}
