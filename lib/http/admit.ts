import type { Request } from 'express';
import type { Authentication, SessionAuthentication } from '../carriers/carrier.js';
import type { Core } from '../core.js';
import { AuthError } from '../errors.js';
import { isUnsafe, requireOwnOrigin } from './origin.js';

/**
 * Who makes a request, if anybody. A request that could change something and is authenticated by the cookie, which
 * browsers send by themselves, must come from a page of this app.
 *
 * @throws AuthError on a credential that opens nothing, and on a foreign page
 */
export async function identify(core: Core, req: Request): Promise<Authentication | null> {
  const authentication = await core.authenticate(req);
  if (authentication?.via === 'cookie' && isUnsafe(req.method)) requireOwnOrigin(req, core.settings);
  return authentication;
}

/** Like {@link identify}, but nobody is an error too. @throws AuthError `unauthenticated` */
export async function requireIdentity(core: Core, req: Request): Promise<Authentication> {
  const authentication = await identify(core, req);
  if (!authentication) throw new AuthError('unauthenticated');
  return authentication;
}

/** Like {@link requireIdentity}, but a person's own session. @throws AuthError `session_required` for an API key */
export async function requirePerson(core: Core, req: Request): Promise<SessionAuthentication> {
  const authentication = await requireIdentity(core, req);
  if (authentication.session === null) throw new AuthError('session_required');
  return authentication;
}

/** The session of an administrator. @throws AuthError `session_required`, `admin_required` */
export async function requireAdministrator(core: Core, req: Request): Promise<SessionAuthentication> {
  const authentication = await requirePerson(core, req);
  // Asked anew at every request, so that the right is gone the moment it is taken away.
  if (!core.isAdministrator?.(authentication.user)) throw new AuthError('admin_required');
  return authentication;
}
