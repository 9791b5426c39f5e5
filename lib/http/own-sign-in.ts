import type { ServerResponse } from 'node:http';
import type { PlainRequest } from '../context/call.js';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { sessionOf } from '../sessions/carriers.js';
import { isUnsafe, refuseCrossSite, requireOwnOrigin, requireOwnSignIn } from '../sessions/origin.js';
import {
  type ClientInput,
  type RequestLike,
  type TransactionOption,
  toPlainRequest,
} from '../sessions/request.js';
import { type IssuedSession, isPending, type SignedIn } from '../sessions/signed-in.js';
import { carriesPending } from './admit.js';
import { clearPendingCookie, clearSessionCookie, issueSession } from './respond.js';

/** The input of {@link OwnSignIn.createSession}. */
export interface CreateSessionInput extends ClientInput {
  /** Keeps the session when the browser is closed. @default false */
  remember?: boolean;
  /**
   * The time when the user authenticated, according to your own proof. If it was too long ago, routes that require a
   * recent sign-in ask the user to reauthenticate.
   * @default now
   */
  authenticatedAt?: Date | undefined;
}

/** For an app with its own routes for signing in and out. */
export interface OwnSignIn {
  /**
   * Sends a client a session that your code has created, as latchkey's own routes do. Sets the cookies and, with
   * `bearerEnabled`, the header `Set-Auth-Token`, and ends the sessions that the request presents. For a pending
   * sign-in, only sets its cookie. Call it before you send the response.
   *
   * @example
   * app.post('/login', async (req, res) => {
   *   const { email: credential, password } = req.body;
   *   const issued = await auth.credential.signIn({ credential, password, request: req });
   *   await auth.establishSession(req, res, issued);
   *   res.redirect(303, '/');
   * });
   *
   * @throws AuthError `origin_not_allowed` (403) if another site made the browser send the request; this also revokes
   *   the new session
   */
  establishSession(
    req: RequestLike,
    res: ServerResponse,
    issued: SignedIn,
    options?: TransactionOption,
  ): Promise<void>;
  /**
   * Ends the session that a request presents, and clears the cookie. Also ends a pending sign-in. Resolves to whether
   * there was an active session.
   *
   * @throws AuthError `origin_not_allowed` (403) if another site made the browser send the request
   */
  endSession(req: RequestLike, res: ServerResponse, options?: TransactionOption): Promise<boolean>;
  /**
   * Creates a session without a proof, for code that has its own proof, such as the single sign-on of another system.
   * The account's checks apply, such as `requireVerifiedEmail`. If the account has a second factor, the session has
   * `aal: 1` and is not fresh. Send the session to the client with {@link establishSession}.
   *
   * @throws AuthError `user_not_found` (404), the error of a check, such as `email_not_verified` (403), or
   *   `origin_not_allowed` (403) if another site made the browser send `request`
   */
  createSession(userId: string, input?: CreateSessionInput): Promise<IssuedSession>;
  /** Revokes one session of a user, as listed by `listSessions`. Resolves to whether it was active. */
  revokeSessionById(userId: string, sessionId: string, options?: TransactionOption): Promise<boolean>;
}

/** Creates the API for apps that have their own sign-in routes. */
export function ownSignIn(core: Core): OwnSignIn {
  return {
    establishSession: (req, res, issued, options = {}) =>
      core.call('auth.establishSession', options, [], () =>
        establishSession(core, toPlainRequest(req), res, issued),
      ),
    endSession: (req, res, options = {}) =>
      core.call('auth.endSession', options, [], () => endSession(core, toPlainRequest(req), res)),
    createSession: (userId, input) => createSession(core, userId, input),
    revokeSessionById: (userId, sessionId, options = {}) =>
      core.call('auth.revokeSessionById', options, [], () => core.sessions.revoke(userId, sessionId)),
  };
}

async function establishSession(
  core: Core,
  request: PlainRequest,
  res: ServerResponse,
  issued: SignedIn,
): Promise<void> {
  if (!isPending(issued) && typeof issued?.token !== 'string')
    throw new TypeError('latchkey: establishSession: pass the result of signIn or createSession');
  try {
    requireOwnSignIn(request, core.settings);
  } catch (error) {
    // The client does not get the token, so the session is useless.
    if (!isPending(issued)) await core.sessions.revoke(issued.user.id, issued.session.id);
    throw error;
  }
  if (!isPending(issued)) await core.afterSignInOrOut(issued, request, res);
  issueSession(core, isPending(issued) ? issued : await attached(core, request, issued), res);
  res.setHeader('Cache-Control', 'no-store');
}

/**
 * Attaches a session to the request. A session with a device was created for this request, so it is already attached.
 */
async function attached(core: Core, request: PlainRequest, issued: IssuedSession): Promise<IssuedSession> {
  return issued.device === null ? core.forClient({ request }, () => core.signInGate.attach(issued)) : issued;
}

async function endSession(core: Core, request: PlainRequest, res: ServerResponse): Promise<boolean> {
  const found = await sessionOf(core.carriers, request);
  // Check the origin even without a session, because another site must not be able to clear the cookie.
  if (found?.via !== 'bearer') {
    if (isUnsafe(request.method ?? 'POST')) requireOwnOrigin(request, core.settings);
    else refuseCrossSite(request);
  }
  const hasEnded = found
    ? await core.sessions.revoke(found.user.id, found.session.id)
    : await core.endPresented(request);
  const hasEndedOther = found?.via !== 'bearer' && (await core.afterSignInOrOut(null, request, res));
  clearSessionCookie(core, res);
  if (carriesPending(core, request)) {
    await core.forClient({ request }, async () => core.pendings.abandon());
    clearPendingCookie(core, res);
  }
  res.setHeader('Cache-Control', 'no-store');
  return hasEnded || hasEndedOther;
}

async function createSession(
  core: Core,
  userId: string,
  input: CreateSessionInput = {},
): Promise<IssuedSession> {
  const { remember, authenticatedAt } = input;
  if (authenticatedAt !== undefined && !isValidDate(authenticatedAt))
    throw new TypeError('latchkey: authenticatedAt must be a valid Date');
  return core.callByAnyone('auth.createSession', input, ['remember', 'authenticatedAt'], async () => {
    const record = await core.users.require(userId);
    // Otherwise, an administrator who acts as the user could get the user's own session.
    const acting = await core.actingSessions(input.request);
    if (acting.some((one) => one.userId === userId)) throw new AuthError('acting_session');
    const options = { remembered: remember === true, authenticatedAt, withoutSecondFactor: true };
    const signedIn = await core.countSignIn('app', () => core.signIn({ ...record, amr: [] }, options));
    if (isPending(signedIn)) throw new TypeError('a session without proof needs no second factor');
    return signedIn;
  });
}

function isValidDate(value: unknown): boolean {
  return value instanceof Date && !Number.isNaN(value.getTime());
}
