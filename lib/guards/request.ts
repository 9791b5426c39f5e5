import type { RequestMembership } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { processWide } from '../process-wide.js';
import type { Authentication } from '../sessions/request.js';
import type { Session } from '../tables/core.js';

/**
 * Declares which Auth guards requests, so that TypeScript knows the fields of its users wherever `req.auth` is used. With
 * `strict: true`, `req.auth` can be undefined for TypeScript, as it is on a route without a guard. `currentUser(req)` and
 * `currentSession(req)` stay as they are.
 *
 * @example
 * declare module 'latchkey' {
 *   interface Register {
 *     auth: typeof auth;
 *     strict: true;
 *   }
 * }
 */
export interface Register extends Record<never, never> {}

/**
 * The authentication of a request, with the fields of the Auth in {@link Register}. `organization` and `membership` are set
 * behind `requireMember` only. TypeScript checks that with `strict: true` in {@link Register}.
 */
export type RequestAuthentication = (Register extends {
  auth: { getSession(...given: never[]): Promise<infer Registered> };
}
  ? Registered
  : Authentication) &
  (Register extends { strict: true } ? Partial<RequestMembership> : RequestMembership);

/** The authentication that a guard has found. */
export type GuardedAuthentication = Authentication & Partial<RequestMembership>;

declare global {
  namespace Express {
    interface Request {
      /**
       * The user who made the request. Each of latchkey's guards sets or clears it, so it is the result of the last
       * guard. It is undefined on routes without a guard, and after `optionalSession` if the request presents no
       * session. TypeScript checks that only with `strict: true` in {@link Register}.
       */
      auth: Register extends { strict: true } ? RequestAuthentication | undefined : RequestAuthentication;
      /** The app's row of the user, if `user.model` is set. Each of latchkey's guards sets or clears it too. */
      user?: User | undefined;
    }

    /** The type of `req.user`. Extend it with your model: `interface User extends AppUser {}`. */
    interface User {}
  }
}

/** A request that a guard might have handled. */
export interface GuardedRequest {
  auth?: Authentication;
}

/**
 * The property of a request that contains the last guard's result, regardless of `requestProperty`. All copies of this
 * package in a process share it.
 */
const KNOWN = Symbol.for('latchkey.authentication/1');

/** Decides whether a request has a permission. */
export type Permits = (permission: string) => boolean;

/** What the last guard of each request permits, by its authentication. Absent if the app has no permissions. */
const permitted = processWide('permits/1', () => new WeakMap<Authentication, Permits>());

/**
 * Sets or clears the properties that handlers see: `req.auth` and, with `user.model`, `req.user`.
 *
 * @param permits decides about {@link permits}. Null if the app has no permissions
 */
export function setAuthentication(
  { settings: { requestProperty }, users: { rows } }: Core,
  req: object,
  authentication: GuardedAuthentication | null,
  permits: Permits | null,
): void {
  const properties = req as Record<string | typeof KNOWN, unknown>;
  properties[KNOWN] = authentication;
  properties[requestProperty] = authentication ?? undefined;
  if (authentication && permits) permitted.set(authentication, permits);
  // Without a model, `req.user` does not belong to latchkey, because other packages such as passport set it.
  if (rows) properties.user = (authentication && rows.rowOf(authentication.user)) ?? undefined;
}

function authenticationOf(req: GuardedRequest): Authentication {
  const authentication = authenticationIn(req);
  if (!authentication?.user) throw new AuthError('unauthenticated');
  return authentication;
}

function authenticationIn(req: GuardedRequest): Authentication | null | undefined {
  const { [KNOWN]: authentication = req.auth } = req as { [KNOWN]?: Authentication | null };
  return authentication;
}

/**
 * Returns the user that a guard authenticated.
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
 * Returns the session that a guard authenticated.
 *
 * @example
 * app.get('/device', requireSession(auth), (req, res) => res.json({ since: currentSession(req).createdAt }));
 *
 * @throws AuthError `unauthenticated` (401) on a route without a guard, or if `optionalSession` found no session;
 *   `session_required` (403) if the request presents an API key
 */
export function currentSession(req: GuardedRequest): Session {
  const { session } = authenticationOf(req);
  if (session === null) throw new AuthError('session_required');
  return session;
}

/**
 * Returns whether the user of a request has a permission. Behind `requireMember`, the role in the organization decides, and
 * otherwise the roles of the user. If the request presents an API key with scopes, the permission must also be one of them.
 * Without a user, the result is false.
 *
 * @example
 * app.get('/posts', requireSession(auth), (req, res) => res.render('posts', { canWrite: permits(req, 'posts:write') }));
 *
 * @throws TypeError if no role names the permission, so that a typing error does not go unnoticed
 */
export function permits(req: GuardedRequest, permission: string): boolean {
  const authentication = authenticationIn(req);
  if (!authentication) return false;
  const decide = permitted.get(authentication);
  if (!decide)
    throw new TypeError('latchkey: permits requires permissions: add roles({ roles: { … } }) to plugins');
  return decide(permission);
}
