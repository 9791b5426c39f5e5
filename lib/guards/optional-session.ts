import type { RequestHandler } from 'express';
import { identify } from '../http/admit.js';
import { type AuthOrConfig, guard } from './guard.js';
import type { GuardOptions } from './options.js';

/**
 * Sets `req.auth` where the request carries a session, and goes on without where it carries none. A session that has
 * ended is refused like anywhere else, with 401: `onError` can go on instead.
 */
export function optionalSession(auth: AuthOrConfig, options: GuardOptions = {}): RequestHandler {
  return guard('optionalSession', auth, options, identify);
}
