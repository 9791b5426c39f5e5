import type { PlainRequest } from '../context/call.js';
import { AuthError } from '../errors.js';
import { type Authentication, type Carrier, isSession, type SessionAuthentication } from './request.js';
import type { Sessions } from './sessions.js';

/**
 * Authenticates a request. The first carrier that finds a credential decides.
 *
 * @returns null if the request carries no credential
 * @throws AuthError if the credential is invalid
 */
export function authenticateWith(
  carriers: readonly Carrier[],
  request: PlainRequest,
): Promise<Authentication> | null {
  for (const carrier of carriers) {
    const authentication = carrier.authenticate(request);
    if (authentication) return authentication;
  }
  return null;
}

/** The active session that a request carries. Null if there is none, or if it has ended. */
export async function sessionOf(
  carriers: readonly Carrier[],
  request: PlainRequest,
): Promise<SessionAuthentication | null> {
  try {
    const authentication = await authenticateWith(carriers, request);
    return authentication && isSession(authentication) ? authentication : null;
  } catch (error) {
    if (error instanceof AuthError && error.status === 401) return null;
    throw error;
  }
}

/** Authenticates by a session's token. @throws AuthError `invalid_session` */
export async function authenticationBy(
  sessions: Pick<Sessions, 'find'>,
  token: string,
  via: SessionAuthentication['via'],
): Promise<SessionAuthentication> {
  const found = await sessions.find(token);
  if (!found) throw new AuthError('invalid_session');
  return { user: found.user, session: found.session, apiKey: null, via };
}
