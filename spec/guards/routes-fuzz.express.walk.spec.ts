// Compares what `latchkey routes` says about generated apps with what requests without a session reach. To try other
// apps: LATCHKEY_SPEC_FUZZ_RUNS=5000 LATCHKEY_SPEC_FUZZ_SEED=1 npm test -- spec/guards/routes-fuzz
import { once } from 'node:events';
import { Agent, createServer, METHODS, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import fc from 'fast-check';
import { type Handler, labelLayers } from '../../lib/cli/express/load.js';
import { type FoundRoute, routesOf } from '../../lib/cli/express/walk.js';
import {
  admin,
  createAuth,
  optionalSession,
  publicRoute,
  requireAdmin,
  requireSession,
} from '../../lib/index.js';
import { fuzz, SEED, tryInputs } from '../fuzz/property.js';
import { memoryLogger, SECRET } from '../support/app.js';

const RUNS = Number(process.env.LATCHKEY_SPEC_FUZZ_RUNS ?? 400);
const FROM = Number(process.env.LATCHKEY_SPEC_FUZZ_SEED ?? SEED);

const { labels } = labelLayers(express as never);
const isExpress4 = 'lazyrouter' in express.application;

const auth = createAuth({
  database: 'sqlite::memory:',
  secret: SECRET,
  plugins: [admin({ adminEmails: ['ada@example.com'] })],
  logger: memoryLogger(),
});

/** A guard of the app's own, which rejects requests with an error. */
const OWN_GUARD = 'isMember';

// ── Plans of apps ──

type Path = string | RegExp;
/** What a handler does once it has recorded that it was reached. */
type Does = 'answer' | 'next' | 'route' | 'router' | 'error';
type Part =
  | { readonly guard: 'requireSession' | 'requireAdmin' | typeof OWN_GUARD }
  | { readonly mark: 'optionalSession' | 'publicRoute' }
  | { readonly handler: Does }
  | { readonly onError: 'continue' | 'pass' }
  | { readonly router: RouterPlan }
  /** A router or app that is mounted already: its number. */
  | { readonly again: number }
  | readonly Part[];
type Step =
  | { readonly use: Path | readonly Path[] | null; readonly parts: readonly Part[] }
  | {
      readonly route: Path | readonly Path[];
      readonly calls: readonly { readonly method: Method; readonly parts: readonly Part[] }[];
      readonly isChained: boolean;
    }
  | { readonly param: string; readonly value: string; readonly does: Does };
type Method = 'get' | 'post' | 'head' | 'all';
interface RouterPlan {
  readonly kind: 'router' | 'app';
  readonly strict: boolean;
  readonly caseSensitive: boolean;
  readonly mergeParams: boolean;
  readonly steps: readonly Step[];
}
/** A request, made from the path of a route. */
interface Asked {
  readonly route: number;
  readonly method: string;
  /** Take the place of parameters and patterns. */
  readonly values: readonly string[];
  readonly change: 'none' | 'upper' | 'slash' | 'double' | 'absolute' | 'hash' | 'brace';
  readonly at: number;
}

const PLAIN = ['/', '/a', '/b', '/a/b', '/:x', '/:y', '/a/:x', '/:x/a', '/:x/:y'];
const ODD = ['', '/', '/A', '/a/', '/a/b/', '//a', 'a', '/a.b', '/:x/'];
const PATTERNS: Path[] = [
  ...[/^\/a/, /^\/a/i, /^\/A/, /\/b$/, /^\/a\/(?<x>\w+)/, /^\//, /^\/a/g],
  ...(isExpress4
    ? ['*', '/*', '/a*', '/:x?', '/a|/b', '/(a|b)', '/:x(.*?)', '/a/:x(\\d+)', '/:x-:y']
    : ['/*x', '/{*x}', '/a{/:x}', '/a/*x', '/:x-:y']),
];
const path: fc.Arbitrary<Path> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...PLAIN) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: fc.constantFrom(...PATTERNS) },
);
const paths = fc.oneof(
  { weight: 6, arbitrary: path },
  { weight: 1, arbitrary: fc.uniqueArray(path, { minLength: 1, maxLength: 3, selector: String }) },
);
const does = fc.constantFrom<Does>('next', 'next', 'next', 'answer', 'route', 'router', 'error');
const guard = fc.record({ guard: fc.constantFrom('requireSession', 'requireAdmin', OWN_GUARD) });
const handler = fc.record({ handler: does });
const other = fc.oneof(
  fc.record({ mark: fc.constantFrom('optionalSession', 'publicRoute') }),
  fc.record({ onError: fc.constantFrom('continue', 'pass') }),
);
const simple = fc.oneof(
  { weight: 4, arbitrary: guard },
  { weight: 4, arbitrary: handler },
  { weight: 1, arbitrary: other },
  { weight: 1, arbitrary: fc.array(fc.oneof(guard, handler, other), { minLength: 1, maxLength: 2 }) },
) as fc.Arbitrary<Part>;
const method = fc.constantFrom<Method>('get', 'get', 'post', 'head', 'all');

