import type { ServerResponse } from 'node:http';
import type { PlainRequest } from '../context/call.js';
import type { Admission } from '../core/contribution.js';
import { AuthError } from '../errors.js';
import { isOfDeadCookie } from '../http/admit.js';
import { beforeHeaders, clearCookie, setSessionCookie, setsCookie } from '../http/respond.js';
import { authenticationOf, inAuthorization } from '../sessions/carriers.js';
import type { Carrier, SessionAuthentication } from '../sessions/request.js';
import type { SessionWithUser } from '../sessions/sessions.js';
import { byCookies, type OldTokenText, type PresentedByCookie, tokensIn } from './presented.js';
import type { Services } from './services.js';
import { hasEndedThere, link } from './side-by-side.js';
import { end, find } from './take-over.js';
import type { ResumedSession } from './taken-over.js';

/** Takes sessions of previous systems into account: see `Contribution.afterCarriers`. */
export async function admit(
  services: Services,
  found: Admission,
  req: PlainRequest,
  res: ServerResponse | undefined,
): Promise<Admission> {
  if (found === null) return res ? authenticateByCookies(services, req, res) : null;
  if (found instanceof AuthError) {
    // latchkey's session might have expired while the user was active in a previous system that is still running.
    const isDead = res && isOfDeadCookie(services.core, req, found);
    return (isDead && (await authenticateByCookies(services, req, res, { onlyLinked: true }))) || found;
  }
  if (found.via === 'bearer' && res) offerToken(services, found, res);
  return found.via === 'cookie' ? besidePrevious(services, found, req, res) : found;
}

/**
 * Authenticates a request without a latchkey credential by a cookie of a previous system, whose session is taken over.
 * The response sets the cookie of the new session. Returns null if no session is taken over.
 *
 * @param options `onlyLinked` leaves out sessions that end in the previous system when they are taken over
 * @throws AuthError like {@link find}
 */
async function authenticateByCookies(
  services: Services,
  req: PlainRequest,
  res: ServerResponse,
  { onlyLinked = false } = {},
): Promise<SessionAuthentication | null> {
  for (const old of byCookies(services, req)) {
    if (onlyLinked && !old.continues) continue;
    const found = await find(services, old, req);
    if (!found) continue;
    offerCookie(services, found.issued, res);
    return authenticationOf(found, 'cookie');
  }
  return null;
}

/**
 * Handles the sessions of previous systems whose cookies a request with a session contains. They end and their cookies
 * are cleared, unless the previous system is still running (`keepOld`). In that case, a session that has ended there
 * also ends here. If the browser has another session there, that session is taken over.
 *
 * @returns the session that the request continues with, or the error of a session that has ended in the previous system
 */
async function besidePrevious(
  services: Services,
  authentication: SessionAuthentication,
  req: PlainRequest,
  res: ServerResponse | undefined,
): Promise<Admission> {
  if (await hasEndedThere(services, req, authentication, true)) {
    const other = res && (await authenticateByCookies(services, req, res, { onlyLinked: true }));
    return other ?? new AuthError('invalid_session');
  }
  if (res)
    for (const old of byCookies(services, req))
      if (!old.continues) await endAndClear(services, old, authentication.session.id, false, res);
  return authentication;
}

/**
 * Ends the sessions of previous systems that a request presents, after the client has signed in or out: see
 * `Contribution.afterSignInOrOut`. Their cookies are cleared, so that no such session is taken over after a sign-out. A
 * session that continues in the previous system (`keepOld`) only ends at a sign-out, or when another user signs in.
 *
 * @param here the client's new session. Null if the client has signed out
 */
export async function afterSignInOrOut(
  services: Services,
  here: SessionWithUser | null,
  req: PlainRequest,
  res: ServerResponse,
): Promise<boolean> {
  const except = here?.session.id ?? null;
  if (here)
    for (const { presented } of tokensIn(services, req))
      if (presented) await end(services, presented, except, false);
  let hasEnded = false;
  for (const old of byCookies(services, req)) {
    if (here && old.continues && (await link(services, old, here, true))) continue;
    hasEnded = (await endAndClear(services, old, except, true, res)) || hasEnded;
  }
  return hasEnded;
}

