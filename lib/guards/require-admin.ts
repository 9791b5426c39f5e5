import type { RequestHandler } from 'express';
import { internalsOf } from '../auth.js';
import { howToNameAdministrators } from '../core/switches.js';
import { requireAal, requireAdministrator } from '../http/admit.js';
import { type AuthOrConfig, guard } from './guards.js';
import { checkAal, type GuardOptions } from './options.js';

/** Options of {@link requireAdmin}. */
export interface RequireAdminOptions extends GuardOptions {
  /**
   * The authenticator assurance level that the session must have. With 2, the administrator must have signed in with two
   * factors or a passkey, or have shown one since. Otherwise they get 403 `second_factor_required` (NIST SP 800-63B-4).
   * @default 1
   */
  aal?: 1 | 2;
}

/**
 * Admits only administrators and sets `req.auth`. Other users get a 403 problem. Works without a mounted router.
 *
 * @example
 * app.get('/ops', requireAdmin(auth), (req, res) => res.send('for administrators'));
 *
 * @throws TypeError if no plugin defines administrators, or on invalid options
 */
export function requireAdmin(auth: AuthOrConfig, options: RequireAdminOptions = {}): RequestHandler {
  const { aal = 1, ...rest } = options;
  if (!internalsOf(auth).core.hasAdministrators) {
    throw new TypeError(
      ['latchkey: requireAdmin requires administrators to be configured', ...howToNameAdministrators()].join(
        ': ',
      ),
    );
  }
  checkAal('requireAdmin', aal);
  return guard('requireAdmin', auth, rest, requireAdministrator, (_core, authentication) => {
    if (aal > 1) requireAal(authentication, aal);
  });
}
