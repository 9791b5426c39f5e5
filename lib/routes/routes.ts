import * as z from 'zod';
import type { Core } from '../core/core.js';
import { digestToken } from '../crypto/token.js';
import { requireProblems } from '../errors.js';
import { withHumanCheck } from '../http/ask-human.js';
import { describeApi } from '../http/openapi.js';
import { type CacheableBody, type Route, route, withTwins } from '../http/route.js';
import { withPasswordField } from '../http/sensitive.js';
import { CORE, callOf, type Defined, requireOneOwner } from '../owners.js';
import type { NamedSetup } from '../plugin.js';
import {
  cancelChange,
  canUpdate,
  changeEmail,
  confirmChange,
  deleteMe,
  exportMe,
  listChanges,
  lookUpUndo,
  me,
  undoChange,
  updateMe,
} from './account.js';
import { humanChallenge } from './challenge.js';
import { completeSignIn, secondFactorOptions, sendSignInCode } from './completion.js';
import { forget, listDevices } from './devices.js';
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
 * @throws TypeError if a route has a problem that has not been declared, if the path that the app has chosen for a route
 *   belongs to another route, if two plugins have the same route, or if `humanCheck` names a route that is not enabled
 */
export function allRoutes(
  core: Core,
  plugins: readonly Pick<NamedSetup, 'name' | 'routes'>[],
): readonly Route[] {
  const declared = [
    me(core),
    ...(core.settings.account.delete ? [deleteMe(core)] : []),
    ...(core.settings.account.export ? [exportMe(core)] : []),
    ...(core.settings.account.update && canUpdate(core) ? [updateMe(core)] : []),
    ...(core.mails && core.settings.account.changeEmail
      ? [changeEmail(core), cancelChange(core), confirmChange(core)]
      : []),
    ...(core.notices.isOn ? [undoChange(core), lookUpUndo(core)] : []),
    listChanges(core),
    listDevices(core),
    forget(core),
    signInMethods(core),
    ...(reauthentications(core).length > 0 ? [reauthenticate(core)] : []),
    listSessions(core),
    endSession(core),
    signout(core),
    revokeSessions(core),
    ...stepsOf(core),
    ...(core.challenges && core.humanCheck ? [humanChallenge(core.humanCheck)] : []),
    ...plugins.flatMap((plugin) => (plugin.routes?.() ?? []).map((one) => ({ ...one, plugin: plugin.name }))),
  ];
  const routes = withTwins(
    core.settings,
    declared.map((one) => withHumanCheck(core, withPasswordField(core, one))),
  );
  for (const { method, path, problems = [] } of routes)
    requireProblems(`${method.toUpperCase()} ${path}`, problems);
  // The document includes its own route.
  routes.push(openapi(core, routes));
  for (const chosen of routes.filter(({ chosenBy }) => chosenBy !== undefined))
    requireFreePath(chosen, routes);
  requireOneOwner(routes.map(definitionOf));
  return routes;
}

/** Returns the routes that complete pending sign-ins, if there can be any. */
function stepsOf(core: Core): Route[] {
  if (!core.completion.canWait) return [];
  const challenges = core.completion.methods.flatMap(({ challenge }) => challenge ?? []);
  return [
    completeSignIn(core),
    sendSignInCode(core),
    ...challenges.map((one) => secondFactorOptions(core, one)),
  ];
}

/** @throws TypeError if another route has the path that the app has chosen for this one */
function requireFreePath({ path, chosenBy }: Route, routes: readonly Route[]): void {
  const other = routes.find((one) => one.chosenBy !== chosenBy && matches(one.path, path));
  if (other)
    throw new TypeError(
      `latchkey: ${chosenBy} is the path of ${other.method.toUpperCase()} ${other.path}: choose another path`,
    );
}

function definitionOf({ method, path, plugin }: Route): Defined {
  const owner = plugin === undefined ? CORE : { name: plugin };
  // The names of parameters make no difference.
  return { by: callOf(owner), names: [`the route ${method.toUpperCase()} ${path.replace(/:\w+/g, ':id')}`] };
}

/** Whether a path matches a route in Express, which ignores case. */
function matches(pattern: string, path: string): boolean {
  const [expected, given] = [pattern, path].map((one) => one.toLowerCase().split('/')) as [
    string[],
    string[],
  ];
  return (
    expected.length === given.length &&
    expected.every((segment, index) => segment.startsWith(':') || segment === given[index])
  );
}

/** The route of the OpenAPI document. @param routes all enabled routes, including this one */
export const openapi = (core: Core, routes: readonly Route[]) => {
  // Keep the document for each path at which the app mounts the router. A path with parameters has any number of
  // values, so keep only some.
  const described = new Map<string, CacheableBody>();
  return route({
    method: 'get',
    path: '/openapi.json',
    summary: 'Get the OpenAPI 3.1 document of these routes',
    access: 'public',
    answers: {
      200: { description: 'The document', schema: z.looseObject({ openapi: z.string() }) },
      304: { description: 'The client has it already: see If-None-Match' },
    },
    async handle({ req: { baseUrl } }) {
      const found = described.get(baseUrl) ?? cacheableOf(describeApi(core, routes, baseUrl));
      if (described.size < MAX_DESCRIBED) described.set(baseUrl, found);
      return { status: 200, cacheable: found };
    },
  });
};

const MAX_DESCRIBED = 10;

function cacheableOf(body: unknown): CacheableBody {
  const json = JSON.stringify(body);
  return { json, etag: `"${digestToken(json).toString('base64url')}"` };
}
