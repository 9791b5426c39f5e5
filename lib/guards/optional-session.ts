import type { RequestHandler } from 'express';
import { authenticate } from '../http/admit.js';
import { type AuthOrConfig, guard } from './guard.js';
import type { GuardOptions } from './options.js';

/**
 * Sets `req.auth` if the request carries a session, and goes on without it if it carries none. A session that has ended
 * is refused as everywhere else, with 401: `onError` can go on instead.
 *
 * @example
 * app.get('/', optionalSession(auth), (req, res) => res.send(req.auth ? 'Welcome back' : 'Welcome'));
 */
export function optionalSession(auth: AuthOrConfig, options: GuardOptions = {}): RequestHandler {
  return guard('optionalSession', auth, options, authenticate);
}
