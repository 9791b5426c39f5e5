import { METHODS } from 'node:http';
import { type Mark, markOf } from '../../guards/marks.js';
import type { Handler, Label, Layer, LoadedApp, RouteLayer, RoutePath, Router } from './load.js';
import { routerOf } from './load.js';

/** Who can use a route. `latchkey` stands for latchkey's own routes, which check requests themselves. */
export type Access = 'guarded' | 'public' | 'latchkey' | 'unknown';

/** A route of an app, or a middleware, which can respond too. */
export interface FoundRoute {
  /** The app to request it from. */
  readonly app: Handler;
  /** In upper case. `ALL` stands for all methods, and `USE` for a middleware. */
  readonly method: string;
  readonly path: string;
  /** An address that the path matches. Null if the path has patterns other than `:name` and a wildcard. */
  readonly address: string | null;
  readonly access: Access;
  /** The guards in front of it, or the reasons why it is public. */
  readonly by: readonly string[];
  /** The name of a middleware. Null for a route. */
  readonly name: string | null;
  /**
   * Its handlers behind the first guard, or its last handler without a guard. Empty for a middleware without a guard.
   */
  readonly behind: readonly (Layer | RouteLayer)[];
}

/**
 * Lists the routes of an app in the order of their registration.
 *
 * @param guards the names of the app's own guards
 */
export function routesOf({ apps, labels }: LoadedApp, guards: readonly string[]): FoundRoute[] {
  return apps.flatMap((app) => new Walk(app, labels, new Set(guards)).routes());
}

/** Where a layer is. */
interface Place {
  /** The path as it is shown. */
  readonly shown: string;
  /** The parts of the path. Null if a part is empty, a regular expression or unknown. */
  readonly parts: readonly string[] | null;
  /** The parts of an address that the path matches. Null if a part has a pattern other than `:name` and a wildcard. */
  readonly address: readonly string[] | null;
  /** The number of parts that the routers above are mounted at. */
  readonly above: number;
  /** Whether upper and lower case differ in all routers above. */
  readonly isCaseSensitive: boolean;
}

/** The place where a layer is registered. */
interface At {
  readonly router: Router;
  /** The path in the router. Null if it is unknown. */
  readonly path: RoutePath | null;
  readonly place: Place;
}

/** A guard, or a reason to be public, that applies to later layers. */
interface Cover extends At {
  readonly mark: Mark;
  /** Whether it is in front of every later layer, and every layer below one. */
  readonly isForAll: boolean;
  /**
   * The method of a route that consists of guards, or `all`. Undefined for a middleware, which also runs for the paths
   * below.
   */
  readonly method: string | undefined;
}

class Walk {
  readonly #found: FoundRoute[] = [];

  constructor(
    private readonly app: Handler,
    private readonly labels: ReadonlyMap<Layer, Label>,
    private readonly guards: ReadonlySet<string>,
  ) {}

  routes(): FoundRoute[] {
    this.#router(this.app, { shown: '', parts: [], address: [], above: 0, isCaseSensitive: true }, [], []);
    return this.#found;
  }

