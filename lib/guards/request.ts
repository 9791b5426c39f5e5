import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import type { Authentication } from '../sessions/request.js';
import type { Session } from '../tables/core.js';

/**
 * Tells TypeScript which Auth guards requests, so that the fields of its users are known wherever `req.auth` is used.
 *
 * @example
 * declare module 'latchkey' {
 *   interface Register {
 *     auth: typeof auth;
 *   }
 * }
 */
export interface Register extends Record<never, never> {}

/** Who made a request, with the fields of the Auth in {@link Register}. */
export type RequestAuthentication = Register extends {
  auth: { getSession(...given: never[]): Promise<infer Registered> };
}
  ? Registered
  : Authentication;

declare global {
  namespace Express {
    interface Request {
      /**
       * Who made the request. Each of latchkey's guards sets or clears it, so it is the result of the last one. It is
       * undefined on routes without a guard, and after `optionalSession` if the request carries no session.
       */
      auth: RequestAuthentication;
      /** With `user.model`, the app's row of the user, which each of latchkey's guards sets or clears too. */
      user?: User | undefined;
    }

    /** The type of `req.user`. Extend it with your model: `interface User extends AppUser {}`. */
    interface User {}
  }
}

/** A request that a guard may have handled. */
export interface GuardedRequest {
  auth?: Authentication;
}

/**
 * The property of a request with what the last guard has found out, wherever `requestProperty` has put that. All copies
 * of this package in a process share it.
 */
const KNOWN = Symbol.for('latchkey.authentication/1');

/** Sets or clears what handlers see of a request: `req.auth`, and with `user.model` also `req.user`. */
export function setAuthentication(
  { settings: { requestProperty }, users: { rows } }: Core,
  req: object,
  authentication: Authentication | null,
): void {
  const properties = req as Record<string | typeof KNOWN, unknown>;
  properties[KNOWN] = authentication;
  properties[requestProperty] = authentication ?? undefined;
  // Without a model, it is not latchkey's: passport sets it too.
  if (rows) properties.user = (authentication && rows.rowOf(authentication.user)) ?? undefined;
}

function authenticationOf(req: GuardedRequest): Authentication {
  const { [KNOWN]: authentication = req.auth } = req as { [KNOWN]?: Authentication | null };
  if (!authentication?.user) throw new AuthError('unauthenticated');
  return authentication;
}

/**
 * The user that a guard authenticated.
 *
 * @example
 * app.get('/reports', requireSession(auth), (req, res) => res.json({ hello: currentUser(req).email }));
 *
 * @throws AuthError `unauthenticated` (401) on a route without a guard, or if `optionalSession` found no session
 */
export function currentUser(req: GuardedRequest): RequestAuthentication['user'] {
  return authenticationOf(req).user;
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
  const { session } = authenticationOf(req);
  if (session === null) throw new AuthError('session_required');
  return session;
}
