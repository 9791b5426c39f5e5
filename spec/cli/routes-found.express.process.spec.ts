import { expect, test } from '@jest/globals';
import express, {
  type ErrorRequestHandler,
  type Express,
  type RequestHandler,
  type RequestParamHandler,
} from 'express';
import { labelLayers } from '../../lib/cli/express/load.js';
import { routesOf as found } from '../../lib/cli/express/walk.js';
import { lineOf } from '../../lib/cli/routes.js';
import {
  admin,
  authRouter,
  createAuth,
  optionalSession,
  publicRoute,
  requireAdmin,
  requireSession,
} from '../../lib/index.js';
import { memoryLogger, SECRET } from '../support/app.js';

const { labels } = labelLayers(express as never);
const isExpress4 = 'lazyrouter' in express.application;

const auth = createAuth({
  database: 'sqlite::memory:',
  secret: SECRET,
  plugins: [admin({ adminEmails: ['ada@example.com'] })],
  logger: memoryLogger(),
});
const guard = requireSession(auth);
const answer: RequestHandler = (_req, res) => void res.send('answered');
const pass: RequestHandler = (_req, _res, next) => next();
const skip: RequestHandler = (_req, _res, next) => next('route');
const recover: ErrorRequestHandler = (_error, _req, _res, next) => next();
const skipExport: RequestParamHandler = (_req, _res, next, id) => next(id === 'export' ? 'route' : undefined);

/** Returns the routes that `latchkey routes` lists of an app. */
function routesOf(register: (app: Express) => unknown): string[] {
  const app = express();
  register(app);
  return found({ apps: [app as never], labels, listen: () => undefined as never }, []).map(lineOf);
}

test('names the guards in front of each route', () => {
  const routes = routesOf((app) => {
    app.get('/open', answer);
    app.get('/guarded', guard, answer);
    app.post('/two', [guard, [requireAdmin(auth, { aal: 2 })] as never], answer);
    app.get('/optional', optionalSession(auth), answer);
    app.get(
      '/redirects',
      requireSession(auth, { onError: (_error, _req, res) => res.redirect('/') }),
      answer,
    );
    app.get('/price', publicRoute('anyone can read prices'), answer);
    app.get('/behind', answer, guard);
    app.get('/hidden', (req, res, next) => guard(req, res, next), answer);
    app.get(['/one', '/another'], guard, answer);
    app.route('/chained').all(guard).get(answer).post(answer);
    app.route('/chained-late').get(answer).all(guard);
    app.get('/recovers', [guard, recover], answer);
  });
  expect(routes).toEqual([
    'GET /open unknown',
    'GET /guarded guarded by requireSession',
    'POST /two guarded by requireSession, requireAdmin {"aal":2}',
    'GET /optional unknown',
    'GET /redirects unknown',
    'GET /price public: anyone can read prices',
    'GET /behind unknown',
    'GET /hidden unknown',
    'GET /one guarded by requireSession',
    'GET /another guarded by requireSession',
    'GET /chained guarded by requireSession',
    'POST /chained guarded by requireSession',
    'GET /chained-late unknown',
    'GET /recovers unknown',
  ]);
});

test('finds the routes of routers and apps, with the guards in front of them', () => {
  const routes = routesOf((app) => {
    const inner = express.Router().get('/:id', answer);
    const outer = express.Router().use('/items', inner).get('/', answer);
    app.use('/free', outer);
    app.use('/kept', guard, outer);
    const own = express.Router();
    own.get('/before', answer);
    own.use(guard);
    own.get('/after', answer);
    app.use('/own', own);
    const mounted = express();
    mounted.delete('/x', answer);
    app.use('/mounted', guard, mounted);
    app.use('/auth', authRouter(auth));
    app.use(function parseBody(_req, _res, next) {
      next();
    });
    app.use('/graph', guard, function graph(_req, res) {
      res.end();
    });
    own.use(own);
  });
  expect(routes).toEqual([
    'GET /free/items/:id unknown',
    'GET /free unknown',
    'GET /kept/items/:id guarded by requireSession',
    'GET /kept guarded by requireSession',
    'GET /own/before unknown',
    'GET /own/after guarded by requireSession',
    'DELETE /mounted/x guarded by requireSession',
    'USE /auth (router) latchkey',
    'USE / (parseBody) unknown',
    'USE /graph (graph) guarded by requireSession',
  ]);
});

