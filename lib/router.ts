import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express';
import { internalsOf } from './auth.js';
import { DEFAULT_BASE_PATH } from './config/config.js';
import type { MountingApp } from './core/base-path.js';
import type { Core } from './core/core.js';
import { AuthError } from './errors.js';
import type { AuthOrConfig } from './guards/guards.js';
import { marked } from './guards/marks.js';
import { endpoint, methodNotAllowed } from './http/endpoint.js';
import { nameRoute } from './http/name-route.js';
import { answerError, forExpress } from './http/problem.js';
import type { Route } from './http/route.js';

/**
 * Creates an Express router with all routes. If it is mounted at a path, the routes are below that path; if it is
 * mounted at the root, they are below `httpBasePath`. Requests for other paths are passed on to the app.
 *
 * @example
 * app.use('/auth', authRouter(auth));
 */
export function authRouter(authOrConfig: AuthOrConfig): Router {
  const { core, routes, handlers, wellKnown } = internalsOf(authOrConfig);
  core.basePath.reportGuesses();
  const table = express.Router();
  if (!core.languages.isEnglish) table.use(whenLoaded(core));
  for (const handler of handlers()) table.use(handler);
  table.use(routeTable(core, routes()), undecodable(core));
  // Only a request shows the whole mount path, whatever the router is mounted in.
  const byPrefix = new Map<string, Router>();
  const router = express.Router({ mergeParams: true }).use((req, res, next) => {
    const leadsTo = WELL_KNOWN.exec(req.baseUrl + req.path)?.[1];
    const known = core.settings.publicPath === '' && leadsTo ? wellKnown.get(leadsTo) : undefined;
    if (known) {
      res.statusCode = 302;
      res.setHeader('Location', known());
      res.end();
      return;
    }
    const prefix = prefixBelow(req.baseUrl, core.settings.httpBasePath);
    const below = byPrefix.get(prefix) ?? express.Router().use(prefix || '/', table);
    byPrefix.set(prefix, below);
    core.basePath.show(`${req.baseUrl}${prefix}`, Object.keys(req.params).length > 0);
    below(req, res, next);
  });
  reportMounts(router, core);
  return marked(router, { kind: 'own', label: 'authRouter' });
}

/** Lets requests wait until the languages are loaded, which the first one starts. */
function whenLoaded({ languages }: Core): RequestHandler {
  return async (_req, _res, next) => {
    try {
      await languages.ready();
    } catch (error) {
      next(error);
      return;
    }
    next();
  };
}

/**
 * Makes `app.use` report the path at which it mounts a router. Express calls `emit` with `mount` on each function that has
 * `handle` and `set`, which it takes for an app, and sets `mountpath` before. This is the only way to learn the path
 * before a request in both versions of Express, because Express 5 keeps no path in its routers. A request reaches the
 * router through its own `handle`, so `req.app` remains the app of the user. `router.use` does not report a path.
 */
function reportMounts(router: Router, { basePath }: Core): void {
  const mountable: { mountpath?: unknown } & object = router;
  Object.defineProperties(router, {
    set: { value: () => router },
    emit: {
      value: (event: string, app: MountingApp) => {
        if (event === 'mount') basePath.mount({ app, path: mountable.mountpath });
      },
    },
  });
}

/** A well-known path of the origin (RFC 8615). */
const WELL_KNOWN = /^\/\.well-known\/([a-z-]+)$/;

function routeTable(core: Core, routes: readonly Route[]): Router {
  const router = express.Router();
  for (const path of new Set(routes.map((route) => route.path))) {
    const samePath = routes.filter((route) => route.path === path);
    const known = router.route(path);
    nameRoute(core, known, path);
    for (const route of samePath) known[route.method](endpoint(core, route));
    known.all(
      methodNotAllowed(
        core,
        samePath.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])),
      ),
    );
  }
  return router;
}

/**
 * Responds to requests for a path of latchkey with a parameter that cannot be decoded. Otherwise, Express would pass its
 * error to the app, which might show the stack.
 */
function undecodable(core: Core): ErrorRequestHandler {
  return async (thrown: unknown, req, res, next) => {
    // Express sets the status of its own error. A handler of a path never runs if the path cannot be decoded.
    if ((thrown as { status?: unknown } | null)?.status !== 400 || isDecodable(req.path)) {
      next(thrown);
      return;
    }
    const error = new AuthError('invalid_request', { cause: thrown });
    try {
      if (!(await core.pages?.answer(error, req, res))) answerError(core, error, res, next);
    } catch (failed) {
      next(forExpress(failed));
    }
  };
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns the path between the mount path and the routes. */
function prefixBelow(mountPath: string, basePath: string | null): string {
  if (basePath === null) return mountPath === '' ? DEFAULT_BASE_PATH : '';
  const isBelow = `${basePath}/`.toLowerCase().startsWith(`${mountPath}/`.toLowerCase());
  return isBelow ? basePath.slice(mountPath.length) : basePath;
}
