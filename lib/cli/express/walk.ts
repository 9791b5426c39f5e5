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
  /** The parameters of the path whose values the guards in front of it have checked: see {@link Mark.tenant}. */
  readonly tenants: readonly string[];
  /** Whether a reason why it is public is in front of it, even if a guard is too. */
  readonly hasReason: boolean;
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
  /** The path in the router: one of its label. Null if it is unknown. */
  readonly path: RoutePath | null;
  readonly label: Label;
  readonly place: Place;
}

/** A guard, or a reason to be public, that applies to later layers. */
interface Cover extends At {
  readonly mark: Mark;
  /** Whether it is in front of every later layer, and every layer below one. */
  readonly isForAll: boolean;
  /**
   * The methods, in lower case, for which it is in front of all handlers of its route. Undefined for a middleware,
   * which runs for all methods, and also for the paths below.
   */
  readonly methods: ReadonlySet<string> | undefined;
}

class Walk {
  readonly #found: FoundRoute[] = [];
  /** The middleware so far for which Express cuts the address of a request. */
  readonly #cutting: At[] = [];

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
    let outer = inherited;
    let covers: readonly Cover[] = [];
    for (const layer of router.stack.slice(own)) {
      const { length } = this.#cutting;
      const added: Cover[] = [];
      const label = this.labels.get(layer) ?? UNLABELED;
      const handle = label.target ?? layer.handle;
      // After an error of a guard, an error handler can continue with the layers behind it.
      if (isErrorHandler(handle)) covers = [];
      for (const path of label === UNLABELED ? [null] : label.paths) {
        const at = { router, path, label, place: { ...below(base, path, label), isCaseSensitive } };
        const before = [...outer, ...covers];
        const later = layer.route
          ? this.#route(layer.route.stack, at, before)
          : this.#middleware(layer, handle, at, before, [...above, router]);
        added.push(...later);
      }
      const cutting = this.#cutting.slice(length);
      const isLeft = (cover: Cover) => cutting.every((one) => isLeftBy(one, cover));
      outer = outer.filter(isLeft);
      covers = [...covers.filter(isLeft), ...added];
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
    if (mark?.kind !== 'guard' && !isForEveryPath(at)) this.#cutting.push(at);
    if (mark?.kind === 'guard' || mark?.kind === 'public')
      return [{ ...at, mark, isForAll: isForEveryPath(at), methods: undefined }];
    if (mark?.kind === 'passing' || isErrorHandler(handle)) return [];
    if (mark || !routerOf(handle)) this.#found.push(this.#use(layer, handle, at, covers));
    this.#router(
      handle,
      at.place,
      covers.map((one) => ({ ...one, isForAll: isInFrontOf(one, at, undefined) })),
      above,
      mark ? 1 : 0,
    );
    return [];
  }

  /** Returns a middleware as a route. */
  #use(layer: Layer, handle: Handler, at: At, covers: readonly Cover[]): FoundRoute {
    const inFront = covers.filter((cover) => isInFrontOf(cover, at, undefined));
    const decided = decide(this.#markOf(handle), inFront, at);
    const behind = decided.access === 'guarded' ? [layer] : [];
    const name = handle.name || 'anonymous';
    return { app: this.app, method: 'USE', ...pathOf(at), ...decided, name, behind };
  }

  /** Adds the methods of a route. @returns the covers of later layers */
  #route(stack: readonly RouteLayer[], at: At, covers: readonly Cover[]): Cover[] {
    const found: FoundRoute[] = [];
    for (const method of new Set(stack.map((one) => one.method ?? 'all'))) {
      const chain = stack.filter((one) => one.method === undefined || one.method === method);
      const outer = covers.filter((cover) => isInFrontOf(cover, at, method));
      const last = chain.findLastIndex((one) => this.#isHandler(one.handle));
      const handler = chain[last];
      if (!handler) continue;
      const inner = this.#marksOf(chain.slice(0, last));
      const guardsAt = [...inner].flatMap(([index, { kind }]) => (kind === 'guard' ? [index] : []));
      const first = outer.some(({ mark }) => mark.kind === 'guard') ? 0 : (guardsAt[0] ?? last);
      // A handler in front of a guard can respond to a request that the guard would reject.
      const firstHandler = chain.findIndex((one) => this.#isHandler(one.handle));
      const passed = [...inner].filter(([index, { kind }]) => kind !== 'guard' || index < firstHandler);
      found.push({
        app: this.app,
        method: method.toUpperCase(),
        ...pathOf(at),
        ...decide(
          this.#markOf(handler.handle),
          [...outer, ...passed.map(([, mark]) => ({ ...at, mark }))],
          at,
        ),
        name: null,
        behind: chain.slice(first, last + 1).filter((one) => this.#isHandler(one.handle)),
      });
    }
    this.#found.push(...withAll(found));
    return this.#coversOf(stack, at);
  }

  /** Returns the guards and reasons of a route that each request passes before it reaches a later layer. */
  #coversOf(stack: readonly RouteLayer[], at: At): Cover[] {
    const covers = new Map<string, Cover & { readonly methods: Set<string> }>();
    const hasHead = stack.some(({ method }) => method === 'head');
    for (const asked of METHODS.map((one) => one.toLowerCase())) {
      // Express runs the handlers of GET for HEAD, unless the route has its own.
      const method = asked === 'head' && !hasHead ? 'get' : asked;
      const chain = stack.filter((one) => one.method === undefined || one.method === method);
      // A handler in front of a guard can skip the guard with next('route').
      const firstHandler = chain.findIndex((one) => this.#isHandler(one.handle));
      for (const [index, mark] of this.#marksOf(chain)) {
        if (firstHandler >= 0 && index > firstHandler) continue;
        const key = JSON.stringify(mark);
        const cover = covers.get(key) ?? { ...at, mark, isForAll: false, methods: new Set() };
        covers.set(key, cover);
        cover.methods.add(asked);
      }
    }
    return [...covers.values()];
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
  const decisions = new Set(
    found.map(({ access, by, tenants, hasReason }) => JSON.stringify([access, by, tenants, hasReason])),
  );
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

type Decision = Pick<FoundRoute, 'access' | 'by' | 'tenants' | 'hasReason'>;

function decide(own: Mark | undefined, inFront: readonly Pick<Cover, 'mark' | 'place'>[], at: At): Decision {
  const labels = (kind: Mark['kind']) => [
    ...new Set(inFront.flatMap(({ mark }) => (mark.kind === kind ? [mark.label] : []))),
  ];
  const [guards, reasons] = [labels('guard'), labels('public')];
  const tenants = inFront.flatMap(({ mark: { kind, tenant }, place }) =>
    kind === 'guard' && tenant !== undefined && isSameParameter(tenant, place, at.place) ? [tenant] : [],
  );
  const more = { tenants: [...new Set(tenants)], hasReason: reasons.length > 0 };
  if (own?.kind === 'own') return { access: 'latchkey', by: [own.label], ...more };
  if (guards.length > 0) return { access: 'guarded', by: guards, ...more };
  return reasons.length > 0
    ? { access: 'public', by: reasons, ...more }
    : { access: 'unknown', by: [], ...more };
}

/** Whether a path has a parameter with this name: `:name`, `*name`, or a named group of a RegExp. */
export function hasParameter(path: string, name: string): boolean {
  return new RegExp(`[:*]${name}(?!\\w)|[:*]"${name}"|\\(\\?<${name}>`).test(path);
}

/**
 * Whether a parameter of a guard's path has the same value in the path of a layer behind the guard. Otherwise, the guard
 * has checked another part of the address: of several parameters with the same name, the last one counts.
 */
function isSameParameter(name: string, guard: Place, behind: Place): boolean {
  if (guard.parts && behind.parts) {
    const [own, others] = [guard.parts, behind.parts].map((parts) =>
      parts.flatMap((part, index) => (hasParameter(part, name) ? [`${index} ${part}`] : [])),
    );
    return own !== undefined && own.length > 0 && own.join('/') === others?.join('/');
  }
  const rest = behind.shown.slice(guard.shown.length);
  return (
    hasParameter(guard.shown, name) &&
    behind.shown.startsWith(guard.shown) &&
    /^(\/|$)/.test(rest) &&
    !hasParameter(rest, name)
  );
}

/** Whether each request that reaches a later layer has passed the cover. @param method undefined for a middleware */
function isInFrontOf(cover: Cover, at: At, method: string | undefined): boolean {
  if (cover.isForAll) return true;
  if (cover.methods !== undefined)
    return method !== undefined && hasMethod(cover.methods, method) && isSamePath(cover, at, true);
  if (isSamePath(cover, at, method === undefined)) return true;
  if (isSkippable(cover) || !endsAtSlash(cover)) return false;
  // A guard with a case-sensitive path does not cover a path that also matches in capital letters.
  if (cover.router.caseSensitive === true && !at.place.isCaseSensitive) return false;
  // In `/mount//path`, a mounted router sees `/path`, but a guard in front of it sees both slashes.
  if (cover.place.above !== at.place.above) return false;
  const { parts } = at.place;
  return cover.place.parts?.every((part, index) => includes(part, parts?.[index])) ?? false;
}

/**
 * Whether a cover still holds behind a middleware with a path. Express cuts the path off the address for the middleware,
 * and puts it back afterwards. If it has encoded a character of the path, as for `/{///admin#`, this changes the
 * address. So a guard can see another address than the layers behind the middleware.
 */
function isLeftBy({ place }: At, cover: Cover): boolean {
  if (cover.isForAll) return true;
  const { above, parts } = cover.place;
  const own = parts?.slice(above);
  // Express 5 can add a slash behind the path, too.
  if (!own?.every(isSimple)) return false;
  if (cover.methods !== undefined && cover.router.strict === true) return false;
  // No character of such a part is encoded.
  const isSafe = (part: string) => PLAIN.test(part) && !part.includes('%');
  if (own.every(isSafe)) return true;
  const cut = place.parts?.slice(above);
  if (!cut?.every(isSimple)) return false;
  if (cut.every(isSafe) || own.slice(0, cut.length).every(isSafe)) return true;
  // The cover also runs for each address that is cut.
  const isCutBehind = own.every((part, index) => includes(part, cut[index]));
  return (
    isCutBehind &&
    cover.methods === undefined &&
    (cover.router.caseSensitive !== true || place.isCaseSensitive)
  );
}

/** Whether the methods contain each one for which Express runs a handler of a method, or of `all`. */
function hasMethod(methods: ReadonlySet<string>, method: string): boolean {
  if (method === 'all') return METHODS.every((one) => methods.has(one.toLowerCase()));
  return methods.has(method) && (method !== 'get' || methods.has('head'));
}

/** Whether a middleware runs for every path. In an array, `/` matches only the root. */
function isForEveryPath({ path, label }: At): boolean {
  return path === '/' && !label.isList;
}

/**
 * Whether a later layer at the same path runs only if the cover runs.
 *
 * @param isSameKind whether both are middleware, or both are routes
 */
function isSamePath(cover: Cover, at: At, isSameKind: boolean): boolean {
  if (cover.router !== at.router || cover.path === null || at.path === null) return false;
  if (isSameKind && isSameLabel(cover.label, at.label)) return true;
  if (typeof cover.path !== 'string' || cover.path !== at.path || !endsAtSlash(cover)) return false;
  // As the path of a middleware, `/` is a pattern in an array only.
  if (cover.methods === undefined && isSameKind && cover.path === '/') return false;
  // With one path, both layers get the same parameters, so that a callback skips both.
  const isSingle = !cover.label.isList && !at.label.isList;
  return !isSkippable(cover) || (isSingle && !hasPattern(cover.path));
}

/** Whether two layers of a kind match the same paths. A RegExp with the flag `g` or `y` matches only sometimes. */
function isSameLabel(one: Label, other: Label): boolean {
  return (
    one.isList === other.isList &&
    one.paths.length === other.paths.length &&
    one.paths.every((path, index) => {
      const another = other.paths[index];
      return typeof path === 'string'
        ? path === another
        : another instanceof RegExp && String(path) === String(another) && !path.global && !path.sticky;
    })
  );
}

/**
 * Whether each match of the paths ends where a part of an address ends. Otherwise, Express skips the middleware. It
 * uses the first path of an array that matches.
 */
function endsAtSlash({ label }: At): boolean {
  return label.paths.every((path) => typeof path === 'string' && !path.includes('|'));
}

/** Whether a callback of `param` can skip a guard with a path by calling `next('route')`. */
function isSkippable({ router, label }: Cover): boolean {
  const names = Object.keys(router.params);
  return (
    names.length > 0 &&
    label.paths.some((path) => {
      if (typeof path !== 'string' || hasPattern(path)) return true;
      return names.some((name) => partsOf(path).includes(`:${name}`));
    })
  );
}

/** Whether a part of a path is plain text or `:name`. */
function isSimple(part: string): boolean {
  return PLAIN.test(part) || PARAMETER.test(part);
}

/** Whether a path has a part that is neither plain text nor `:name`. */
function hasPattern(path: string): boolean {
  return !partsOf(path).every(isSimple);
}

/**
 * Whether each string that matches a part also matches the wider part. Patterns other than `:name` are not compared.
 */
function includes(wider: string, part: string | undefined): boolean {
  if (part === undefined || !isSimple(part)) return false;
  return PARAMETER.test(wider) || (PLAIN.test(wider) && wider === part);
}

/** A part that matches only itself, in Express 4 and 5. */
const PLAIN = /^[\w~%@,;=&.-]+$/;
const PARAMETER = /^:\w+$/;
/** The rest of a path, in Express 4 and 5. */
const WILDCARD = /^(\*\w*|\{\*\w+\})$/;

/** The label of a layer whose paths are unknown. */
const UNLABELED: Label = { paths: [], isList: false };

function below(
  { shown, parts, address }: Place,
  path: RoutePath | null,
  { isList }: Label,
): Omit<Place, 'isCaseSensitive'> {
  const above = parts?.length ?? 0;
  // An empty path is a pattern too, because it can strip a slash. In an array, `/` can do so.
  if (path === '' || path === '/')
    return { shown, parts: path === '/' && !isList ? parts : null, address, above };
  if (typeof path !== 'string') return { shown: `${shown}${path ?? '?'}`, parts: null, address: null, above };
  const own = partsOf(path);
  return {
    shown: `${shown}/${own.join('/')}`,
    // Without a slash in front, a path matches no address.
    parts: parts && path.startsWith('/') ? [...parts, ...own] : null,
    address: address && filled(own, address),
    above,
  };
}

function partsOf(path: string): readonly string[] {
  return path.replace(/^\/|\/$/g, '').split('/');
}

/** Appends parts to those of an address. Null if a part has a pattern other than `:name` and a wildcard. */
function filled(parts: readonly string[], address: readonly string[]): readonly string[] | null {
  const own = parts.flatMap((part) => {
    if (PLAIN.test(part)) return [part];
    return PARAMETER.test(part) || WILDCARD.test(part) ? ['1'] : [];
  });
  return own.length === parts.length ? [...address, ...own] : null;
}
