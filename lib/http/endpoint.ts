import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Client } from '../context/call.js';
import type { Authentication } from '../core/authentication.js';
import { plainAddress } from '../core/client-input.js';
import type { Core } from '../core/core.js';
import { DEADLINE_MS } from '../database/database.js';
import { AuthError } from '../errors.js';
import { requireAdministrator, requireAuthentication, requireFresh, requireOwnSession } from './admit.js';
import { readBody, readForm, refuseBody } from './body.js';
import { isUnsafe, requireOwnOrigin } from './origin.js';
import { answerError } from './problem.js';
import { checkParameters, queryOf } from './query.js';
import { respond } from './respond.js';
import type { Access, Call, Reply, Route } from './route.js';

/** The Express handler of a route: authenticates, validates, handles and responds. */
export function endpoint(core: Core, route: Route): RequestHandler {
  return async (req: Request, res: Response, next: NextFunction) => {
    try {
      protect(res);
      const work = () => handle(core, route, req, res);
      respond(core, route, await core.context.forRequest(clientOf(core, req), DEADLINE_MS, work), res);
    } catch (error) {
      answerError(core, error, res, next);
    }
  };
}

/** The handler for a known path with an unsupported method. */
export function methodNotAllowed(core: Core, allowed: readonly string[]): RequestHandler {
  return (_req, res, next) => {
    protect(res);
    res.setHeader('Allow', allowed.join(', '));
    answerError(core, new AuthError('method_not_allowed'), res, next);
  };
}

async function handle(core: Core, route: Route, req: Request, res: Response): Promise<Reply> {
  const call: Call<Access, unknown, unknown> = {
    auth: (await admit(core, route, req)) as never,
    query: await readParameters(route, req, res),
    body: await readBodyOf(route, req, res),
    params: req.params as Record<string, string>,
    req,
  };
  return route.handle(call);
}

async function admit(core: Core, route: Route, req: Request): Promise<Authentication | null> {
  const authentication = await authenticationFor(core, route, req);
  if (authentication && route.fresh !== undefined) requireFresh(core, authentication, route.fresh);
  return authentication;
}

async function authenticationFor(core: Core, route: Route, req: Request): Promise<Authentication | null> {
  switch (route.access) {
    case 'public':
      if (isUnsafe(req.method) && !route.fromOtherSites) requireOwnOrigin(req, core.settings);
      return null;
    case 'authenticated':
      return requireAuthentication(core, req);
    case 'session':
      return requireOwnSession(core, req);
    case 'admin':
      return requireAdministrator(core, req);
  }
}

async function readBodyOf(route: Route, req: Request, res: Response): Promise<unknown> {
  if (route.body) return readBody(req, res, route.body);
  if (isUnsafe(req.method) && !route.form) await refuseBody(req, res);
  return undefined;
}

async function readParameters(route: Route, req: Request, res: Response): Promise<unknown> {
  if (route.form) return checkParameters(await readForm(req, res), route.form);
  return route.query ? checkParameters(queryOf(req), route.query) : undefined;
}

function protect(res: Response): void {
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  // The URL of the OAuth callback contains a code and a state.
  res.setHeader('Referrer-Policy', 'no-referrer');
}

function clientOf(core: Core, req: Request): Client {
  if (req.headers['x-forwarded-for'] !== undefined && !req.app.get('trust proxy')) warnOfProxy(core);
  // `req.ip` follows the app's `trust proxy` setting.
  return { ip: plainAddress(req.ip ?? null), userAgent: req.headers['user-agent'] ?? null, request: req };
}

const warned = new WeakSet<Core>();

/** Warns once: behind a proxy that the app does not trust, all clients share the limits of one address. */
function warnOfProxy(core: Core): void {
  if (warned.has(core) || !core.limiter.countsAddresses) return;
  warned.add(core);
  core.settings.logger.warn(
    'latchkey: requests have an X-Forwarded-For header, but the app trusts no proxy, so rate limits count all ' +
      "clients behind a proxy as one. If the app is behind a proxy, set for example app.set('trust proxy', 1)",
  );
}
