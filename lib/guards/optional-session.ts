import type { RequestHandler } from 'express';
import { authenticateIfPossible } from '../http/admit.js';
import { type AuthOrConfig, guard } from './guards.js';
import type { GuardOptions } from './options.js';

/**
 * Sets `req.auth` if the request carries a credential, and continues without it otherwise. It can be used in front of
 * everything, even of the router.
 *
 * A session cookie that opens nothing (it has ended or was revoked, it is junk, or there are two different ones) counts
 * as none, and the response clears it. It is not cleared if the response sets the cookie itself, as a sign-in does, if
 * its token was replaced in the last minute, or if the response comes more than a second later, since the browser may
 * have a new one by now.
 *
 * An invalid Bearer token or API key is refused with 401, a cookie from another site with 403 if the method is unsafe;
 * use `onError` to continue instead.
 *
 * @example
 * app.use(optionalSession(auth));
 * app.get('/', optionalSession(auth), (req, res) => res.send(req.auth ? 'Welcome back' : 'Welcome'));
 */
export function optionalSession(auth: AuthOrConfig, options: GuardOptions = {}): RequestHandler {
  return guard('optionalSession', auth, options, authenticateIfPossible);
}
