import { createRequire } from 'node:module';
import { Server } from 'node:net';
import { basename } from 'node:path';
import { marked } from '../../guards/marks.js';
import { sleep } from '../../timers.js';
import { Refusal } from '../output.js';
import { importFile } from '../project.js';

/** A layer of a router: a route, or a middleware. */
export interface Layer {
  handle: Handler;
  readonly route?: { readonly stack: readonly RouteLayer[] } | undefined;
}

/** A handler of a route. Its method is undefined for all methods. */
export interface RouteLayer {
  handle: Handler;
  readonly method?: string | undefined;
}

/** A middleware or a handler, which can also be a router or an app. */
export type Handler = (...given: never[]) => unknown;

/** A router of Express. */
export interface Router {
  readonly stack: readonly Layer[];
  /** The callbacks of `param`, by the names of the parameters. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly caseSensitive?: boolean | undefined;
  readonly strict?: boolean | undefined;
}

/** A path as the app has registered it. */
export type RoutePath = string | RegExp;

/** The paths that a layer was registered with. Express 5 does not keep them. */
export interface Label {
  readonly paths: readonly RoutePath[];
  /** Whether they were given as an array. */
  readonly isList: boolean;
  /** The app that was mounted. Express wraps it in a function. */
  target?: Handler;
}

/** An app that has registered its routes, and does not listen. */
export interface LoadedApp {
  /** The app that the module exports, and all other apps that are not mounted in another app. */
  readonly apps: readonly Handler[];
  readonly labels: ReadonlyMap<Layer, Label>;
  /** The original `listen` of servers, which the app cannot call. */
  readonly listen: Server['listen'];
}

/** The time within which a module must export an Express app or listen. */
const LOAD_TIMEOUT_MS = 30_000;

/**
 * How long to wait for more layers after a module has called `listen`, whose callback never runs, or after its last
 * layer.
 */
const QUIET_MS = 1000;

/**
 * Loads the module of an app. Every layer that it registers is labeled, and it cannot listen.
 *
 * @throws Refusal if there is no app, and any error that the module throws
 */
export async function loadApp(file: string): Promise<LoadedApp> {
  const { labels, created } = labelLayers(requireExpress(file));
  const { listen, called } = preventListening();
  const isLate = sleep(LOAD_TIMEOUT_MS).then((): never => {
    throw new Refusal(
      `${basename(file)} neither exported an Express app nor called listen within 30 seconds: export the app as app`,
    );
  });
  const imported = importFile(file);
  const goesOn = called.then(() => sleep(QUIET_MS)).then(() => ({}) as Record<string, unknown>);
  const exported = await Promise.race([imported, goesOn, isLate]);
  const inner = (exported.default ?? {}) as Record<string, unknown>;
  const app = await (exported.app ?? inner.app ?? exported.default);
  // A module that exports a server has created its app, even if another module makes the server listen.
  const isReady = isApp(app) || Object.values({ ...inner, ...exported }).some((one) => one instanceof Server);
  if (!isReady) await Promise.race([called, isLate]);
  await untilQuiet(labels);
  const roots = created.filter((one) => !('parent' in one));
  const apps = [...new Set([...(isApp(app) ? [app] : []), ...roots])];
  if (apps.length > 0) return { apps, labels, listen };
  throw new Refusal(
    `${basename(file)} does not export or create an Express app: add export const app = express()`,
  );
}

/** Waits until no layer was added for a second, because an app can add routes after it has connected to a database. */
async function untilQuiet(labels: ReadonlyMap<Layer, Label>): Promise<void> {
  for (let size = -1; size < labels.size; ) {
    size = labels.size;
    await sleep(QUIET_MS);
  }
}

/** Replaces the functions of a copy of Express that create layers. */
export function labelLayers({ application, Router }: Express): {
  readonly labels: ReadonlyMap<Layer, Label>;
  readonly created: readonly Handler[];
} {
  const labels = new Map<Layer, Label>();
  const created: Handler[] = [];
  // In Express 4, routers inherit from the function itself.
  const routers = 'use' in Router.prototype ? Router.prototype : (Router as unknown as RouterMethods);

  const { use, route } = routers;
  routers.use = function (this: Router, ...given) {
    const { length } = this.stack;
    const result = use.apply(this, given);
    for (const layer of this.stack.slice(length)) labels.set(layer, labelOf(given));
    return result;
  };
  routers.route = function (this: Router, path) {
    const result = route.call(this, path);
    const layer = this.stack.at(-1);
    if (layer) labels.set(layer, labelOf([path]));
    return result;
  };

  const { init, use: useOfApp, lazyrouter } = application;
  application.init = function (this: Handler) {
    created.push(this);
    return init.call(this);
  };
  application.use = function (this: Handler, ...given) {
    const { mount, handlers } = split(given);
    if (!handlers.some(isApp)) return useOfApp.apply(this, given);
    for (const handler of handlers) {
      application.lazyrouter?.call(this);
      const { length } = routerOf(this)?.stack ?? [];
      useOfApp.call(this, ...mount, handler);
      const layer = routerOf(this)?.stack[length];
      const label = layer && labels.get(layer);
      if (label && isApp(handler)) label.target = handler;
    }
    return this;
  };
  if (lazyrouter)
    application.lazyrouter = function (this: Handler) {
      const isNew = !routerOf(this);
      lazyrouter.call(this);
      // The first layers of an app in Express 4 are Express's own.
      if (isNew)
        for (const { handle } of routerOf(this)?.stack ?? [])
          marked(handle, { kind: 'passing', label: 'express' });
    };
  return { labels, created };
}

interface RouterMethods {
  use(this: Router, ...given: unknown[]): unknown;
  route(this: Router, path: unknown): unknown;
}

/** The parts of Express that are replaced. */
export interface Express {
  readonly application: {
    init(this: Handler): unknown;
    use(this: Handler, ...given: unknown[]): unknown;
    /** Creates the router of an app, in Express 4. */
    lazyrouter?(this: Handler): void;
  };
  readonly Router: { readonly prototype: RouterMethods };
}

function requireExpress(file: string): Express {
  const require = createRequire(file);
  try {
    require.resolve('express');
  } catch {
    throw new Refusal(`${basename(file)} cannot find express: install it in the project`);
  }
  return require('express');
}

/** Splits the arguments of `use` into the path and the handlers, as Express does. */
function split(given: readonly unknown[]): {
  readonly mount: readonly unknown[];
  readonly paths: readonly RoutePath[];
  readonly handlers: readonly Handler[];
} {
  const [first] = [given[0]].flat(Number.POSITIVE_INFINITY);
  const hasPath = typeof first !== 'function';
  const [mount, handlers] = hasPath ? [given.slice(0, 1), given.slice(1)] : [[], given];
  return {
    mount,
    paths: hasPath ? ([given[0]].flat(Number.POSITIVE_INFINITY) as RoutePath[]) : ['/'],
    handlers: handlers.flat(Number.POSITIVE_INFINITY) as Handler[],
  };
}

/** Returns the label of the layers that are created with these arguments. */
function labelOf(given: readonly unknown[]): Label {
  const { mount, paths } = split(given);
  return { paths, isList: Array.isArray(mount[0]) };
}

/** Prevents all servers from listening. @returns the original method, and a promise for the first call */
function preventListening(): { readonly listen: Server['listen']; readonly called: Promise<void> } {
  const { listen } = Server.prototype;
  const called = new Promise<void>((resolve) => {
    Server.prototype.listen = function (this: Server) {
      resolve();
      return this;
    };
  });
  return { listen, called };
}

function isApp(value: unknown): value is Handler {
  return typeof value === 'function' && 'handle' in value && 'set' in value;
}

/**
 * Returns the handler if it is a router, or the router of an app. Null for any other function, such as a Connect app.
 */
export function routerOf(handler: Handler): Router | null {
  // In Express 4, `app.router` throws. latchkey's own router looks like an app, too, but has a stack.
  const own =
    isApp(handler) && !('stack' in handler)
      ? ((handler as { _router?: unknown })._router ??
        ('lazyrouter' in handler ? null : (handler as { router?: unknown }).router))
      : handler;
  const { stack, params } = (own ?? {}) as Partial<Router>;
  return Array.isArray(stack) && params ? (own as Router) : null;
}
