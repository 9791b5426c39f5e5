import type { RequestHandler } from 'express';
import { internalsOf } from '../auth.js';
import { requireAdministrator } from '../http/admit.js';
import { type AuthOrConfig, guard } from './guard.js';
import type { GuardOptions } from './options.js';

/**
 * Lets only administrators through, with `req.auth` set; the signed-in others get a 403 problem. Needs no router
 * mounted.
 *
 * @throws TypeError without the `admin` plugin, which says who is an administrator
 */
export function requireAdmin(auth: AuthOrConfig, options: GuardOptions = {}): RequestHandler {
  if (!internalsOf(auth).core.isAdministrator) {
    throw new TypeError(
      'latchkey: requireAdmin needs the admin plugin: add admin({ adminUserIds: […] }) to plugins',
    );
  }
  return guard('requireAdmin', auth, options, requireAdministrator);
}
