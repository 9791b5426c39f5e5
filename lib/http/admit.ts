import type { Request } from 'express';
import type { Authentication, SessionAuthentication } from '../core/authentication.js';
import { type Core, isSession } from '../core/core.js';
import { AuthError } from '../errors.js';
import { isUnsafe, requireOwnOrigin } from './origin.js';

/**
 * Who makes a request, if anybody. A request that could change something and is authenticated by the cookie, which
 * browsers send by themselves, must come from a page of this app.
 *
 * @throws AuthError on a credential that is not valid, and on a foreign page
 */
export async function authenticate(core: Core, req: Request): Promise<Authentication | null> {
  const authentication = await core.authenticate(req);
  if (authentication?.via === 'cookie' && isUnsafe(req.method)) requireOwnOrigin(req, core.settings);
  return authentication;
}

/** Like {@link authenticate}, but somebody must be signed in. @throws AuthError `unauthenticated` */
export async function requireAuthentication(core: Core, req: Request): Promise<Authentication> {
  const authentication = await authenticate(core, req);
  if (!authentication) throw new AuthError('unauthenticated');
  return authentication;
}

/** Like {@link requireAuthentication}, but it must be a session. @throws AuthError `session_required` for an API key */
export async function requireOwnSession(core: Core, req: Request): Promise<SessionAuthentication> {
  const authentication = await requireAuthentication(core, req);
  if (!isSession(authentication)) throw new AuthError('session_required');
  return authentication;
}

/** The session of an administrator. @throws AuthError `session_required`, `admin_required` */
export async function requireAdministrator(core: Core, req: Request): Promise<SessionAuthentication> {
  const authentication = await requireOwnSession(core, req);
  // Checked on every request, so that the right ends the moment it is taken away.
  if (!core.isAdministrator(authentication.user)) throw new AuthError('admin_required');
  return authentication;
}

/**
 * Demands that the user signed in, or proved again who they are, at most so many seconds ago (ASVS 5.0, 7.5).
 *
 * @throws AuthError `session_required` for an API key, `reauthentication_required`
 */
export function requireFresh({ database }: Core, authentication: Authentication, seconds: number): void {
  if (!isSession(authentication)) throw new AuthError('session_required');
  const age = database.clock.now() - authentication.session.authenticatedAt.getTime();
  if (age > seconds * 1000) throw new AuthError('reauthentication_required');
}

/** Demands scopes of a credential that is limited to some. @throws AuthError `insufficient_scope` */
export function requireScopes(
  { carriers }: Core,
  authentication: Authentication,
  scopes: readonly string[],
): void {
  const granted = carriers.find(({ via }) => via === authentication.via)?.scopes?.(authentication);
  if (granted && !scopes.every((scope) => granted.includes(scope))) throw new AuthError('insufficient_scope');
}
