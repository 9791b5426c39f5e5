import type { Request, RequestHandler, Response } from 'express';
import { type AnyAuth, internalsOf } from '../../lib/auth.js';
import type { AuthErrorCode } from '../../lib/errors.js';
import { problemsOf } from '../../lib/http/declared-problems.js';
import { type Route, takesForms } from '../../lib/http/route.js';

/** The problems that the routes of an app return, compared with the problems that the routes declare. */
export interface Declared {
  /** Listens to all responses. */
  readonly middleware: RequestHandler;
  /** @throws Error naming each problem that a route has returned without declaring it */
  check(): void;
}

/** Compares every problem in a response, and in a redirect after a form, with the declaration of its route. */
export function declaredProblems(auth: AnyAuth): Declared {
  const { core, routes } = internalsOf(auth);
  const undeclared = new Set<string>();
  const middleware: RequestHandler = (req, res, next) => {
    const end = res.end.bind(res);
    res.end = ((...given: unknown[]) => {
      const route = routeOf(req, routes);
      const isForm = route && takesForms(core.settings, route);
      const code = route && (codeOf(res, given[0]) ?? (isForm ? codeOfForm(req, res) : undefined));
      if (code && code !== 'method_not_allowed') {
        const declared = Object.entries(problemsOf(core, route));
        const found = declared.find(([, codes]) => codes.includes(code));
        // A redirect has another status than the problem.
        if (!found || ![found[0], '303'].includes(String(res.statusCode)))
          undeclared.add(`${route.method} ${route.path}: ${res.statusCode} ${code}`);
      }
      return end(...(given as []));
    }) as typeof res.end;
    next();
  };
  return {
    middleware,
    check() {
      if (undeclared.size > 0)
        throw new Error(`problems that no route declares:\n${[...undeclared].join('\n')}`);
    },
  };
}

/** The route of latchkey that handles a request. A route of the app is in no router, so it has no base URL. */
function routeOf({ method, route, baseUrl }: Request, routes: () => readonly Route[]): Route | undefined {
  const name = method === 'HEAD' ? 'get' : method.toLowerCase();
  const path: unknown = route?.path;
  return baseUrl === '' || path === undefined
    ? undefined
    : routes().find((one) => one.method === name && one.path === path);
}

function codeOf(res: Response, body: unknown): AuthErrorCode | undefined {
  const isProblem = String(res.getHeader('content-type')).startsWith('application/problem+json');
  return isProblem ? JSON.parse(String(body)).code : undefined;
}

function codeOfForm(req: Request, res: Response): AuthErrorCode | undefined {
  const isForm = req.is('application/x-www-form-urlencoded');
  const location = res.getHeader('location');
  if (!isForm || res.statusCode !== 303 || typeof location !== 'string') return undefined;
  return (new URL(location, 'http://app.example').searchParams.get('error') ?? undefined) as AuthErrorCode;
}