const { plan } = fc.letrec<{ plan: RouterPlan; step: Step }>((tie) => ({
  plan: fc.record({
    kind: fc.constantFrom('router', 'router', 'app'),
    strict: fc.boolean(),
    caseSensitive: fc.boolean(),
    mergeParams: fc.boolean(),
    steps: fc.array(tie('step'), { minLength: 1, maxLength: 6 }),
  }) as fc.Arbitrary<RouterPlan>,
  step: fc.oneof(
    { depthSize: 'medium' },
    {
      weight: 1,
      arbitrary: fc.record({
        use: fc.constant(null),
        parts: fc.array(simple, { minLength: 1, maxLength: 1 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ use: paths, parts: fc.array(simple, { minLength: 1, maxLength: 2 }) }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        route: paths,
        calls: fc.array(fc.record({ method, parts: fc.array(simple, { minLength: 1, maxLength: 3 }) }), {
          minLength: 1,
          maxLength: 2,
        }),
        isChained: fc.boolean(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        param: fc.constantFrom('x', 'y', '0'),
        value: fc.constantFrom('a', 'b', '1'),
        does: fc.constantFrom<Does>('route', 'route', 'router', 'error', 'next'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ use: paths, parts: fc.tuple(fc.record({ again: fc.nat(9) })) }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        use: fc.oneof(paths, fc.constant(null)),
        parts: fc.oneof(
          fc.tuple(fc.record({ router: tie('plan') })),
          fc.tuple(simple, fc.record({ router: tie('plan') })),
        ),
      }),
    },
  ) as fc.Arbitrary<Step>,
}));
/** A plan with few paths, in which guards and routes meet more often. */
const fewPaths = fc.constantFrom('/:x', '/:x/a', '/:x/a');
const small: fc.Arbitrary<RouterPlan> = fc.record({
  kind: fc.constant('app'),
  strict: fc.constant(false),
  caseSensitive: fc.constant(false),
  mergeParams: fc.constant(false),
  steps: fc.array(
    fc.oneof(
      fc.record({ use: fewPaths, parts: fc.tuple(guard) }),
      fc.record({ use: fewPaths, parts: fc.tuple(fc.constant({ handler: 'next' })) }),
      fc.record({
        route: fewPaths,
        calls: fc.tuple(fc.record({ method: fc.constant('get'), parts: fc.tuple(handler) })),
        isChained: fc.constant(false),
      }),
    ) as fc.Arbitrary<Step>,
    { minLength: 3, maxLength: 5 },
  ),
}) as fc.Arbitrary<RouterPlan>;
const asked: fc.Arbitrary<Asked> = fc.record({
  route: fc.nat(60),
  method: fc.constantFrom('', '', '', '', 'HEAD', 'GET', 'POST', 'OPTIONS'),
  values: fc.array(fc.constantFrom('a', 'b', '1', 'A', 'a/b', '{'), { minLength: 3, maxLength: 3 }),
  change: fc.constantFrom('none', 'none', 'none', 'upper', 'slash', 'double', 'absolute', 'hash', 'brace'),
  at: fc.nat(4),
});

// ── Apps ──

/** A registered handler, by its name. */
interface Registered {
  /** The methods for which it is the last handler of its route. Null for a middleware. */
  readonly methods: Set<string> | null;
}

/** An app that was built as planned, and records the handlers that a request reaches. */
class Built {
  readonly registered = new Map<string, Registered>();
  readonly reached = new Set<string>();
  readonly #routers: Handler[] = [];
  /** How many routes and middleware there are. */
  #layers = 0;
  readonly app: Handler;

  constructor(plan: RouterPlan) {
    this.app = this.#router({ ...plan, kind: 'app' });
  }

  #router({ kind, strict, caseSensitive, mergeParams, steps }: RouterPlan): Handler {
    const router = (
      kind === 'app' ? express() : express.Router({ strict, caseSensitive, mergeParams })
    ) as express.Express;
    if (kind === 'app') {
      router.set('strict routing', strict);
      router.set('case sensitive routing', caseSensitive);
    }
    for (const step of steps) {
      if ('param' in step) {
        router.param(step.param, (_req, res, next, value) => {
          if (value === step.value) act(step.does, res, next);
          else next();
        });
      } else if ('use' in step) {
        const parts = step.parts.flatMap((part) => this.#part(part, null) ?? []);
        if (parts.length === 0) continue;
        if (step.use === null) router.use(...(parts as never[]));
        else router.use(step.use as string, ...(parts as never[]));
      } else {
        this.#route(router, step);
      }
    }
    this.#routers.push(router as never);
    return router as never;
  }

  #route(router: express.Express, { route, calls, isChained }: Extract<Step, { route: unknown }>): void {
    this.#layers++;
    if (isChained) {
      const chained = router.route(route as string);
      const built: [Method, Handler][] = [];
      for (const { method, parts } of calls) {
        const handlers = parts.flatMap((part) => this.#part(part, method) ?? []);
        chained[method](...(handlers as never[]));
        built.push(...handlers.flat(9).map((one): [Method, Handler] => [method, one as Handler]));
      }
      this.#noteLast(built);
      return;
    }
    for (const { method, parts } of calls) {
      this.#layers++;
      const handlers = parts.flatMap((part) => this.#part(part, method) ?? []);
      router[method](route as string, ...(handlers as never[]));
      this.#noteLast(handlers.flat(9).map((one): [Method, Handler] => [method, one as Handler]));
    }
  }

  /** Notes for which methods a handler is the last one. */
  #noteLast(built: readonly [Method, Handler][]): void {
    for (const method of new Set(built.map(([one]) => one))) {
      const last = built.findLast(
        ([one, { name }]) => (one === method || one === 'all') && this.registered.has(name),
      );
      if (last) this.registered.get(last[1].name)?.methods?.add(method.toUpperCase());
    }
  }

  #part(part: Part, method: Method | null): unknown[] | null {
    if (Array.isArray(part)) return [part.flatMap((one) => this.#part(one, method) ?? [])];
    const given = part as Exclude<Part, readonly Part[]>;
    if ('guard' in given) return [guardOf(given.guard)];
    if ('mark' in given)
      return [given.mark === 'publicRoute' ? publicRoute('of the spec') : optionalSession(auth)];
    if ('onError' in given)
      return [
        (error: unknown, _req: unknown, _res: unknown, next: (error?: unknown) => void) =>
          given.onError === 'continue' ? next() : next(error),
      ];
    if ('router' in given) return [this.#router(given.router)];
    if ('again' in given) {
      const router = this.#routers[given.again % (this.#routers.length || 1)];
      return router ? [router] : null;
    }
    if (method === null) this.#layers++;
    const name = `${this.#layers}-${this.registered.size + 1}`;
    this.registered.set(name, { methods: method === null ? null : new Set() });
    const handler: express.RequestHandler = (_req, res, next) => {
      this.reached.add(name);
      act(given.handler, res, next);
    };
    return [Object.defineProperty(handler, 'name', { value: name })];
  }
}

function act(does: Does, res: express.Response, next: express.NextFunction): void {
  if (does === 'answer') res.end();
  else if (does === 'next') next();
  else if (does === 'error') next(new Error('of the spec'));
  else next(does);
}

function guardOf(name: string): unknown {
  if (name === 'requireSession') return requireSession(auth);
  if (name === 'requireAdmin') return requireAdmin(auth);
  return function isMember(_req: unknown, _res: unknown, next: (error: unknown) => void) {
    next(new Error('not a member'));
  };
}

// ── Requests ──

let current: Handler | undefined;
const server = createServer((req, res) => (current as unknown as RequestListener)(req, res));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  agent.destroy();
  server.close();
  await auth.close();
});

/** Resolves to the status. */
function send(method: string, path: string): Promise<number> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, agent, method, path }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end();
  });
}

