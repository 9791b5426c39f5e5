import type { RequestHandler } from 'express';
import { AuthError } from '../errors.js';
import { authenticate, requireAal, requireFresh, requireScopes } from '../http/admit.js';
import { type AuthOrConfig, guard } from './guards.js';
import { checkAal, type GuardOptions } from './options.js';

/** Options of {@link requireSession}. */
export interface RequireSessionOptions extends GuardOptions {
  /**
   * The scopes that an API key must have; otherwise it gets 403 `insufficient_scope`. Sessions are not limited by
   * scopes.
   * @default []
   */
  scopes?: readonly string[];
  /**
   * For sensitive actions: the user must have signed in or reauthenticated at most this many seconds ago. Otherwise
   * they get 403 `reauthentication_required`, and an API key gets `session_required` (ASVS 5.0, 7.5).
   * @default no limit
   */
  freshWithin?: number;
  /**
   * For sensitive pages: the authenticator assurance level that the session must have. With 2, the user must have signed in
   * with two factors or a passkey, or have shown one since. Otherwise they get 403 `second_factor_required`, and an API key
   * gets `session_required` (NIST SP 800-63B-4).
   * @default 1
   */
  aal?: 1 | 2;
}

/**
 * Admits only requests with a session or an API key, and sets `req.auth`. Others get a 401 problem. Works without a
 * mounted router.
 *
 * A request with an unsafe method that is authenticated by the cookie must come from this app or a trusted origin.
 * Otherwise it gets 403 `origin_not_allowed`.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * app.get('/reports', requireSession(auth), (req, res) => res.json({ hello: req.auth.user.email }));
 */
export function requireSession(auth: AuthOrConfig, options: RequireSessionOptions = {}): RequestHandler {
  const { scopes = [], freshWithin, aal = 1, ...rest } = options;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string')) {
    throw new TypeError("latchkey: requireSession's scopes must be a list of strings");
  }
  if (freshWithin !== undefined && !(freshWithin > 0)) {
    throw new TypeError("latchkey: requireSession's freshWithin must be a number of seconds");
  }
  checkAal('requireSession', aal);
  return guard('requireSession', auth, rest, authenticate, (core, authentication) => {
    if (!authentication) throw new AuthError('unauthenticated');
    requireScopes(core, authentication, scopes);
    if (aal > 1) requireAal(authentication, aal);
    if (freshWithin !== undefined) requireFresh(core, authentication, freshWithin);
  });
}
