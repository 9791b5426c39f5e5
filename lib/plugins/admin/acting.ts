import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import { covers } from '../../permissions.js';
import type { SessionAuthentication } from '../../sessions/request.js';
import type { IssuedSession } from '../../sessions/signed-in.js';
import { actingNotices } from './declarations.js';

/** An acting session to start. */
export interface NewActing {
  /** The administrator's note. */
  readonly reason: string;
  /** How long it lasts. */
  readonly minutes: number;
}

/**
 * Makes an administrator act as a user: an acting session replaces the administrator's session. The rows of both users are
 * locked already: see `underAuthority`.
 *
 * @throws AuthError the problems of the route
 */
export function act(
  core: Core,
  { user: { id: adminId }, session }: SessionAuthentication,
  id: string,
  { reason, minutes }: NewActing,
): Promise<IssuedSession> {
  const { database, users, events, notices } = core;
  return database.transaction(async (transaction) => {
    const [admin, target] = [await users.lock(adminId, transaction), await users.lock(id, transaction)];
    if (!admin) throw new AuthError('invalid_session');
    if (!target || !(await users.isPresent(target))) throw new AuthError('user_not_found');
    const { user } = target;
    if (user.id === adminId) throw new AuthError('own_account');
    if (core.isAdministrator(user)) throw new AuthError('target_is_administrator');
    if (!covers(core.permissionsOf(admin.user), core.permissionsOf(user)))
      throw new AuthError('permission_required');
    core.checkAccount(target.account);
    const actor = { userId: adminId, sessionId: session.id };
    const issued = await core.signInGate.beginActing({ user: target, actor, minutes }, transaction);
    const { id: sessionId, expiresAt } = issued.session;
    events.emit(
      'admin.acting_started',
      { userId: user.id, adminId, sessionId, reason, expiresAt },
      transaction,
    );
    await notices.plain(actingNotices['administrator-acted'], user, transaction, { byApp: true });
    return issued;
  });
}