test('says that a guard with a path guards only what surely has that path', () => {
  const routes = routesOf((app) => {
    app.get('/admin/early', answer);
    app.use('/admin', guard);
    app.use(['/a', '/b/:name'], publicRoute('listed'));
    app.get('/admin', answer);
    app.get('/admin/users/:id', answer);
    app.get('/administration', answer);
    app.get('/:any/users', answer);
    app.get(`/admin/${isExpress4 ? '*' : '*rest'}`, answer);
    app.get('/b/known', answer);
    app.get(/^\/admin/, answer);
    app.use(/^\/re/, guard);
    app.use(/^\/re/, express.Router().get('/x', answer));
    app.get(/^\/re/, answer);
    app.all('/exact', guard);
    app.get('/exact', answer);
    app.get('/exact/below', answer);
    app.get('/posted', guard);
    app.post('/posted', answer);
    app.use('/api', express.Router().get('/admin', answer));
    app.use(express.Router().get('/admin/rooted', answer));
    app.use('/slash', guard);
    app.use('', express.Router().get('/slash', answer));
    app.use('/deep/path', guard);
    app.use('/deep', express.Router().get('/path', answer));
    app.use(recover);
    app.get('/admin/recovered', answer);
  });
  expect(routes).toEqual([
    'GET /admin/early unknown',
    'GET /admin guarded by requireSession',
    'GET /admin/users/:id guarded by requireSession',
    'GET /administration unknown',
    'GET /:any/users unknown',
    `GET /admin/${isExpress4 ? '*' : '*rest'} guarded by requireSession`,
    'GET /b/known public: listed',
    'GET /^\\/admin/ unknown',
    'GET /^\\/re//x guarded by requireSession',
    'GET /^\\/re/ unknown',
    'GET /exact guarded by requireSession',
    'GET /exact/below unknown',
    'POST /posted unknown',
    'GET /api/admin unknown',
    'GET /admin/rooted guarded by requireSession',
    'GET /slash unknown',
    'GET /deep/path unknown',
    'GET /admin/recovered unknown',
  ]);
});

test('lists a route of app.all once, unless its methods differ', () => {
  const routes = routesOf((app) => {
    app.all('/every', answer);
    app.all('/kept', guard, answer);
    app.route('/mixed').get(guard);
    app.all('/mixed', answer);
  });
  expect(routes.slice(0, 2)).toEqual(['ALL /every unknown', 'ALL /kept guarded by requireSession']);
  expect(routes).toContain('GET /mixed guarded by requireSession');
  expect(routes).toContain('POST /mixed unknown');
});

test('does not list layers of Express in an app that only mounts another one', () => {
  const routes = routesOf((app) => {
    app.use('/inner', express().get('/x', answer));
    app.get('/outer', answer);
  });
  expect(routes).toEqual(['GET /inner/x unknown', 'GET /outer unknown']);
});

test('does not rely on a guard that distinguishes capital letters', () => {
  const routes = routesOf((app) => {
    const strict = express.Router({ caseSensitive: true });
    strict.use('/admin', guard);
    strict.use(express.Router().get('/admin/users', answer));
    strict.get('/admin', answer);
    app.use(strict);
  });
  expect(routes).toEqual(['GET /admin/users unknown', 'GET /admin guarded by requireSession']);
});

test('does not rely on a guard that a callback of param can skip', () => {
  const routes = routesOf((app) => {
    app.param('id', skipExport);
    app.use('/users/:id', guard);
    app.get('/users/export', answer);
    app.get('/users/:id', answer);
    app.use('/users', express.Router().get('/list', answer));
    app.use('/users/:id', express.Router().get('/posts', answer));
    app.use('/teams/:team', guard);
    app.get('/teams/export', answer);
  });
  expect(routes).toEqual([
    'GET /users/export unknown',
    'GET /users/:id guarded by requireSession',
    'GET /users/list unknown',
    'GET /users/:id/posts guarded by requireSession',
    'GET /teams/export guarded by requireSession',
  ]);
});