  /** Adds the routes of a router. @param own how many of its first layers are latchkey's */
  #router(
    handler: Handler,
    base: Place,
    inherited: readonly Cover[],
    above: readonly Router[],
    own = 0,
  ): void {
    const router = routerOf(handler);
    // A router that is mounted below itself adds no further routes.
    if (!router || above.includes(router)) return;
    const isCaseSensitive = base.isCaseSensitive && router.caseSensitive === true;
    let covers: Cover[] = [];
    for (const layer of router.stack.slice(own)) {
      const { paths, target } = this.labels.get(layer) ?? { paths: [null] };
      const handle = target ?? layer.handle;
      // After an error of a guard, an error handler can continue with the layers behind it.
      if (isErrorHandler(handle)) covers = [];
      for (const path of paths) {
        const at = { router, path, place: { ...below(base, path), isCaseSensitive } };
        const before = [...inherited, ...covers];
        const later = layer.route
          ? this.#route(layer.route.stack, at, before)
          : this.#middleware(layer, handle, at, before, [...above, router]);
        covers.push(...later);
      }
    }
  }

  /** Adds the routes of a middleware. @returns the covers of later layers */
  #middleware(
    layer: Layer,
    handle: Handler,
    at: At,
    covers: readonly Cover[],
    above: readonly Router[],
  ): Cover[] {
    const mark = this.#markOf(handle);
    if (mark?.kind === 'guard' || mark?.kind === 'public')
      return [{ ...at, mark, isForAll: at.path === '/', method: undefined }];
    if (mark?.kind === 'passing' || isErrorHandler(handle)) return [];
    if (mark || !routerOf(handle)) this.#found.push(this.#use(layer, handle, at, covers));
    const isForAll = (cover: Cover) => isSameMount(cover, at) || isInFrontOf(cover, at, undefined);
    this.#router(
      handle,
      at.place,
      covers.map((one) => ({ ...one, isForAll: isForAll(one) })),
      above,
      mark ? 1 : 0,
    );
    return [];
  }

  /** Returns a middleware as a route. */
  #use(layer: Layer, handle: Handler, at: At, covers: readonly Cover[]): FoundRoute {
    const marks = covers.filter((cover) => isInFrontOf(cover, at, undefined)).map((cover) => cover.mark);
    const decided = decide(this.#markOf(handle), marks);
    const behind = decided.access === 'guarded' ? [layer] : [];
    const name = handle.name || 'anonymous';
    return { app: this.app, method: 'USE', ...pathOf(at), ...decided, name, behind };
  }

  /** Adds the methods of a route. @returns the covers of later layers, if the route consists of guards */
  #route(stack: readonly RouteLayer[], at: At, covers: readonly Cover[]): Cover[] {
    const later: Cover[] = [];
    const found: FoundRoute[] = [];
    for (const method of new Set(stack.map((one) => one.method ?? 'all'))) {
      const chain = stack.filter((one) => one.method === undefined || one.method === method);
      const outer = covers.filter((cover) => isInFrontOf(cover, at, method)).map((cover) => cover.mark);
      const last = chain.findLastIndex((one) => this.#isHandler(one.handle));
      const handler = chain[last];
      const inner = this.#marksOf(handler ? chain.slice(0, last) : chain);
      if (!handler) {
        later.push(...[...inner.values()].map((mark) => ({ ...at, mark, isForAll: false, method })));
        continue;
      }
      const guardsAt = [...inner].flatMap(([index, { kind }]) => (kind === 'guard' ? [index] : []));
      const first = outer.some(({ kind }) => kind === 'guard') ? 0 : (guardsAt[0] ?? last);
      // A handler in front of a guard can respond to a request that the guard would reject.
      const firstHandler = chain.findIndex((one) => this.#isHandler(one.handle));
      const passed = [...inner].filter(([index, { kind }]) => kind !== 'guard' || index < firstHandler);
      found.push({
        app: this.app,
        method: method.toUpperCase(),
        ...pathOf(at),
        ...decide(this.#markOf(handler.handle), [...outer, ...passed.map(([, mark]) => mark)]),
        name: null,
        behind: chain.slice(first, last + 1).filter((one) => this.#isHandler(one.handle)),
      });
    }
    this.#found.push(...withAll(found));
    return later;
  }

  /** Returns the guards and reasons among handlers, by their index. */
  #marksOf(chain: readonly RouteLayer[]): Map<number, Mark> {
    const marks = new Map<number, Mark>();
    for (const [index, { handle }] of chain.entries()) {
      if (isErrorHandler(handle)) marks.clear();
      const mark = this.#markOf(handle);
      if (mark?.kind === 'guard' || mark?.kind === 'public') marks.set(index, mark);
    }
    return marks;
  }

  /** Whether a handler can respond to a request that no guard has rejected. */
  #isHandler(handle: Handler): boolean {
    const { kind = 'own' } = this.#markOf(handle) ?? {};
    return kind === 'own' && !isErrorHandler(handle);
  }

  #markOf(handle: Handler): Mark | undefined {
    const isNamed = this.guards.has(handle.name) && !isErrorHandler(handle);
    return markOf(handle) ?? (isNamed ? { kind: 'guard', label: handle.name } : undefined);
  }
}

/** Merges the routes that `app.all` has registered for each method into one, if all of them have the same access. */
function withAll(found: readonly FoundRoute[]): readonly FoundRoute[] {
  const [first] = found;
  const methods = new Set(found.map(({ method }) => method));
  const decisions = new Set(found.map(({ access, by }) => JSON.stringify([access, by])));
  if (!first || decisions.size > 1 || !METHODS.every((method) => methods.has(method))) return found;
  return [{ ...first, method: 'ALL', behind: found.flatMap(({ behind }) => behind) }];
}

