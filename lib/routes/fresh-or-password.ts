import type { z } from 'zod';
import type { Core } from '../core/core.js';
import { passwordsOf } from '../core/passwords.js';
import { AuthError, type AuthErrorCode } from '../errors.js';
import { requireFresh } from '../http/admit.js';
import { text } from '../http/schemas.js';
import type { SessionAuthentication } from '../sessions/request.js';

const FRESH_SECONDS = 600;

/** The field of a body for {@link requireFreshOrPassword}. Without passwords there is none. */
export function passwordShape(core: Core): { password?: z.ZodOptional<z.ZodString> } {
  return passwordsOf(core) ? { password: text(1024).optional() } : {};
}

/** The problems of {@link requireFreshOrPassword}. */
export function passwordProblems(core: Core): readonly AuthErrorCode[] {
  return ['reauthentication_required', ...(passwordsOf(core) ? FAILURES : [])];
}

const FAILURES = ['invalid_credentials', 'rate_limited'] as const;

/**
 * Requires the user's password or, if the request has none, that they signed in or reauthenticated at most ten minutes
 * ago.
 *
 * @param body a body with {@link passwordShape}
 * @throws AuthError `reauthentication_required`, `invalid_credentials`, `rate_limited`
 */
export async function requireFreshOrPassword(
  core: Core,
  auth: SessionAuthentication,
  body: object,
): Promise<void> {
  const { password } = body as { password?: string };
  const passwords = passwordsOf(core);
  if (password === undefined || !passwords) return requireFresh(core, auth, FRESH_SECONDS);
  const record = await core.users.findRecord({ id: auth.user.id });
  if (!record) throw new AuthError('invalid_session');
  await passwords.verify(record, password);
}
