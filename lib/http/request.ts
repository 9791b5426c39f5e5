import type { Authentication } from '../carriers/carrier.js';
import { AuthError } from '../errors.js';
import type { Session } from '../models/session.js';
import type { User } from '../models/user.js';

declare global {
  namespace Express {
    interface Request {
      /**
       * Who makes the request. Set by latchkey's guards: on a route without one it is not there, nor behind
       * `optionalSession` where nobody is signed in.
       */
      auth: Authentication;
    }
  }
}

interface GuardedRequest {
  auth?: Authentication;
}

/**
 * The user that a guard found.
 *
 * @throws AuthError `unauthenticated` (401) on a route without a guard, or where an optional one found nobody
 */
export function currentUser(req: GuardedRequest): User {
  if (!req.auth) throw new AuthError('unauthenticated');
  return req.auth.user;
}

/**
 * The session that a guard found.
 *
 * @throws AuthError `unauthenticated` (401) on a route without a guard, or where an optional one found nobody;
 *   `session_required` (403) where the request came with an API key
 */
export function currentSession(req: GuardedRequest): Session {
  if (!req.auth) throw new AuthError('unauthenticated');
  if (req.auth.session === null) throw new AuthError('session_required');
  return req.auth.session;
}
