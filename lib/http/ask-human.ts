import type { Request } from 'express';
import type { Ahead } from '../context/call.js';
import type { Core } from '../core/core.js';
import type { HumanCheck } from '../human-check/human-check.js';
import { sessionOf } from '../sessions/carriers.js';
import type { Call, Route } from './route.js';

/** The header with the token of the human check. */
export const HUMAN_HEADER = 'Latchkey-Human';

/** The field of a form with the token of the human check. */
export const HUMAN_FIELD = 'human_token';

const DESCRIPTION = 'The token of the human check';

/** Whether a route asks for a person. */
export function asksHuman({ humanCheck }: Core, { asksHuman: name }: Route): boolean {
  return name !== undefined && (humanCheck?.asks(name) ?? false);
}

/** Returns the route with its human check, if the config asks for a person there. */
export function withHumanCheck(core: Core, route: Route): Route {
  const { humanCheck } = core;
  const { asksHuman: name } = route;
  if (!humanCheck || name === undefined || !asksHuman(core, route)) return route;
  return {
    ...route,
    headers: { ...route.headers, [HUMAN_HEADER]: DESCRIPTION },
    formFields: {
      ...route.formFields,
      [HUMAN_FIELD]: `${DESCRIPTION}, in place of the header ${HUMAN_HEADER}`,
    },
    problems: [...(route.problems ?? []), 'human_check_failed'],
    handle: (call) => {
      const { context } = core;
      // Ask only once, because hooks can call latchkey in the middle of the work.
      let asked: Promise<void> | undefined;
      const checkpoint = (ahead: Ahead) => {
        asked ??= ask(core, humanCheck, name, call, ahead);
        return asked;
      };
      return context.forClient({ ...context.client, checkpoint }, () => route.handle(call));
    },
  };
}

async function ask(
  core: Core,
  humanCheck: HumanCheck,
  route: NonNullable<Route['asksHuman']>,
  { req, formFields }: Pick<Call<'public', unknown, unknown>, 'req' | 'formFields'>,
  ahead: Ahead,
): Promise<void> {
  if (route === 'signin/credential' && ahead.isKnownBrowser) return;
  if (!ahead.createsAccount && (await isForItself(core, req, ahead))) return;
  // A client cannot send the header twice with different values: Node joins them, and no token has a comma and a space.
  const header = req.headers[HUMAN_HEADER.toLowerCase()] as string | undefined;
  const token = header ?? formFields?.get(HUMAN_FIELD) ?? null;
  const { ip } = core.context.client;
  await humanCheck.require(token, { request: req, ip: ip ?? null, route, email: ahead.email });
}

/** Whether the request is made in a session of the account that it concerns. */
async function isForItself(core: Core, req: Request, { email, userId }: Ahead): Promise<boolean> {
  const { user } = (await sessionOf(core.carriers, req)) ?? {};
  return user !== undefined && (user.id === userId || (email !== null && user.email === email));
}
