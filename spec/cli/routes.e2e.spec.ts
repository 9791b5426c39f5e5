import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SECRET } from '../support/app.js';
import { type CliProject, type Ended, startProject } from '../support/cli.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the apps below use without declaring it. */
const GIVEN = `
  import express from 'express';
  import { admin, authRouter, createAuth, optionalSession, publicRoute, requireAdmin, requireSession } from 'latchkey';
  const auth = createAuth({ database: 'sqlite::memory:', secret: '${SECRET}', plugins: [admin({ adminEmails: ['ada@example.com'] })] });
  const guard = requireSession(auth);
  const answer = (req, res) => res.send('answered');
  export const app = express();
`;

describe.each([
  ['4', 'express4'],
  ['5', 'express'],
])('latchkey routes with Express %s', (version, installed) => {
  let project: CliProject;
  beforeAll(async () => {
    project = await startProject('tsx');
    await symlink(join(root, 'node_modules', installed), join(project.folder, 'node_modules/express'));
    await project.write({ 'package.json': '{ "type": "module" }' });
  }, 180_000);
  afterAll(() => project.remove());

  /** Runs the command on an app. Resolves to the lines before the empty one. */
  async function routesOf(code: string, ...args: string[]): Promise<string[]> {
    const { code: exit, stdout, stderr } = await runOn(`${GIVEN}${code}`, ...args);
    expect([exit, stderr]).toEqual([0, '']);
    return stdout.split('\n\n')[0]?.split('\n') ?? [];
  }

  async function runOn(code: string, ...args: string[]): Promise<Ended> {
    await project.write({ 'app.js': code });
    return project.run(['routes', ...args]);
  }

  test('names the guards in front of each route', async () => {
    const routes = await routesOf(`
      app.get('/open', answer);
      app.get('/guarded', guard, answer);
      app.post('/two', [guard, [requireAdmin(auth, { aal: 2 })]], answer);
      app.get('/optional', optionalSession(auth), answer);
      app.get('/redirects', requireSession(auth, { onError: (error, req, res) => res.redirect('/') }), answer);
      app.get('/price', publicRoute('anyone can read prices'), answer);
      app.get('/behind', answer, guard);
      app.get('/hidden', (req, res, next) => guard(req, res, next), answer);
      app.get(['/one', '/another'], guard, answer);
      app.route('/chained').all(guard).get(answer).post(answer);
      app.route('/chained-late').get(answer).all(guard);
      app.get('/recovers', guard, (error, req, res, next) => next(), answer);
    `);
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

  test('finds the routes of routers and apps, with the guards in front of them', async () => {
    const routes = await routesOf(`
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
      app.use(function parseBody(req, res, next) { next(); });
      app.use('/graph', guard, function graph(req, res) { res.end(); });
      own.use(own);
    `);
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

  test('says that a guard with a path guards only what surely has that path', async () => {
    const routes = await routesOf(`
      app.get('/admin/early', answer);
      app.use('/admin', guard);
      app.use(['/a', '/b/:name'], publicRoute('listed'));
      app.get('/admin', answer);
      app.get('/admin/users/:id', answer);
      app.get('/administration', answer);
      app.get('/:any/users', answer);
      app.get('/admin/' + (${version} === 4 ? '*' : '*rest'), answer);
      app.get('/b/known', answer);
      app.get(/^\\/admin/, answer);
      app.use(/^\\/re/, guard);
      app.use(/^\\/re/, express.Router().get('/x', answer));
      app.get(/^\\/re/, answer);
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
      app.use((error, req, res, next) => next());
      app.get('/admin/recovered', answer);
    `);
    expect(routes).toEqual([
      'GET /admin/early unknown',
      'GET /admin guarded by requireSession',
      'GET /admin/users/:id guarded by requireSession',
      'GET /administration unknown',
      'GET /:any/users unknown',
      `GET /admin/${version === '4' ? '*' : '*rest'} guarded by requireSession`,
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

  test('lists a route of app.all once, unless its methods differ', async () => {
    const routes = await routesOf(`
      app.all('/every', answer);
      app.all('/kept', guard, answer);
      app.route('/mixed').get(guard);
      app.all('/mixed', answer);
    `);
    expect(routes.slice(0, 2)).toEqual(['ALL /every unknown', 'ALL /kept guarded by requireSession']);
    expect(routes).toContain('GET /mixed guarded by requireSession');
    expect(routes).toContain('POST /mixed unknown');
  });

  test('does not list layers of Express in an app that only mounts another one', async () => {
    const routes = await routesOf(`
      app.use('/inner', express().get('/x', answer));
      app.get('/outer', answer);
    `);
    expect(routes).toEqual(['GET /inner/x unknown', 'GET /outer unknown']);
  });

  test('does not rely on a guard that distinguishes capital letters', async () => {
    const routes = await routesOf(`
      const strict = express.Router({ caseSensitive: true });
      strict.use('/admin', guard);
      strict.use(express.Router().get('/admin/users', answer));
      strict.get('/admin', answer);
      app.use(strict);
    `);
    expect(routes).toEqual(['GET /admin/users unknown', 'GET /admin guarded by requireSession']);
  });

  test('does not rely on a guard that a callback of param can skip', async () => {
    const routes = await routesOf(`
      app.param('id', (req, res, next, id) => next(id === 'export' ? 'route' : undefined));
      app.use('/users/:id', guard);
      app.get('/users/export', answer);
      app.get('/users/:id', answer);
      app.use('/users', express.Router().get('/list', answer));
      app.use('/users/:id', express.Router().get('/posts', answer));
      app.use('/teams/:team', guard);
      app.get('/teams/export', answer);
    `);
    expect(routes).toEqual([
      'GET /users/export unknown',
      'GET /users/:id guarded by requireSession',
      'GET /users/list unknown',
      'GET /users/:id/posts guarded by requireSession',
      'GET /teams/export guarded by requireSession',
    ]);
  });

  test('does not rely on a guard behind another handler of its route', async () => {
    const routes = await routesOf(`
      const cached = (req, res, next) => next();
      app.get('/cached', cached, guard, answer);
      app.get('/both', guard, cached, requireAdmin(auth), answer);
      app.use('/outer', guard);
      app.get('/outer', cached, requireAdmin(auth), answer);
    `);
    expect(routes).toEqual([
      'GET /cached unknown',
      'GET /both guarded by requireSession',
      'GET /outer guarded by requireSession',
    ]);
  });

  test('does not rely on a guard that a route can skip, or run for some requests only', async () => {
    const routes = await routesOf(`
      const skip = (req, res, next) => next('route');
      const recover = (error, req, res, next) => next();
      app.route('/skips').get(skip).all(guard);
      app.get('/skips', answer);
      app.post('/skips', answer);
      app.route('/recovers').all(guard).get(recover);
      app.get('/recovers', answer);
      app.route('/head').get(guard).head((req, res, next) => next());
      app.get('/head', answer);
      app.route('/kept').all(guard).get(skip);
      app.get('/kept', answer);
    `);
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

  test('does not rely on a guard whose path does not match, or matches in another way', async () => {
    const routes = await routesOf(`
      app.use('no-slash', guard);
      app.get('/no-slash', answer);
      app.use(['/', '/one'], guard);
      app.get('/one', answer);
      app.get('/other', answer);
      app.use('/two', guard);
      app.use(['/'], express.Router().get('/two', answer));
      app.use([/^\\//, '/shadowed'], guard);
      app.get('/shadowed/x', answer);
      app.use(/^\\/stateful/g, guard);
      app.use(/^\\/stateful/g, express.Router().get('/x', answer));
      app.use(/^\\/in-list/, guard);
      app.use([/^\\/in-list/], express.Router().get('/x', answer));
      app.use('/this|/that', guard);
      app.get('/this|/that', answer);
      app.use(['/three', '/four'], guard);
      app.use(['/three', '/four'], express.Router().get('/x', answer));
    `);
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

  test('does not rely on a guard with an array of paths that a callback of param can skip', async () => {
    const routes = await routesOf(`
      app.param('id', (req, res, next, id) => next(id === 'export' ? 'route' : undefined));
      app.use(['/:id', '/export'], guard);
      app.get('/export', answer);
      app.get(['/:name', '/:id'], answer);
      app.use(['/:id', '/export'], express.Router().get('/x', answer));
    `);
    expect(routes).toEqual([
      'GET /export unknown',
      'GET /:name unknown',
      'GET /:id unknown',
      'GET /:id/x guarded by requireSession',
      'GET /export/x guarded by requireSession',
    ]);
  });

  test('does not rely on a guard in front of a middleware that can change the address', async () => {
    const routes = await routesOf(`
      const load = (req, res, next) => next();
      app.use('/:team/admin', guard);
      app.use('/plain', guard);
      app.get('/:team/admin/early', answer);
      app.use('/static', load);
      app.get('/:team/admin/static', answer);
      app.use('/:team/admin', express.Router().get('/one', answer));
      app.use('/:team/admin', express.Router().get('/two', answer));
      app.use(express.Router().use('/:team', load));
      app.get('/:team/admin', answer);
      app.get('/plain/x', answer);
    `);
    expect(routes.filter((line) => line.startsWith('GET'))).toEqual([
      'GET /:team/admin/early guarded by requireSession',
      'GET /:team/admin/static guarded by requireSession',
      'GET /:team/admin/one guarded by requireSession',
      'GET /:team/admin/two guarded by requireSession',
      'GET /:team/admin unknown',
      'GET /plain/x guarded by requireSession',
    ]);
  });

  test('lists routes that are added later, to a router of latchkey, or to another app', async () => {
    const routes = await routesOf(`
      const router = authRouter(auth);
      router.get('/debug', answer);
      app.use('/auth', router);
      const connect = Object.assign((req, res, next) => next(), { stack: [{ route: '/x', handle: answer }] });
      app.use('/connect', connect);
      const other = express();
      other.get('/metrics', answer);
      new Promise((resolve) => setTimeout(resolve, 100)).then(() => app.get('/late', guard, answer));
    `);
    expect(routes).toEqual([
      'USE /auth (router) latchkey',
      // Here, latchkey's router is not from the app's copy of Express if that is Express 4.
      `GET /auth${version === '4' ? '?' : '/debug'} unknown`,
      'USE /connect (anonymous) unknown',
      'GET /late guarded by requireSession',
      'GET /metrics unknown',
    ]);
  });

  test('knows the guards that --guards names', async () => {
    const code = `
      function isLoggedIn(req, res, next) { res.sendStatus(401); }
      const isOwner = (req, res, next) => res.sendStatus(403);
      app.get('/x', isLoggedIn, isOwner, answer);`;
    expect(await routesOf(code)).toEqual(['GET /x unknown']);
    expect(await routesOf(code, '--guards', 'isLoggedIn, isOwner')).toEqual([
      'GET /x guarded by isLoggedIn, isOwner',
    ]);
    const recovers =
      'function isLoggedIn(error, req, res, next) { next(); }\napp.get("/x", isLoggedIn, answer);';
    expect(await routesOf(recovers, '--guards', 'isLoggedIn')).toEqual(['GET /x unknown']);
    // The function that passport.session() returns admits every request.
    const { code: exit, stderr } = await runOn(code, '--guards', 'isLoggedIn,authenticate');
    expect([exit, stderr]).toEqual([2, expect.stringContaining('wrap passport.authenticate(…)')]);
  });

  test('--check fails for what is not in the list that --write has written', async () => {
    const code = `${GIVEN}app.get('/b', guard, answer);\napp.get('/a', publicRoute('two\\n  lines'), answer);`;
    const none = await runOn(code, '--check');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('there is no latchkey.routes.txt')]);
    expect((await runOn(code, '--write')).code).toBe(0);
    const list = await readFile(join(project.folder, 'latchkey.routes.txt'), 'utf8');
    expect(list).toBe('GET /a public: two lines\nGET /b guarded by requireSession\n');
    expect(await runOn(code, '--check')).toMatchObject({
      code: 0,
      stdout: 'Every route is in latchkey.routes.txt.\n',
    });

    const changed = `${GIVEN}app.get('/b', answer);\napp.get('/a', answer);\napp.get('/a', answer);`;
    const { code: exit, stdout } = await runOn(changed, '--check', '--json');
    expect([exit, JSON.parse(stdout)]).toMatchObject([
      1,
      {
        added: ['GET /a unknown', 'GET /a unknown', 'GET /b unknown'],
        removed: ['GET /a public: two lines', 'GET /b guarded by requireSession'],
      },
    ]);
    const text = await runOn(changed, '--check');
    expect(text.stdout).toMatch(
      /^Not in latchkey\.routes\.txt\. .*:(\n {2}GET \/a unknown){2}\n {2}GET \/b unknown\nIn /,
    );
    const fewer = await runOn(`${GIVEN}app.get('/b', guard, answer);`, '--check');
    expect([fewer.code, fewer.stdout]).toEqual([0, expect.stringContaining('but not in the app:')]);
  });

  test('--probe asks without a session, and runs nothing behind guards', async () => {
    const { code, stdout, stderr } = await runOn(
      `${GIVEN}
      const run = (name) => (req, res, next) => { console.error('ran ' + name); next(); };
      function broken(req, res, next) { next(); }
      app.use(run('first'));
      app.use('/kept', guard, run('behind'), express.Router().post('/:id', run('parameter'), answer));
      app.get('/open/new', answer);
      app.get('/open/:id', answer);
      app.get('/refused', (req, res) => res.sendStatus(418), answer);
      app.get('/broken', broken, run('handler'), answer);
      app.get(/^\\/pattern/, answer);
      app.use('', express.Router().use('/inner', express.Router().get('/:id', guard, answer)));
      app.use('/auth', authRouter(auth));`,
      '--probe',
      '--json',
      '--guards',
      'broken',
    );
    expect([code, new Set(stderr.trim().split('\n'))]).toEqual([1, new Set(['ran first'])]);
    const { routes } = JSON.parse(stdout);
    expect(routes.map(({ path, name, probe }: Record<string, string>) => [name ?? path, probe])).toEqual([
      ['anonymous', null],
      ['anonymous', null],
      ['/kept/:id', { status: 401, isReached: false }],
      ['/open/new', { status: 200, isReached: true }],
      ['/open/:id', { status: 200, isReached: true }],
      ['/refused', { status: 418, isReached: false }],
      ['/broken', { status: 200, isReached: true }],
      ['/^\\/pattern/', null],
      ['/inner/:id', { status: 401, isReached: false }],
      ['router', null],
    ]);
  });

  test.each([
    ['exports nothing', '', 'app.listen(3000, () => console.error("listens"));\napp.get("/late", answer);'],
    ['waits until it listens', '', 'await new Promise((resolve) => app.listen(3000, resolve));'],
    ['has a server', '', 'createServer(app).listen(3000);'],
    ['exports a server, with which another module listens', '', 'export const server = createServer(app);'],
  ])('finds an app that %s, and does not let it listen', async (_what, _, code) => {
    const {
      code: exit,
      stdout,
      stderr,
    } = await runOn(
      `${GIVEN.replace('export ', "import { createServer } from 'node:http';\nconsole.log('starts');")}
      app.get('/x', guard, answer);\n${code}`,
      '--json',
    );
    expect([exit, stderr]).toEqual([0, 'starts\n']);
    expect(JSON.parse(stdout).routes[0]).toEqual({
      method: 'GET',
      path: '/x',
      access: 'guarded',
      by: ['requireSession'],
      name: null,
    });
  });

  test('loads TypeScript and CommonJS, by package.json or by name', async () => {
    await mkdir(join(project.folder, 'src'), { recursive: true });
    await project.write({
      'package.json': '{ "type": "module", "scripts": { "start": "tsx src/server.ts" } }',
      'src/server.ts': `${GIVEN}const path: string = '/typed';\napp.get(path, guard, answer);`,
      'old/app.cjs': `const express = require('express');
        module.exports = express().get('/common', answer);
        function answer() {}`,
    });
    expect((await project.run(['routes'])).stdout).toMatch(
      /^GET \/typed guarded by requireSession\n\n1 route: 1 guarded/,
    );
    expect((await project.run(['routes', 'old/app.cjs'])).stdout).toMatch(/^GET \/common unknown\n/);
    const missing = await project.run(['routes', 'nothing.js']);
    expect([missing.code, missing.stderr]).toEqual([2, 'latchkey: there is no file nothing.js\n']);
    await project.write({
      'package.json': '{ "type": "module" }',
      'two.js': `${GIVEN.replace('export ', '')}
      app.get('/x', guard, answer);
      express().get('/x', answer).listen(1);`,
    });
    const two = await project.run(['routes', 'two.js', '--probe']);
    expect([two.code, two.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^GET \/x guarded by requireSession → 401\nGET \/x unknown → reached .*\n\n2 routes/,
      ),
    ]);
  });
});
