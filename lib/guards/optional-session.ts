import type { RequestHandler } from 'express';
import { authenticate } from '../http/admit.js';
import { type AuthOrConfig, guard } from './guard.js';
import type { GuardOptions } from './options.js';

/**
 * Sets `req.auth` if the request carries a credential, and continues without it otherwise. An invalid or expired one is
 * still refused with 401; use `onError` to continue instead.
 *
 * @example
 * app.get('/', optionalSession(auth), (req, res) => res.send(req.auth ? 'Welcome back' : 'Welcome'));
 */
export function optionalSession(auth: AuthOrConfig, options: GuardOptions = {}): RequestHandler {
  return guard('optionalSession', auth, options, authenticate);
}
