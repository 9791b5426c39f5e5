import type { RequestHandler } from 'express';
import { requireAuthentication, requireFresh, requireScopes } from '../http/admit.js';
import { type AuthOrConfig, guard } from './guard.js';
import type { GuardOptions } from './options.js';

/** Options of {@link requireSession}. */
export interface RequireSessionOptions extends GuardOptions {
  /**
   * What an API key must be allowed to do; others get 403 `insufficient_scope`. A session may do all that its user may.
   * @default []
   */
  scopes?: readonly string[];
  /**
   * Demands that the user signed in, or proved again who they are, at most this many seconds ago; for sensitive actions.
   * Others get 403 `reauthentication_required`, and an API key `session_required` (ASVS 5.0, 7.5).
   * @default no such demand
   */
  freshWithin?: number;
}

/**
 * Lets only signed-in users through, and programs with an API key, with `req.auth` set; others get a 401 problem. Works
 * without a mounted router.
 *
 * A request that could change something and is authenticated by the cookie must come from a page of this app or of a
 * trusted origin; others get 403 `origin_not_allowed`.
 *
 * @example
 * app.get('/reports', requireSession(auth), (req, res) => res.json({ hello: req.auth.user.email }));
 */
export function requireSession(auth: AuthOrConfig, options: RequireSessionOptions = {}): RequestHandler {
  const { scopes = [], freshWithin, ...rest } = options;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string')) {
    throw new TypeError("latchkey: requireSession's scopes must be a list of strings");
  }
  if (freshWithin !== undefined && !(freshWithin > 0)) {
    throw new TypeError("latchkey: requireSession's freshWithin must be a number of seconds");
  }
  return guard('requireSession', auth, rest, requireAuthentication, (core, authentication) => {
    requireScopes(core, authentication, scopes);
    if (freshWithin !== undefined) requireFresh(core, authentication, freshWithin);
  });
}
