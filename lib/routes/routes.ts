import type { Core } from '../core/core.js';
import { type Route, withTwins } from '../http/route.js';
import type { PluginParts } from '../plugin.js';
import { canUpdate, deleteMe, me, updateMe } from './account.js';
import { changeEmail } from './email-changes.js';
import { confirmChange } from './email-changes-confirm.js';
import { openapi } from './openapi.js';
import { reauthenticate, reauthentications } from './reauthenticate.js';
import { revokeSessions } from './revoke-sessions.js';
import { endSession, listSessions } from './sessions.js';
import { signInMethods } from './sign-in-methods.js';
import { signout } from './signout.js';
import { undoChange } from './undo-change.js';

/** The core's routes and those of plugins. */
export function allRoutes(core: Core, plugins: readonly Pick<PluginParts, 'routes'>[]): readonly Route[] {
  const routes = withTwins(core.settings, [
    me(core),
    ...(core.settings.account.delete ? [deleteMe(core)] : []),
    ...(core.settings.account.update && canUpdate(core) ? [updateMe(core)] : []),
    ...(core.mails && core.settings.account.changeEmail ? [changeEmail(core), confirmChange(core)] : []),
    ...(core.notices.isOn ? [undoChange(core)] : []),
    signInMethods(core),
    ...(reauthentications(core).length > 0 ? [reauthenticate(core)] : []),
    listSessions(core),
    endSession(core),
    signout(core),
    revokeSessions(core),
    ...plugins.flatMap((plugin) => plugin.routes?.() ?? []),
  ]);
  // The document includes its own route.
  routes.push(openapi(core, routes));
  return routes;
}
