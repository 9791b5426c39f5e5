import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Transaction } from 'sequelize';
import type { Response } from 'supertest';
import { authRouter, optionalSession, requireSession } from '../lib/index.js';
import { ada, logEveryLine, password, type SpecApp, startApp } from './support/app.js';
import { dialect, rows } from './support/database.js';
import { expectProblem } from './support/problem.js';
import { type DatabaseProxy, startProxy } from './support/proxy.js';

type App = SpecApp<readonly [ReturnType<typeof password>]>;

const plugins = [password()] as const;
const credentials = { credential: ada.email, password: ada.password };
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const mount: NonNullable<Parameters<typeof startApp<typeof plugins>>[0]>['mount'] = (express, auth) => {
  express.use('/auth', authRouter(auth));
  express.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
  express.get('/optional', optionalSession(auth), (req, res) => void res.json({ somebody: !!req.auth }));
};

/** One request of each kind: requests that read, write, and write more than one row. */
const requestsOf = (app: App, cookie: string) => [
  app.http.get('/guarded').set('cookie', cookie),
  app.http.get('/optional').set('cookie', cookie),
  app.http.get('/auth/me').set('cookie', cookie),
  app.http.post('/auth/signout').set('cookie', cookie),
  app.http.post('/auth/revoke-sessions').set('cookie', cookie),
  app.http.post('/auth/signin/credential').send(credentials),
  app.http.post('/auth/signup/credential').send({ ...ada, email: 'new@example.com' }),
];

/** Checks that a request gets 503 before a user would give up waiting. */
async function expectUnavailable(request: PromiseLike<Response>): Promise<void> {
  const started = performance.now();
  const answer = await request;
  expectProblem(answer, 503, 'unavailable');
  expect(performance.now() - started).toBeLessThan(5000);
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  // An outage does not sign anyone out.
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(answer.text).not.toMatch(/select|insert|sequelize|sqlite|connect|127\.0\.0\.1/i);
}

const signIn = async (app: App) => {
  const { token } = await app.auth.credential.signIn(credentials);
  return `latchkey=${token}`;
};

if (dialect !== 'sqlite') {
  describe('when the database server', () => {
    let app: App;
    let proxy: DatabaseProxy;
    let cookie: string;
    beforeAll(async () => {
      app = await startApp({
        plugins,
        mount,
        async config({ url }) {
          proxy = await startProxy(url);
          return { database: proxy.url };
        },
      });
      await app.auth.credential.signUp(ada);
    });
    afterAll(async () => {
      await proxy.pass();
      await app.stop();
      await proxy.stop();
    });
    beforeEach(async () => {
      await proxy.pass();
      cookie = await signIn(app);
    });

    test('refuses connections, requests get 503 until it is back', async () => {
      await proxy.refuse();
      for (const request of requestsOf(app, cookie)) await expectUnavailable(request);
      await proxy.pass();
      await app.http.get('/guarded').set('cookie', cookie).expect(200);
      await app.http.post('/auth/signin/credential').send(credentials).expect(200);
      expect(app.log.length).toBeGreaterThan(0);
    });

    test('stops responding, all requests get 503 in time, even those that arrive later', async () => {
      const guarded = () => app.http.get('/guarded').set('cookie', cookie);
      await Promise.all(Array.from({ length: 5 }, guarded));
      proxy.blackHole();
      const late = [0, 50, 100, 500, 1000, 2000].map(async (delay) => {
        await pause(delay);
        await expectUnavailable(guarded());
      });
      await Promise.all([...requestsOf(app, cookie).map(expectUnavailable), ...late]);
      await proxy.pass();
      await guarded().expect(200);
      await app.http.post('/auth/signin/credential').send(credentials).expect(200);
    });

    test('delays each statement, a request gets 503 if the delays of its statements add up', async () => {
      const guarded = () => app.http.get('/guarded').set('cookie', cookie);
      await Promise.all(Array.from({ length: 5 }, guarded));
      proxy.delay(1100);
      // A single statement is still in time.
      await guarded().expect(200);
      await expectUnavailable(app.http.post('/auth/signin/credential').send(credentials));
      await expectUnavailable(app.http.post('/auth/signout').set('cookie', cookie));
      await proxy.pass();
      await app.http.post('/auth/signin/credential').send(credentials).expect(200);
    });

    test('closes idle connections, requests still succeed', async () => {
      for (let attempt = 0; attempt < 3; attempt++) {
        await Promise.all(
          Array.from({ length: 20 }, () => app.http.get('/guarded').set('cookie', cookie).expect(200)),
        );
        proxy.cut();
        await pause(20);
        await app.http.get('/guarded').set('cookie', cookie).expect(200);
      }
    });

    test('is down at startup, migrate() rejects and can be called again', async () => {
      await proxy.refuse();
      await expect(app.auth.migrate()).rejects.toThrow();
      await proxy.pass();
      expect(await app.auth.migrate()).toEqual([]);
    });

    test('is down, requests that do not need it are still answered', async () => {
      await proxy.refuse();
      expectProblem(await app.http.get('/guarded'), 401, 'unauthenticated');
      expectProblem(await app.http.get('/guarded').set('cookie', 'latchkey=junk'), 401, 'invalid_session');
      await app.http.get('/optional').expect(200, { somebody: false });
      expectProblem(await app.http.post('/auth/signin/credential').send({}), 422, 'validation_failed');
      await app.http.get('/auth/openapi.json').expect(200);
    });
  });
}

