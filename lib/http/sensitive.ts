import * as z from 'zod';
import { proveByPassword } from '../accounts/reauthentication.js';
import type { Core } from '../core/core.js';
import { AuthError, type AuthErrorCode, messageOf } from '../errors.js';
import { say } from '../phrases.js';
import { type Authentication, isSession, type SessionAuthentication } from '../sessions/request.js';
import { FRESH_SECONDS, requireFresh } from '../sessions/signed-in.js';
import { requireAal } from './admit.js';
import { secondFactorProblems } from './present.js';
import { type Route, type Sensitive, text } from './route.js';

/**
 * The only place that decides whether a session can make a sensitive change: see {@link Sensitive}. If the decision
 * depends on the body, it is left to {@link requireRecentOrPassword}.
 *
 * @throws AuthError `session_required`, `second_factor_required`, `reauthentication_required`
 */
export function requireRecent(
  core: Core,
  { access, sensitive }: Route,
  authentication: Authentication | null,
): void {
  if (!sensitive || !authentication || sensitive.asks === 'fresh-or-password') return;
  const { user, session } = owned(authentication);
  const within = sensitive.asks === 'fresh' ? (sensitive.within ?? FRESH_SECONDS) : FRESH_SECONDS;
  core.secondFactors.requireFor(user, session, within);
  if (sensitive.asks === 'fresh') requireFresh(core.database, session, within);
  if (access === 'admin') requireAal(authentication, core.administration.aal);
}

/**
 * Requires the password in the body or a recent sign-in, if the route asks for it. The password allows only this
 * request: it does not make the session fresh. If the account has a second factor, the session must always have been
 * verified with it recently.
 *
 * @returns the body without the password
 * @throws AuthError `second_factor_required`, `reauthentication_required`, `invalid_credentials`, `rate_limited`
 */
export async function requireRecentOrPassword<Body>(
  core: Core,
  { sensitive }: Route,
  authentication: Authentication | null,
  { body, params }: { readonly body: Body; readonly params: Readonly<Record<string, string>> },
): Promise<Body> {
  if (sensitive?.asks !== 'fresh-or-password' || !authentication) return body;
  const { user, session } = owned(authentication);
  // The body is undefined if the route has no body of its own, and there is no field for a password.
  const { password, ...rest } = (body ?? {}) as { password?: string } & Record<string, unknown>;
  const { only } = sensitive;
  if (sensitive.isExempt?.(user.id, params)) return rest as Body;
  if (only && !only.isChange(user, rest[only.field])) {
    // The account might have changed since the session was looked up, and the value would then be a change.
    const { [only.field]: value, ...others } = rest;
    return { ...others, ...(value !== undefined && only.otherwise?.(value)) } as Body;
  }
  core.secondFactors.requireFor(user, session, FRESH_SECONDS);
  if (password === undefined || !core.passwordCheck) requireFresh(core.database, session, FRESH_SECONDS);
  else {
    const record = await core.users.findRecord({ id: user.id });
    if (!record) throw new AuthError('invalid_session');
    await proveByPassword(core, record, password, session);
  }
  return rest as Body;
}

/**
 * Requires again, under the lock of the account, that a session that has passed {@link requireRecentOrPassword} was verified
 * with the second factor, which the account might have got meanwhile.
 *
 * @throws AuthError `second_factor_required`, `reauthentication_required`
 */
export function requireFactorAgain(
  core: Core,
  { sensitive }: Route,
  { user, session }: SessionAuthentication,
  params: Readonly<Record<string, string>>,
): void {
  if (sensitive?.asks !== 'fresh-or-password' || sensitive.isExempt?.(user.id, params)) return;
  if (!sensitive.only) core.secondFactors.requireFor(user, session, FRESH_SECONDS);
}

/** Returns the route with the field for the password, if the route accepts a password. */
export function withPasswordField(core: Core, route: Route): Route {
  const { sensitive } = route;
  if (sensitive?.asks !== 'fresh-or-password' || !core.passwords) return route;
  const body = (route.body ?? z.strictObject({})) as z.ZodObject;
  const extended = body.extend({
    password: text(1024).optional().describe('In place of a recent sign-in'),
  });
  return { ...route, body: sensitive.only ? besideOnly(extended, sensitive.only.field) : extended };
}

function besideOnly(body: z.ZodObject, field: string): z.ZodType {
  return body.refine((given) => given.password === undefined || given[field] !== undefined, {
    path: ['password'],
    error: messageOf(say('only-together', { field })),
  });
}

/** Describes the requirements of {@link requireRecent} and {@link requireRecentOrPassword}, for the OpenAPI document. */
export function asked(core: Core, { access, sensitive }: Route): string[] {
  if (!sensitive) return [];
  const seconds = sensitive.asks === 'fresh' ? (sensitive.within ?? FRESH_SECONDS) : FRESH_SECONDS;
  const recently = `in the last ${Math.ceil(seconds / 60)} minutes`;
  const only = sensitive.asks === 'fresh-or-password' ? sensitive.only : undefined;
  const canUsePassword = sensitive.asks === 'fresh-or-password' && core.passwords !== null;
  const sentences: string[] = [];
  if (sensitive.asks !== 'second-factor') {
    const orPassword = canUsePassword ? ', or the body must contain the password' : '';
    const start = only ? `To change the ${only.field}, the` : 'The';
    sentences.push(`${start} user must have signed in or reauthenticated ${recently}${orPassword}.`);
  }
  if (core.secondFactors.arePossible) {
    const notPassword = canUsePassword ? '; the password is not accepted then' : '';
    const what = only ? 'this also requires a session that was' : 'the session must have been';
    sentences.push(`If the account has a second factor, ${what} verified with it ${recently}${notPassword}.`);
  }
  if (access === 'admin' && core.administration.aal > 1)
    sentences.push('The session must have been verified with a second factor.');
  return sentences;
}

/** The problems of {@link requireRecent} and {@link requireRecentOrPassword}. */
export function sensitiveProblems(core: Core, { access, sensitive }: Route): readonly AuthErrorCode[] {
  if (!sensitive) return [];
  const { asks } = sensitive;
  return [
    ...secondFactorProblems(core),
    ...(asks === 'second-factor' ? [] : (['reauthentication_required'] as const)),
    ...(asks === 'fresh-or-password' && core.passwords ? WRONG_PASSWORD : []),
    ...(access === 'admin' && core.administration.aal > 1 ? (['second_factor_required'] as const) : []),
  ];
}

const WRONG_PASSWORD = ['invalid_credentials', 'rate_limited'] as const;

function owned(authentication: Authentication): SessionAuthentication {
  if (!isSession(authentication)) throw new AuthError('session_required');
  return authentication;
}