/** Ends a session of a previous system, and clears its cookie: see {@link end}. */
async function endAndClear(
  services: Services,
  old: PresentedByCookie,
  except: string | null,
  looksAgain: boolean,
  res: ServerResponse,
): Promise<boolean> {
  const wasActive = await end(services, old, except, looksAgain);
  if (wasActive === null) return false;
  const { name } = old.cookie;
  beforeHeaders(res, () => {
    if (setsCookie(res, name)) return;
    clearOldCookie(name, res);
    res.setHeader('Cache-Control', 'no-store');
  });
  return wasActive;
}

/** Makes the browser delete the cookie of a previous system, if it was set for this host with the path `/`. */
function clearOldCookie(name: string, res: ServerResponse): void {
  // Browsers ignore a cookie whose name has such a prefix unless it is Secure (RFC 6265bis, 4.1.3).
  const secure = /^__(Secure|Host)-/i.test(name);
  clearCookie(res, { name, path: '/', sameSite: 'lax', secure });
}

/** Sends a session's cookie to the browser, unless the response sets or clears the session cookie itself. */
function offerCookie({ core }: Services, issued: ResumedSession['issued'], res: ServerResponse): void {
  if (!issued) return;
  beforeHeaders(res, () => {
    if (setsCookie(res, core.settings.cookie.name)) return;
    setSessionCookie(core, issued, res);
    // A cache must not send the session to other visitors.
    res.setHeader('Cache-Control', 'no-store');
  });
}

/** The latchkey tokens that clients can use instead of a previous system's token, by the authentication of the request. */
const offers = new WeakMap<SessionAuthentication, ResumedSession['issued']>();

/**
 * Creates the carrier of tokens of previous systems: see `jwtSessions` in `latchkey/moving-in`. Each token stands for
 * one session, which is created when the token is first seen.
 */
export function oldTokenCarrier(services: Services): Carrier {
  return {
    ...inAuthorization(services.tokenBridges.map(({ scheme }) => scheme)),
    authenticate(req) {
      const tokens = tokensIn(services, req);
      return tokens.length > 0 ? authenticateByTokens(services, tokens, req) : null;
    },
    sessionTokens: (req) => tokensIn(services, req).map(({ token }) => token),
  };
}

/**
 * @throws AuthError `invalid_session` if the token is not valid, its session has ended, or it is not taken over;
 *   `unavailable` if its keys or user cannot be read, because an outage must not sign the user out
 */
async function authenticateByTokens(
  services: Services,
  tokens: readonly OldTokenText[],
  req: PlainRequest,
): Promise<SessionAuthentication> {
  for (const { presented } of tokens) {
    const found = presented && (await find(services, presented, req));
    if (!found) continue;
    const authentication = authenticationOf(found, 'bearer');
    offers.set(authentication, found.issued);
    return authentication;
  }
  throw new AuthError('invalid_session');
}

/** With `bearerEnabled`, sends the session's own token to a client that has presented a token of a previous system. */
function offerToken({ core }: Services, authentication: SessionAuthentication, res: ServerResponse): void {
  const { settings } = core;
  const issued = settings.bearerEnabled ? offers.get(authentication) : undefined;
  if (!issued) return;
  beforeHeaders(res, () => {
    // A sign-in sends another token, and after a sign-out this one is invalid.
    if (res.hasHeader('Set-Auth-Token') || setsCookie(res, settings.cookie.name)) return;
    res.setHeader('Set-Auth-Token', issued.token);
    res.appendHeader('Access-Control-Expose-Headers', 'Set-Auth-Token');
    res.setHeader('Cache-Control', 'no-store');
  });
}
