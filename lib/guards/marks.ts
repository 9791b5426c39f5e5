import type { Middleware } from '../http/middleware.js';

/** The facts about a middleware that `latchkey routes` reads. */
export interface Mark {
  /**
   * `guard` rejects requests, `public` marks a route that does not need a guard, `own` is a router or handler of
   * latchkey that rejects requests itself, and `passing` neither rejects requests nor responds to them.
   */
  readonly kind: 'guard' | 'public' | 'own' | 'passing';
  /** The name of the function with its options, or the reason. */
  readonly label: string;
  /** The parameter of the path that names the organization whose members the guard admits. */
  readonly tenant?: string | undefined;
}

/** All copies of this package in a process share it. */
const MARK = Symbol.for('latchkey.mark/1');

/** Marks a middleware, and returns it. */
export function marked<Handler extends object>(handler: Handler, mark: Mark): Handler {
  return Object.defineProperty(handler, MARK, { value: mark });
}

/** Returns the mark of a middleware, if it has one. */
export function markOf(handler: object): Mark | undefined {
  return (handler as { readonly [MARK]?: Mark })[MARK];
}

/** Creates the mark of a guard. A guard with `onError` is `passing`, because `onError` can call `next()`. */
export function markOfGuard(name: string, { onError, ...options }: { readonly onError?: unknown }): Mark {
  const label = Object.keys(options).length > 0 ? `${name} ${JSON.stringify(options)}` : name;
  return { kind: onError === undefined ? 'guard' : 'passing', label };
}

/**
 * Marks routes as public on purpose, for `npx latchkey routes`. The middleware does nothing: requests continue.
 *
 * @param reason why the routes do not need a guard. The command prints it with each route
 * @throws TypeError if the reason is empty
 *
 * @example
 * app.get('/pricing', publicRoute('anyone can read the prices'), (req, res) => res.render('pricing'));
 */
export function publicRoute(reason: string): Middleware {
  if (typeof reason !== 'string' || reason.trim() === '')
    throw new TypeError(
      'latchkey: publicRoute requires a reason, such as publicRoute("anyone can read the prices")',
    );
  const handler: Middleware = (_req, _res, next) => next();
  return marked(handler, { kind: 'public', label: reason.trim() });
}
