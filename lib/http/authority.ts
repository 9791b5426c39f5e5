import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { isUnsafe } from '../sessions/origin.js';
import type { SessionAuthentication } from '../sessions/request.js';
import type { UserRecord } from '../users/record.js';
import type { Call, Route } from './route.js';
import { requireRecent } from './sensitive.js';

/**
 * Handles a call of an administrator's route. If it can change something, each of its transactions first locks the
 * administrator and the user whom the path names, and checks again whether the administrator is allowed to call the
 * route. Without this, a request whose body arrives slowly would be handled with rights that have ended in the meantime.
 *
 * @throws AuthError the problem that the next request would get; `target_is_administrator` if the config names the user,
 *   but not the administrator
 */
export function underAuthority<T>(
  core: Core,
  route: Route,
  { auth, params, req }: Call<'admin', unknown, unknown>,
  work: () => Promise<T>,
): Promise<T> {
  if (!isUnsafe(req.method)) return work();
  const { id: targetId = auth.user.id } = params;
  // Administrators who change each other at the same time must lock in the same order.
  const ids = [...new Set([auth.user.id, targetId])].sort();
  return core.context.checking(async (transaction) => {
    let own: UserRecord | null = null;
    let target: UserRecord | null = null;
    for (const id of ids) {
      const record = await core.users.lock(id, transaction);
      if (id === auth.user.id) own = record;
      else target = record;
    }
    const session = own && (await core.sessions.stillOpen(auth.session.id, own.authEpoch, transaction));
    if (!own || !session) throw new AuthError('invalid_session');
    core.checkAccount(own.account);
    if (!core.isAdministrator(own.user)) throw new AuthError('admin_required');
    const still: SessionAuthentication = { ...auth, user: own.account, session };
    requireRecent(core, route, core.tasks.admit(still, route.openTo));
    // Otherwise, a user who got a role could remove the people who run the app.
    const isProtected = target !== null && core.isNamedAdministrator(target.user);
    if (isProtected && !core.isNamedAdministrator(own.user)) throw new AuthError('target_is_administrator');
  }, work);
}
