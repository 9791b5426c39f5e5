import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import type { PlainRequest } from '../context/call.js';
import type { Admission } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { type Acting, admitsActing } from '../sessions/acting.js';
import { authenticateWith, cookieValues, isAmbiguous } from '../sessions/carriers.js';
import { ALONGSIDE, type Alongside } from '../sessions/lookup.js';
import { isUnsafe, requireOwnOrigin } from '../sessions/origin.js';
import {
  type Authentication,
  type Carrier,
  isSession,
  type SessionAuthentication,
  type Via,
} from '../sessions/request.js';
import { wereJustReplaced } from '../sessions/sessions.js';
import { requireFresh } from '../sessions/signed-in.js';
import { performance } from '../timers.js';
import { isAboutMissingRow } from '../users/rows.js';
import { beforeHeaders, clearSessionCookie, setsCookie } from './respond.js';

/**
 * Authenticates a request. Returns null if the request presents no credential. Browsers send the cookie automatically,
 * so a request with an unsafe method that the cookie authenticates must come from an allowed origin.
 *
 * @param res the response; without one, plugins can send nothing to the client
 * @param acting the requests that are admitted in an acting session. By default, none
 * @throws AuthError if the credential is invalid or the origin is not allowed; `acting_session`
 */
export async function authenticate(
  core: Core,
  req: PlainRequest,
  res?: ServerResponse,
  acting: Acting = false,
): Promise<Authentication | null> {
  // Most apps do not have a plugin that takes part, so their requests must not wait for an additional promise.
  if (core.afterCarriers.length > 0)
    return admitted(core, await authenticateAlsoByPlugins(core, req, res), req, acting);
  const found = await authenticateWith(core.carriers, req);
  checkOrigin(core, req, found);
  return admitted(core, found, req, acting);
}

/** The only place that decides whether a request is admitted in an acting session. @throws AuthError `acting_session` */
function admitted(
  { languages }: Core,
  found: Authentication | null,
  req: PlainRequest,
  acting: Acting,
): Authentication | null {
  if (found?.actor && !admitsActing(acting, req)) throw new AuthError('acting_session');
  if (found && languages.areMany) languages.readFor(req, found.user);
  return found;
}

/** Lets plugins decide after the carriers: see `Contribution.afterCarriers`. */
async function authenticateAlsoByPlugins(
  core: Core,
  req: PlainRequest,
  res: ServerResponse | undefined,
): Promise<Authentication | null> {
  let found: Admission;
  try {
    found = await authenticateWith(core.carriers, req);
    checkOrigin(core, req, found);
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
    found = error;
  }
  for (const decide of core.afterCarriers) found = await decide(found, req, res);
  if (found instanceof AuthError) throw found;
  checkOrigin(core, req, found);
  return found;
}

/** @throws AuthError `origin_not_allowed` */
function checkOrigin(core: Core, req: PlainRequest, found: Authentication | null): void {
  if (found?.via === 'cookie' && req.method !== undefined && isUnsafe(req.method))
    requireOwnOrigin(req, core.settings);
}

/**
 * Like {@link authenticate}, but ignores an acting session that is not admitted, and an invalid session cookie, which it
 * clears. Browsers send the cookie automatically, so if it were rejected, the user could not even sign in again. Clients
 * send other credentials on purpose.
 */
export async function authenticateIfPossible(
  core: Core,
  req: PlainRequest,
  res: Response,
  acting: Acting = false,
): Promise<Authentication | null> {
  try {
    return await authenticate(core, req, res, acting);
  } catch (error) {
    if (error instanceof AuthError && error.code === 'acting_session') return null;
    if (isAboutMissingRow(error) && presenting(core, req) !== undefined) {
      ignoreIncomplete(core, error);
      return null;
    }
    if (!isOfDeadCookie(core, req, error)) throw error;
  }
  await clearDeadCookie(core, req, res);
  return null;
}

/** Logs that the session of an incomplete account was ignored. Its cookie stays, because the app can add the row. */
function ignoreIncomplete({ settings: { log } }: Core, { cause }: AuthError): void {
  log.error('account.incomplete', 'optionalSession has ignored the session of an incomplete account', {
    err: cause,
  });
}

/** Whether an error says that the session cookie of a request is invalid. */
export function isOfDeadCookie(core: Core, req: PlainRequest, error: unknown): boolean {
  return error instanceof AuthError && error.code === 'invalid_session' && presenting(core, req) === 'cookie';
}

/** Whether a request presents a session, active or not, in another way than by the cookie. */
export function presentsOtherSession(core: Core, req: PlainRequest): boolean {
  return (presenting(core, req) ?? 'cookie') !== 'cookie';
}

/** Returns how a request presents a session. Undefined if it presents none. */
function presenting({ carriers }: Core, req: PlainRequest): Via | undefined {
  return carriers.find((one) => one.sessionTokens(req).length > 0)?.via;
}

/**
 * Authenticates a request with `authenticate`, and asks for other rows in the same statement. If the credential is looked up
 * later, they are not received.
 */
export function readAlongside<T>(
  req: PlainRequest,
  alongside: Alongside,
  authenticate: () => Promise<T>,
): Promise<T> {
  req[ALONGSIDE] = alongside;
  try {
    return authenticate();
  } finally {
    // Other guards of the request, even of another Auth, do not need the rows. Deleting the property would make each later
    // access to the request slower.
    req[ALONGSIDE] = undefined;
  }
}

