import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type express from 'express';
import type { Express } from 'express';
import { type Auth, admin, authRouter } from '../lib/index.js';
import { ada, password, type SpecApp, startApp } from './support/app.js';
import { expectProblem } from './support/problem.js';

const plugins = [password({ username: true }), admin({ adminEmails: [ada.email] })] as const;
type App = SpecApp<typeof plugins>;

const start = (mount: (app: Express, auth: Auth) => void) => startApp({ plugins, mount });

describe('a request that the router does not handle', () => {
  test('is passed on to the app without latchkey’s headers', async () => {
    const app = await start((app, auth) => {
      app.use('/auth', authRouter(auth));
      app.use(authRouter(auth));
      app.use((_req, res) => void res.status(418).end('the app'));
    });
    for (const path of [
      '/',
      '/me',
      '/auth',
      '/auth/',
      '/auth/nothing',
      '/auth/me/more',
      '/auth/mee',
      '/auth/%',
      '/auth/%zz',
      '/auth/..%2fme',
      '/auth/signin',
      '/auth/admin',
      '/auth/oauth/google/authorize',
      '/auth/__proto__',
      '/auth/constructor',
    ]) {
      for (const method of ['get', 'post'] as const) {
        const answer = await app.http[method](path);
        expect([path, answer.status, answer.text]).toEqual([path, 418, 'the app']);
        expect(Object.keys(answer.headers)).not.toEqual(
          expect.arrayContaining([
            expect.stringMatching(/cache-control|nosniff|x-content|referrer|cookie|allow/),
          ]),
        );
      }
    }
    await app.stop();
  });

  test('reaches the app’s error handler if the app raised an error before the router', async () => {
    const app = await start((app, auth) => {
      app.use('/auth', (_req, _res, next) => next(Object.assign(new Error('of the app'), { status: 400 })));
      app.use('/auth', authRouter(auth));
      const handler: express.ErrorRequestHandler = (error, _req, res, _next) =>
        void res.status(418).end(error.message);
      app.use(handler);
    });
    await app.http.get('/auth/me').expect(418, 'of the app');
    await app.stop();
  });
});

describe('a route of the router', () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp({ plugins });
  });
  afterAll(() => app.stop());

  test('sends no-store and no CORS headers in every response', async () => {
    const good = { ...ada, username: 'ada' };
    const credentials = { credential: ada.email, password: ada.password };
    const browser = app.browser();
    const answers = [
      await browser.post('/auth/signup/credential').send(good),
      await browser.post('/auth/signup/credential').send(good),
      await browser.post('/auth/signup/credential').send({}),
      await browser.get('/auth/me'),
      await browser.post('/auth/signin/credential').send(credentials),
      await browser.post('/auth/usernames/check').send({ username: 'ada' }),
      await browser.get('/auth/me').set('origin', 'https://evil.example'),
      await browser.get('/auth/sessions'),
      await browser.get('/auth/admin/users'),
      await browser.delete('/auth/sessions/x'),
      await browser.post('/auth/signout'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      201, 409, 422, 401, 200, 200, 200, 200, 403, 404, 204,
    ]);
    for (const { headers, status } of answers) {
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
      expect(headers.etag).toBeUndefined();
      expect(headers['access-control-allow-origin']).toBeUndefined();
      if (status !== 204)
        expect(headers['content-type']).toMatch(/^application\/(problem\+)?json; charset=utf-8$/);
    }
  });

  test('handles HEAD like GET, without a body', async () => {
    const answer = await app.http.head('/auth/openapi.json').expect(200);
    expect(answer.text ?? '').toBe('');
    expect((await app.http.head('/auth/me')).status).toBe(401);
  });

  test('accepts a trailing slash and upper-case paths, as Express does', async () => {
    for (const path of ['/auth/me/', '/AUTH/ME', '/Auth/Me/'])
      expectProblem(await app.http.get(path), 401, 'unauthenticated');
  });

  test('rejects a malformed path with 400', async () => {
    for (const id of ['%', '%zz', '%E0%A4%A', '%ff%fe'])
      expectProblem(await app.http.delete(`/auth/sessions/${id}`), 400, 'invalid_request');
    // Well-formed, but no such session.
    for (const id of ['%00', '%2e%2e', '%F0%9F%98%80', 'x'.repeat(5000)])
      expectProblem(await app.http.delete(`/auth/sessions/${id}`), 401, 'unauthenticated');
  });
});