if (dialect === 'sqlite') {
  describe('when another connection locks the SQLite file', () => {
    let app: App;
    let cookie: string;
    let lock: Transaction;
    beforeAll(async () => {
      app = await startApp({ plugins, mount });
      await app.auth.credential.signUp(ada);
    });
    afterAll(() => app.stop());
    beforeEach(async () => {
      cookie = await signIn(app);
      lock = await app.database.sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE });
    });

    test('briefly, requests wait', async () => {
      const requests = requestsOf(app, cookie).slice(0, 6);
      const answers = Promise.all(requests.map((request) => request.then()));
      await pause(150);
      await lock.rollback();
      // The sign-out may have ended the session before the other requests looked it up.
      for (const { status } of await answers) expect([200, 204, 401]).toContain(status);
    });

    test('for a long time, writes get 503 and reads still work', async () => {
      await app.http.get('/guarded').set('cookie', cookie).expect(200);
      await app.http.get('/auth/sessions').set('cookie', cookie).expect(200);
      await Promise.all(requestsOf(app, cookie).slice(3).map(expectUnavailable));
      await lock.rollback();
      await app.http.post('/auth/signout').set('cookie', cookie).expect(204);
    });

    test('for a long time, an update of the last activity does not fail its request', async () => {
      await lock.rollback();
      await app.auth.models.Session.update({ lastActiveAt: new Date(Date.now() - 3_600_000) }, { where: {} });
      lock = await app.database.sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE });
      await app.http.get('/guarded').set('cookie', cookie).expect(200);
      const notWritten = () => app.log.filter((line) => line.includes('last activity could not be saved'));
      while (notWritten().length === 0) await pause(50);
      expect(notWritten()).toHaveLength(1);
      await lock.rollback();
    });
  });
}

describe('when the tables are missing', () => {
  test('a missing column is named with its table', async () => {
    const app: App = await startApp({ plugins, mount });
    await rows(app.database, 'ALTER TABLE users DROP COLUMN email_verified_at');
    const answer = await app.http.post('/auth/signup/credential').send(ada);
    expectProblem(answer, 503, 'unavailable');
    expect(answer.body.detail).not.toMatch(/try again/i);
    expect(app.log.join()).toMatch(/email_verified_at.*table users.*auth\.migrate\(\)/);
    await app.stop();
  });

  test('requests get 503, and the log says how to create them', async () => {
    const app: App = await startApp({ plugins, mount });
    await app.auth.credential.signUp(ada);
    const cookie = await signIn(app);
    await app.auth.migrate({ undo: 'all' });
    logEveryLine(app.auth);
    for (const request of requestsOf(app, cookie)) {
      app.log.length = 0;
      await expectUnavailable(request);
      expect(app.log.join()).toMatch(/table (users|sessions|rate_limits)\b.*auth\.migrate\(\)/);
    }
    await app.auth.migrate();
    expect(await rows(app.database, 'SELECT id FROM users')).toEqual([]);
    await app.http.post('/auth/signup/credential').send(ada).expect(201);
    await app.stop();
  });
});
