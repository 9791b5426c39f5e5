import type { RequestHandler } from 'express';
import { internalsOf } from '../auth.js';
import { howToNameAdministrators } from '../core/switches.js';
import { requireAdministrator } from '../http/admit.js';
import { type AuthOrConfig, guard } from './guard.js';
import type { GuardOptions } from './options.js';

/**
 * Admits only administrators and sets `req.auth`. Other users get a 403 problem. Works without a mounted router.
 *
 * @example
 * app.get('/ops', requireAdmin(auth), (req, res) => res.send('for administrators'));
 *
 * @throws TypeError if no plugin defines administrators
 */
export function requireAdmin(auth: AuthOrConfig, options: GuardOptions = {}): RequestHandler {
  if (!internalsOf(auth).core.hasAdministrators) {
    throw new TypeError(
      ['latchkey: requireAdmin requires administrators to be configured', ...howToNameAdministrators()].join(
        ': ',
      ),
    );
  }
  return guard('requireAdmin', auth, options, requireAdministrator);
}
