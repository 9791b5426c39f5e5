import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { isUnsafe } from '../sessions/origin.js';
import type { SessionAuthentication } from '../sessions/request.js';
import type { UserRecord } from '../users/record.js';
import type { Access, Call, Route } from './route.js';
import { requireFactorAgain, requireRecent } from './sensitive.js';

/**
 * Handles a call. If it can change something with rights beyond those of a session, such as an administrator's, each of its
 * transactions first locks the caller and the other users whom the call is about, and checks again whether the session is
 * active and the caller can still make the call. Without this, a request whose body arrives slowly would be handled with
 * rights that have ended in the meantime.
 *
 * @throws AuthError the problem that the next request would get; `target_is_administrator` if the config names the user of
 *   an administrators' route, but not the administrator
 */
export function underAuthority<T>(
  core: Core,
  route: Route,
  { auth: caller, params, req }: Call<Access, unknown, unknown>,
  work: () => Promise<T>,
): Promise<T> {
  const others = othersOf(route, params);
  if (others === null || !caller || !isUnsafe(req.method)) return work();
  // Rights beyond those of a session are never those of an API key.
  const auth = caller as SessionAuthentication;
  // Users who change each other at the same time must lock in the same order.
  const ids = [...new Set([auth.user.id, ...others])].sort();
  return core.context.checking(async (transaction) => {
    const records = new Map<string, UserRecord | null>();
    for (const id of ids) records.set(id, await core.users.lock(id, transaction));
    const own = records.get(auth.user.id) ?? null;
    const session = own && (await core.sessions.stillOpen(auth.session.id, own.authEpoch, transaction));
    if (!own || !session) throw new AuthError('invalid_session');
    core.checkAccount(own.account);
    const isAdministrators = route.access === 'admin';
    if (isAdministrators && !core.isAdministrator(own.user)) throw new AuthError('admin_required');
    const still: SessionAuthentication = { ...auth, user: own.account, session };
    const admitted = core.tasks.admit(still, route.openTo);
    requireRecent(core, route, admitted);
    requireFactorAgain(core, route, admitted, params);
    if (isAdministrators && !core.isNamedAdministrator(own.user)) protectNamed(core, others, records);
  }, work);
}

/** Returns the other users whom a call is about. Null if a session alone can make it. */
function othersOf(route: Route, params: Readonly<Record<string, string>>): readonly string[] | null {
  if (route.access === 'admin') return params.id === undefined ? [] : [params.id];
  return route.locks?.(params) ?? null;
}

/**
 * Otherwise, a user who got a role could remove the people who run the app.
 *
 * @throws AuthError `target_is_administrator`
 */
function protectNamed(
  core: Core,
  others: readonly string[],
  records: ReadonlyMap<string, UserRecord | null>,
): void {
  for (const id of others) {
    const target = records.get(id);
    if (target && core.isNamedAdministrator(target.user)) throw new AuthError('target_is_administrator');
  }
}
