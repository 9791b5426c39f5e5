import type { Authentication } from '../core/authentication.js';
import { AuthError } from '../errors.js';
import type { Session } from '../models/session.js';
import type { User } from '../models/user.js';

declare global {
  namespace Express {
    interface Request {
      /**
       * Who made the request. Each of latchkey's guards sets or clears it, so it is the result of the last one. It is
       * undefined on routes without a guard, and after `optionalSession` if the request carries no session.
       */
      auth: Authentication;
    }
  }
}

interface GuardedRequest {
  auth?: Authentication;
}

/**
 * The user that a guard authenticated.
 *
 * @example
 * app.get('/reports', requireSession(auth), (req, res) => res.json({ hello: currentUser(req).email }));
 *
 * @throws AuthError `unauthenticated` (401) on a route without a guard, or if `optionalSession` found no session
 */
export function currentUser(req: GuardedRequest): User {
  if (!req.auth) throw new AuthError('unauthenticated');
  return req.auth.user;
}

/**
 * The session that a guard authenticated.
 *
 * @example
 * app.get('/device', requireSession(auth), (req, res) => res.json({ since: currentSession(req).createdAt }));
 *
 * @throws AuthError `unauthenticated` (401) on a route without a guard, or if `optionalSession` found no session;
 *   `session_required` (403) if the request carries an API key
 */
export function currentSession(req: GuardedRequest): Session {
  if (!req.auth) throw new AuthError('unauthenticated');
  if (req.auth.session === null) throw new AuthError('session_required');
  return req.auth.session;
}