/** Like {@link authenticate}, but requires a credential. @throws AuthError `unauthenticated` */
export async function requireAuthentication(
  core: Core,
  req: PlainRequest,
  res?: ServerResponse,
  acting: Acting = false,
): Promise<Authentication> {
  const authentication = await authenticate(core, req, res, acting);
  if (!authentication) throw new AuthError('unauthenticated');
  return authentication;
}

/** Like {@link requireAuthentication}, but requires a session. @throws AuthError `session_required` for an API key */
export async function requireOwnSession(
  core: Core,
  req: PlainRequest,
  res: ServerResponse,
  acting: Acting = false,
): Promise<SessionAuthentication> {
  const authentication = await requireAuthentication(core, req, res, acting);
  if (!isSession(authentication)) throw new AuthError('session_required');
  return authentication;
}

/**
 * Like {@link requireOwnSession}, but returns null for a client without an active session, for an acting session that is not
 * admitted, and for the session of an incomplete account.
 */
export async function sessionOrNone(
  core: Core,
  req: PlainRequest,
  res: ServerResponse,
  acting: Acting = false,
): Promise<SessionAuthentication | null> {
  try {
    return await requireOwnSession(core, req, res, acting);
  } catch (error) {
    const hasNone = error instanceof AuthError && HAS_NONE.has(error.code) && !isAmbiguous(error);
    if (!hasNone && !isAboutMissingRow(error)) throw error;
  }
  // Another site must not be able to clear the cookies. It cannot send another credential.
  if (!presentsOtherSession(core, req)) requireOwnOrigin(req, core.settings);
  return null;
}

const HAS_NONE: ReadonlySet<string> = new Set(['unauthenticated', 'invalid_session', 'acting_session']);

/** Whether a request contains the cookie of a pending sign-in, valid or not. */
export function carriesPending(core: Core, { headers }: PlainRequest): boolean {
  const { name } = core.settings.pendingCookie;
  return core.usesPendingCookie && cookieValues(headers.cookie, name).length > 0;
}

/** Requires an administrator's session. @throws AuthError `session_required`, `admin_required` */
export async function requireAdministrator(
  core: Core,
  req: PlainRequest,
  res: ServerResponse,
): Promise<SessionAuthentication> {
  // No acting session is admitted, so that no administrator can act with the rights of another one.
  const authentication = await requireOwnSession(core, req, res);
  // Checked on every request, so that a user who is no longer an administrator loses access immediately.
  if (!core.isAdministrator(authentication.user)) throw new AuthError('admin_required');
  return authentication;
}

/**
 * Requires a session that is fresh.
 *
 * @throws AuthError `session_required` for an API key, `reauthentication_required`
 */
export function requireFreshSession(
  { database }: Core,
  authentication: Authentication,
  seconds: number,
): void {
  if (!isSession(authentication)) throw new AuthError('session_required');
  requireFresh(database, authentication.session, seconds);
}

/**
 * Requires that the session has at least this authenticator assurance level.
 *
 * @throws AuthError `session_required` for an API key, `second_factor_required`
 */
export function requireAal(authentication: Authentication, aal: number): void {
  if (!isSession(authentication)) throw new AuthError('session_required');
  if (authentication.session.aal < aal) throw new AuthError('second_factor_required');
}

/**
 * Requires that a credential with limited scopes has the given scopes. If none are given, the app has not decided which
 * scopes give access, so the credential is rejected. A credential without scopes has all the rights of its user.
 *
 * @throws AuthError `insufficient_scope`, `scope_required`
 */
export function requireScopes(
  { carriers }: Core,
  authentication: Authentication,
  scopes: readonly string[],
): void {
  const granted = scopesOf(carriers, authentication);
  if (scopes.length === 0 && granted?.length) throw new AuthError('scope_required');
  const missing = granted ? scopes.filter((scope) => !granted.includes(scope)) : [];
  if (missing.length === 0) return;
  throw new AuthError('insufficient_scope', {
    detail: `The credential lacks ${missing.length > 1 ? 'the scopes' : 'the scope'} ${missing.join(' ')}: use one that has it.`,
  });
}

/** Whether a credential that has scopes has this one. */
export function isInScopes({ carriers }: Core, authentication: Authentication, scope: string): boolean {
  const granted = scopesOf(carriers, authentication);
  return !granted?.length || granted.includes(scope);
}

function scopesOf(
  carriers: readonly Carrier[],
  authentication: Authentication,
): readonly string[] | undefined {
  return carriers.find(({ via }) => via === authentication.via)?.scopes?.(authentication);
}

// If a response takes longer, such as in long polling, the user might have signed in in the meantime.
const CLEAR_WITHIN_MS = 1000;

/**
 * Clears an invalid session cookie, unless its token was replaced a moment ago or the response is late. In these cases
 * the browser might already have a new cookie, which it would lose.
 */
async function clearDeadCookie(core: Core, req: PlainRequest, res: Response): Promise<void> {
  if (await wereJustReplaced(core.database, core.sessionTokens(req))) return;
  const checked = performance.now();
  beforeHeaders(res, (status) => {
    if (performance.now() - checked > CLEAR_WITHIN_MS) return;
    // A sign-in might have set a new cookie, and an outage (503) must not sign the user out.
    if (status === 503 || setsCookie(res, core.settings.cookie.name)) return;
    clearSessionCookie(core, res);
    // A cache must not clear the cookies of other visitors with this response.
    res.setHeader('Cache-Control', 'no-store');
  });
}
