import * as z from 'zod';
import type { Core } from '../core/core.js';
import { requireProblems } from '../errors.js';
import { describeApi } from '../http/openapi.js';
import { type Route, route, withTwins } from '../http/route.js';
import { withPasswordField } from '../http/sensitive.js';
import type { PluginParts } from '../plugin.js';
import { canUpdate, changeEmail, confirmChange, deleteMe, me, undoChange, updateMe } from './account.js';
import {
  endSession,
  listSessions,
  reauthenticate,
  reauthentications,
  revokeSessions,
  signInMethods,
  signout,
} from './sessions.js';

/**
 * Returns the routes of the core and the plugins.
 *
 * @throws TypeError if a route has a problem that has not been declared
 */
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
  const complete = routes.map((one) => withPasswordField(core, one));
  for (const { method, path, problems = [] } of complete)
    requireProblems(`${method.toUpperCase()} ${path}`, problems);
  // The document includes its own route.
  complete.push(openapi(core, complete));
  return complete;
}

/** The route of the OpenAPI document. @param routes all enabled routes, including this one */
export const openapi = (core: Core, routes: readonly Route[]) =>
  route({
    method: 'get',
    path: '/openapi.json',
    summary: 'Get the OpenAPI 3.1 document of these routes',
    access: 'public',
    answers: { 200: { description: 'The document', schema: z.looseObject({ openapi: z.string() }) } },
    async handle({ req }) {
      return { status: 200, body: describeApi(core, routes, req.baseUrl) };
    },
  });