/** Returns the address of a request for a route. */
function addressOf(shown: string, { values, change, at }: Asked): string {
  let index = 0;
  const value = () => values[index++ % values.length] ?? '';
  const filled = shown
    .replace(/\/\^?((?:\\\/|[^/])*)\$?\/[gi]*/g, (whole, source: string) =>
      // A regular expression follows a path without a slash between.
      source.includes('\\') || source.includes('^')
        ? source.replaceAll('\\/', '/').replace(/\(.*\)|[$^]/g, value)
        : whole,
    )
    .replace(/\{([^}]*)\}/g, '$1')
    .replace(/:\w+(\(.*?\))?\??|\*\w*|\(a\|b\)/g, value)
    .replace(/\|.*/, '');
  const plain = filled.startsWith('/') ? filled : `/${filled}`;
  const parts = plain.split('/');
  const place = 1 + (at % (parts.length - 1 || 1));
  if (change === 'upper') return plain.toUpperCase();
  if (change === 'slash') return plain.endsWith('/') ? plain.slice(0, -1) || '/' : `${plain}/`;
  if (change === 'absolute') return `http://localhost${plain}`;
  if (change === 'double') return parts.toSpliced(place, 0, '').join('/');
  if (change === 'hash') return `${plain}#`;
  if (change === 'brace') return `${parts.toSpliced(place, 1, '{', '', '').join('/')}#`;
  return plain;
}

