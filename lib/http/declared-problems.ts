import * as z from 'zod';
import type { Core } from '../core/core.js';
import { type AuthErrorCode, statusOf } from '../errors.js';
import { isUnsafe } from '../sessions/origin.js';
import { problemSchema } from './problem.js';
import { type Route, takesForms } from './route.js';
import { sensitiveProblems } from './sensitive.js';

/** The problems that identify routes where users prove who they are, including routes of plugins. */
const WRONG_PROOF_CODES: ReadonlySet<string> = new Set([
  'invalid_credentials',
  'invalid_token',
  'invalid_api_key',
  'invalid_passkey',
  'invalid_code',
]);

/** Returns the codes of the problems that a route can return, sorted, by status. */
export function problemsOf(core: Core, route: Route): Record<string, AuthErrorCode[]> {
  const codes = new Set<AuthErrorCode>(route.problems);
  if (route.access !== 'public') codes.add('invalid_session');
  if (route.access !== 'public' && route.access !== 'session-or-none') {
    codes.add('unauthenticated');
    if (core.sessions.canAct && !route.openToActing) codes.add('acting_session');
  }
  if (route.access === 'admin') codes.add('admin_required');
  // Tasks hold API keys even on routes that are open to sessions with any task.
  const isHeld = route.openTo !== 'any-task' || route.access === 'authenticated';
  if (route.access !== 'public' && isHeld) for (const code of core.tasks.problems) codes.add(code);
  // A credential that is not a session is checked before the route rejects it.
  for (const carrier of core.carriers.filter(({ presentsSession }) => !presentsSession)) {
    if (route.access !== 'public') for (const code of carrier.problems ?? []) codes.add(code);
    if (route.access !== 'public' && route.access !== 'authenticated') codes.add('session_required');
  }
  for (const code of sensitiveProblems(core, route)) codes.add(code);
  if ([...codes].some((code) => WRONG_PROOF_CODES.has(code)))
    for (const { accountProblems = [] } of core.contributions)
      for (const code of accountProblems) codes.add(code);
  if (core.passwords && codes.has('invalid_credentials')) codes.add('new_password_required');
  if (takesForms(core.settings, route)) codes.add('invalid_callback_url');
  // Parameters can be malformed, and so can the transfer of a body.
  const hasBody = isUnsafe(route.method.toUpperCase());
  if (hasBody || route.query || route.path.includes(':')) codes.add('invalid_request');
  if (hasBody) codes.add('body_too_large').add('body_too_slow').add('unsupported_media_type');
  const isOnUser = route.access === 'admin' && route.path.includes('/:id');
  if (hasBody && isOnUser && core.hasAdministratorsByRole) codes.add('target_is_administrator');
  if (hasBody && !route.fromOtherSites) codes.add('origin_not_allowed');
  if (hasBody && !route.formPost) codes.add('validation_failed');
  if (hasBody && !route.formPost && route.forms !== 'only') codes.add('invalid_json');
  codes.add('unavailable');
  const byStatus: Record<string, AuthErrorCode[]> = {};
  for (const code of [...codes].sort())
    byStatus[statusOf(code)] = [...(byStatus[statusOf(code)] ?? []), code];
  return byStatus;
}

/** Returns the schema of a problem that has one of these codes, all of one status. */
export function schemaOfProblems(codes: readonly AuthErrorCode[]): z.ZodType {
  const { errors, missing, task, ...common } = problemSchema.shape;
  return z.object({
    ...common,
    code: z.enum(codes),
    ...(codes.some((code) => statusOf(code) === 422) && { errors: errors.unwrap() }),
    ...(codes.includes('proof_required') && { missing }),
    ...(codes.includes('task_required') && { task }),
  });
}
