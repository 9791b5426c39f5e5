import { afterEach, describe, expect, test } from '@jest/globals';
import express, { type Express } from 'express';
import request from 'supertest';
import { type Auth, admin, authRouter, createAuth, requireSession } from '../lib/index.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, sessionCookie, startApp } from './support/app.js';
import { rows } from './support/database.js';
import { expectProblem } from './support/problem.js';

const plugins = [password({ username: true }), admin({ adminEmails: [ada.email] })] as const;
let running: SpecApp<typeof plugins> | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

const start = async (mount: (app: Express, auth: Auth) => void) => {
  running = await startApp({ plugins, mount });
  return running;
};

describe('authRouter', () => {
  const nested = (auth: Auth) => express.Router().use('/auth', authRouter(auth));
  test.each<[name: string, config: object, mount: (app: Express, auth: Auth) => void, base: string]>([
    ['mounted at /auth', {}, (app, auth) => app.use('/auth', authRouter(auth)), '/auth'],
    ['mounted at /auth/', {}, (app, auth) => app.use('/auth/', authRouter(auth)), '/auth'],
    ['mounted at /v1/auth', {}, (app, auth) => app.use('/v1/auth', authRouter(auth)), '/v1/auth'],
    ['mounted at the root', {}, (app, auth) => app.use(authRouter(auth)), '/auth'],
    ['mounted at /', {}, (app, auth) => app.use('/', authRouter(auth)), '/auth'],
    [
      'mounted at the root with httpBasePath',
      { httpBasePath: '/id' },
      (app, auth) => app.use(authRouter(auth)),
      '/id',
    ],
    [
      'mounted at the root with a long httpBasePath',
      { httpBasePath: '/v1/id' },
      (app, auth) => app.use(authRouter(auth)),
      '/v1/id',
    ],
    [
      'the mount path is the httpBasePath',
      { httpBasePath: '/v1/auth' },
      (app, auth) => app.use('/v1/auth', authRouter(auth)),
      '/v1/auth',
    ],
    [
      'the mount path is the start of the httpBasePath',
      { httpBasePath: '/v1/auth' },
      (app, auth) => app.use('/v1', authRouter(auth)),
      '/v1/auth',
    ],
    [
      'the mount path only looks like the start of the httpBasePath',
      { httpBasePath: '/v1auth' },
      (app, auth) => app.use('/v1', authRouter(auth)),
      '/v1/v1auth',
    ],
    [
      'the mount path differs from the httpBasePath',
      { httpBasePath: '/auth' },
      (app, auth) => app.use('/v1', authRouter(auth)),
      '/v1/auth',
    ],
    ['mounted in a nested router', {}, (app, auth) => app.use('/v1', nested(auth)), '/v1/auth'],
    [
      'mounted in a nested router with httpBasePath',
      { httpBasePath: '/v1/auth' },
      (app, auth) => app.use('/v1', nested(auth)),
      '/v1/auth',
    ],
    [
      'mounted below a parameter',
      {},
      (app, auth) => app.use('/:tenant/auth', authRouter(auth)),
      '/acme/auth',
    ],
  ])('serves the routes below the expected path: %s', async (_name, config, mount, base) => {
    // The requests of this test never reach a database.
    const auth = createAuth({
      database: 'sqlite:nowhere.db',
      secret: SECRET,
      rateLimit: false,
      plugins,
      logger: memoryLogger(),
      ...config,
    });
    const server = express();
    mount(server, auth);
    const http = request(server);
    expectProblem(await http.get(`${base}/me`), 401, 'unauthenticated');
    expectProblem(await http.post(`${base}/signup/credential`).send({}), 422, 'validation_failed');
    const { body } = await http.get(`${base}/openapi.json`).expect(200);
    expect(body.servers).toEqual([{ url: base }]);
    for (const elsewhere of ['/me', '/auth/auth/me', '/v1/me', `${base}x/me`]) {
      // If the mount path has a parameter, these paths belong to other tenants.
      if (!base.startsWith('/acme')) expect((await http.get(elsewhere)).status).toBe(404);
    }
  });

  test('can be mounted at several paths', async () => {
    const app = await start((app, auth) => {
      const router = authRouter(auth);
      app.use('/a', router).use('/b', router).use(router);
    });
    for (const base of ['/a', '/b', '/auth'])
      expectProblem(await app.http.get(`${base}/me`), 401, 'unauthenticated');
  });

  test.each<[string, (app: Express, auth: Auth) => void]>([
    ['an app', (app, auth) => app.use('/auth', authRouter(auth))],
    ['a router', (app, auth) => app.use(express.Router().use('/auth', authRouter(auth)))],
  ])('leaves requests to the app that it is mounted in, through %s', async (_what, mount) => {
    const seen: unknown[] = [];
    const app = await start((app, auth) => {
      app.set('name', 'outer');
      mount(app, auth);
      app.use('/auth', (req, res) => {
        seen.push(req.app === app, req.app.get('name'), req.baseUrl, req.url, res.app === app);
        res.json({});
      });
    });
    await app.http.get('/auth/own?x=y').expect(200);
    expect(seen).toEqual([true, 'outer', '/auth', '/own?x=y', true]);
  });

  test('accepts a config instead of an Auth, and the same config means the same Auth', async () => {
    const app = await start((app, auth) => void app.use('/auth', authRouter(auth)));
    const config = {
      database: app.database.url,
      secret: SECRET,
      plugins: [password()],
      rateLimit: false,
    } as const;
    const server = express()
      .use('/auth', authRouter(config))
      .get('/', requireSession(config), (_req, res) => void res.json({}));
    const agent = request.agent(server);
    await agent.post('/auth/signup/credential').send(ada).expect(201);
    await agent
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    await agent.get('/').expect(200);
    expect(createAuth(config)).toBe(createAuth(config));
    await createAuth(config).close();
  });

  test('close() runs once however often it is called, and does not affect a later Auth of the same config', async () => {
    const app = await start((app, auth) => void app.use('/auth', authRouter(auth)));
    const config = { database: app.database.url, secret: SECRET, plugins: [password()] };
    const first = createAuth(config);
    await first.credential.signUp(ada);
    const closing = first.close();
    expect(first.close()).toBe(closing);
    await closing;
    const second = createAuth(config);
    expect(second).not.toBe(first);
    await first.close();
    expect(createAuth(config)).toBe(second);
    expect(await second.credential.signIn({ credential: ada.email, password: ada.password })).toBeTruthy();
    await second.close();
  });

  test('supports two configs in one app with separate tables, users and cookies', async () => {
    const other = (config: object) =>
      createAuth({ secret: SECRET, plugins: [password()], rateLimit: false, database: '', ...config });
    let second: Auth | undefined;
    // The longest allowed prefix, because the names of constraints contain it.
    const tablePrefix = 'staff_'.padEnd(30, 'x');
    const app = await start((app, auth) => {
      app.use('/auth', authRouter(auth));
      app.use('/staff', (req, res, next) => (second ? authRouter(second)(req, res, next) : next()));
    });
    second = other({ database: app.database.url, tablePrefix, session: { cookie: { name: 'staff' } } });
    await second.migrate();
    const browser = app.browser();
    await browser.post('/auth/signup/credential').send(ada).expect(201);
    const credentials = { credential: ada.email, password: ada.password };
    expectProblem(
      await browser.post('/staff/signin/credential').send(credentials),
      401,
      'invalid_credentials',
    );
    await browser.post('/staff/signup/credential').send(ada).expect(201);
    const answer = await browser.post('/staff/signin/credential').send(credentials).expect(200);
    await browser.get('/staff/me').expect(200);
    expectProblem(await browser.get('/auth/me'), 401, 'unauthenticated');
    const token = sessionCookie(answer, 'staff')?.value;
    expectProblem(await app.http.get('/auth/me').set('cookie', `latchkey=${token}`), 401, 'invalid_session');
    expect(await rows(app.database, `SELECT id FROM ${tablePrefix}users`)).toHaveLength(1);
    await second.close();
  });
});