/** Returns the routes for the method of a request, of those with the same handlers. */
function ofMethod(routes: readonly FoundRoute[], asked: string): readonly FoundRoute[] {
  const methods = [asked, ...(asked === 'HEAD' ? ['GET'] : []), 'ALL', 'USE'];
  return routes.filter(({ path, method }) => {
    const others = routes.filter((one) => one.path === path).map((one) => one.method);
    return method === methods.find((one) => others.includes(one));
  });
}

/** Returns the name of the route or middleware that a handler is part of. */
const layerOf = (name: string) => name.split('-')[0] ?? '';

/** Whether a request can be for the path of a route, as far as the paths can be compared. */
function isForPath(route: FoundRoute, path: string): boolean {
  const parts = (whole: string) => whole.toLowerCase().split('/').filter(Boolean);
  const [wanted, given] = [parts(route.path), parts(path)];
  // A pattern can match anything.
  if (!wanted.every((part) => /^(:\w+|[\w.]+)$/.test(part)) || /[#{]|:\/\//.test(path)) return true;
  if (route.method !== 'USE' && wanted.length !== given.length) return false;
  return wanted.every(
    (part, index) => given[index] !== undefined && (part.startsWith(':') || part === given[index]),
  );
}

// ── The property ──

const counts = { routes: 0, guarded: 0, reached: 0, notReached: 0 };

async function holds(planned: RouterPlan, requests: readonly Asked[]): Promise<void> {
  const built = new Built(planned);
  const routes = routesOf({ apps: [built.app], labels, listen: server.listen }, [OWN_GUARD]);
  const lines = routes.map(({ method, path, name, access }) => `${method} ${path} (${name}) ${access}`);
  const byHandler = new Map<string, FoundRoute[]>();
  const byLayer = new Map<string, FoundRoute[]>();
  for (const route of routes) {
    const names = route.method === 'USE' ? [route.name ?? ''] : route.behind.map(({ handle }) => handle.name);
    for (const name of new Set(names)) byHandler.set(name, [...(byHandler.get(name) ?? []), route]);
    for (const layer of new Set(names.map(layerOf)))
      byLayer.set(layer, [...(byLayer.get(layer) ?? []), route]);
  }
  for (const [name, { methods }] of built.registered) {
    const listed = (byHandler.get(name) ?? []).map((route) => route.method);
    for (const method of methods ?? ['USE']) {
      const isListed =
        listed.includes(method) || (method === 'ALL' && METHODS.every((one) => listed.includes(one)));
      if (!isListed) throw new Error(`${method} of ${name} is not listed in\n${lines.join('\n')}`);
    }
  }
  if (routes.length === 0) return;
  const everReached = new Set<FoundRoute>();
  current = built.app;
  for (const asked of requests) {
    const route = routes[asked.route % routes.length] as FoundRoute;
    const usual =
      ['ALL', 'USE'].includes(route.method) || !METHODS.includes(route.method) ? 'GET' : route.method;
    const method = asked.method || (usual === 'CONNECT' ? 'GET' : usual);
    const address = addressOf(route.path, asked);
    built.reached.clear();
    await send(method, address);
    for (const name of built.reached) {
      const all = ofMethod(byLayer.get(layerOf(name)) ?? [], method);
      const likely = all.filter((one) => isForPath(one, address));
      const candidates = likely.length > 0 ? likely : all;
      for (const one of candidates) everReached.add(one);
      if (candidates.length > 0 && candidates.every(({ access }) => access === 'guarded'))
        throw new Error(`${method} ${address} reached ${name} without a session, in\n${lines.join('\n')}`);
    }
  }
  counts.routes += routes.length;
  for (const route of routes) {
    if (route.access === 'guarded') counts.guarded++;
    else counts[everReached.has(route) ? 'reached' : 'notReached']++;
  }
}

test('lists the routes of generated apps, and as guarded only those that no request without a session reaches', async () => {
  for (const [plans, length] of [
    [plan, 25],
    [small, 15],
  ] as const) {
    const requests = fc.array(asked, { minLength: 1, maxLength: length, size: 'max' });
    const property = fuzz('latchkey routes', RUNS, fc.asyncProperty(plans, requests, holds));
    const { violation } = await tryInputs(property, { runs: RUNS, seed: FROM });
    if (violation !== null) throw new Error(violation);
  }
  // The list could be right without being useful: it knows guards, and requests reach other routes.
  expect(counts.guarded).toBeGreaterThan(counts.routes / 10);
  expect(counts.reached).toBeGreaterThan(counts.routes / 20);
  // Of these, some are guarded in a way that the list does not know.
  expect(counts.notReached).toBeLessThan(counts.routes / 2);
}, 600_000);