test('does not rely on a guard behind another handler of its route', () => {
  const routes = routesOf((app) => {
    app.get('/cached', pass, guard, answer);
    app.get('/both', guard, pass, requireAdmin(auth), answer);
    app.use('/outer', guard);
    app.get('/outer', pass, requireAdmin(auth), answer);
  });
  expect(routes).toEqual([
    'GET /cached unknown',
    'GET /both guarded by requireSession',
    'GET /outer guarded by requireSession',
  ]);
});

test('does not rely on a guard that a route can skip, or run for some requests only', () => {
  const routes = routesOf((app) => {
    app.route('/skips').get(skip).all(guard);
    app.get('/skips', answer);
    app.post('/skips', answer);
    app.route('/recovers').all(guard).get(recover);
    app.get('/recovers', answer);
    app.route('/head').get(guard).head(pass);
    app.get('/head', answer);
    app.route('/kept').all(guard).get(skip);
    app.get('/kept', answer);
  });
  expect(routes).toEqual([
    'GET /skips unknown',
    'GET /skips unknown',
    'POST /skips guarded by requireSession',
    'GET /recovers unknown',
    'HEAD /head unknown',
    'GET /head unknown',
    'GET /kept guarded by requireSession',
    'GET /kept guarded by requireSession',
  ]);
});

test('does not rely on a guard whose path does not match, or matches in another way', () => {
  const routes = routesOf((app) => {
    app.use('no-slash', guard);
    app.get('/no-slash', answer);
    app.use(['/', '/one'], guard);
    app.get('/one', answer);
    app.get('/other', answer);
    app.use('/two', guard);
    app.use(['/'], express.Router().get('/two', answer));
    app.use([/^\//, '/shadowed'], guard);
    app.get('/shadowed/x', answer);
    app.use(/^\/stateful/g, guard);
    app.use(/^\/stateful/g, express.Router().get('/x', answer));
    app.use(/^\/in-list/, guard);
    app.use([/^\/in-list/], express.Router().get('/x', answer));
    app.use('/this|/that', guard);
    app.get('/this|/that', answer);
    app.use(['/three', '/four'], guard);
    app.use(['/three', '/four'], express.Router().get('/x', answer));
  });
  expect(routes).toEqual([
    'GET /no-slash unknown',
    'GET /one guarded by requireSession',
    'GET /other unknown',
    'GET /two unknown',
    'GET /shadowed/x unknown',
    'GET /^\\/stateful/g/x unknown',
    'GET /^\\/in-list//x unknown',
    'GET /this|/that unknown',
    'GET /three/x guarded by requireSession',
    'GET /four/x guarded by requireSession',
  ]);
});

test('does not rely on a guard with an array of paths that a callback of param can skip', () => {
  const routes = routesOf((app) => {
    app.param('id', skipExport);
    app.use(['/:id', '/export'], guard);
    app.get('/export', answer);
    app.get(['/:name', '/:id'], answer);
    app.use(['/:id', '/export'], express.Router().get('/x', answer));
  });
  expect(routes).toEqual([
    'GET /export unknown',
    'GET /:name unknown',
    'GET /:id unknown',
    'GET /:id/x guarded by requireSession',
    'GET /export/x guarded by requireSession',
  ]);
});

test('does not rely on a guard in front of a middleware that can change the address', () => {
  const routes = routesOf((app) => {
    app.use('/:team/admin', guard);
    app.use('/plain', guard);
    app.get('/:team/admin/early', answer);
    app.use('/static', pass);
    app.get('/:team/admin/static', answer);
    app.use('/:team/admin', express.Router().get('/one', answer));
    app.use('/:team/admin', express.Router().get('/two', answer));
    app.use(express.Router().use('/:team', pass));
    app.get('/:team/admin', answer);
    app.get('/plain/x', answer);
  });
  expect(routes.filter((line) => line.startsWith('GET'))).toEqual([
    'GET /:team/admin/early guarded by requireSession',
    'GET /:team/admin/static guarded by requireSession',
    'GET /:team/admin/one guarded by requireSession',
    'GET /:team/admin/two guarded by requireSession',
    'GET /:team/admin unknown',
    'GET /plain/x guarded by requireSession',
  ]);
});
