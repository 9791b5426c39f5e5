import type { PlainRequest } from '../context/call.js';
import {
  type Authentication,
  type Carrier,
  isSession,
  type SessionAuthentication,
} from '../core/authentication.js';
import { AuthError } from '../errors.js';

/**
 * Authenticates a request. The first carrier that finds a credential decides.
 *
 * @returns null if the request carries no credential
 * @throws AuthError if the credential is invalid
 */
export async function authenticateWith(
  carriers: readonly Carrier[],
  request: PlainRequest,
): Promise<Authentication | null> {
  for (const carrier of carriers) {
    const authentication = await carrier.authenticate(request);
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