/** Whether Express calls a function only with errors. It never calls one with more than 4 parameters. */
function isErrorHandler(handle: Handler): boolean {
  return handle.length > 3;
}

function pathOf({ place: { shown, address } }: At): Pick<FoundRoute, 'path' | 'address'> {
  return { path: shown || '/', address: address && `/${address.join('/')}` };
}

function decide(own: Mark | undefined, marks: readonly Mark[]): Pick<FoundRoute, 'access' | 'by'> {
  if (own?.kind === 'own') return { access: 'latchkey', by: [own.label] };
  const labels = (kind: Mark['kind']) => [
    ...new Set(marks.flatMap((mark) => (mark.kind === kind ? [mark.label] : []))),
  ];
  const [guards, reasons] = [labels('guard'), labels('public')];
  if (guards.length > 0) return { access: 'guarded', by: guards };
  return reasons.length > 0 ? { access: 'public', by: reasons } : { access: 'unknown', by: [] };
}

/** Whether each request that reaches a later layer has passed the cover. */
function isInFrontOf(cover: Cover, at: At, method: string | undefined): boolean {
  if (cover.isForAll) return true;
  const isSamePath = cover.router === at.router && typeof cover.path === 'string' && cover.path === at.path;
  if (cover.method !== undefined)
    return isSamePath && method !== undefined && (cover.method === 'all' || cover.method === method);
  if (isSamePath) return true;
  if (isSkippable(cover)) return false;
  // A guard with a case-sensitive path does not cover a path that also matches in capital letters.
  if (cover.router.caseSensitive === true && !at.place.isCaseSensitive) return false;
  // In `/mount//path`, a mounted router sees `/path`, but a guard in front of it sees both slashes.
  if (cover.place.above !== at.place.above) return false;
  const { parts } = at.place;
  return cover.place.parts?.every((part, index) => includes(part, parts?.[index])) ?? false;
}

/**
 * Whether a callback of `param` can skip a guard with a path by calling `next('route')`. It skips the same path, too.
 */
function isSkippable({ router, path }: Cover): boolean {
  const names = String(path).match(/(?<=:)\w+/g) ?? [];
  return names.some((name) => router.params[name] !== undefined);
}

/** Whether a middleware and a router are mounted at the same path. */
function isSameMount(cover: Cover, at: At): boolean {
  return (
    cover.router === at.router &&
    cover.method === undefined &&
    String(cover.path) === String(at.path) &&
    at.path !== null
  );
}

/**
 * Whether each string that matches a part also matches the wider part. Patterns other than `:name` are not compared.
 */
function includes(wider: string, part: string | undefined): boolean {
  if (part === undefined || !(PLAIN.test(part) || PARAMETER.test(part))) return false;
  return PARAMETER.test(wider) || (PLAIN.test(wider) && wider === part);
}

/** A part that matches only itself, in Express 4 and 5. */
const PLAIN = /^[\w~%@,;=&.-]+$/;
const PARAMETER = /^:\w+$/;
/** The rest of a path, in Express 4 and 5. */
const WILDCARD = /^(\*\w*|\{\*\w+\})$/;

function below({ shown, parts, address }: Place, path: RoutePath | null): Omit<Place, 'isCaseSensitive'> {
  const above = parts?.length ?? 0;
  if (path === '/') return { shown, parts, address, above };
  // An empty path is a pattern too, because it can strip a slash.
  if (path === '') return { shown, parts: null, address, above };
  if (typeof path !== 'string') return { shown: `${shown}${path ?? '?'}`, parts: null, address: null, above };
  const own = path.replace(/^\/|\/$/g, '').split('/');
  return {
    shown: `${shown}/${own.join('/')}`,
    parts: parts && [...parts, ...own],
    address: address && filled(own, address),
    above,
  };
}

/** Appends parts to those of an address. Null if a part has a pattern other than `:name` and a wildcard. */
function filled(parts: readonly string[], address: readonly string[]): readonly string[] | null {
  const own = parts.flatMap((part) => {
    if (PLAIN.test(part)) return [part];
    return PARAMETER.test(part) || WILDCARD.test(part) ? ['1'] : [];
  });
  return own.length === parts.length ? [...address, ...own] : null;
}
