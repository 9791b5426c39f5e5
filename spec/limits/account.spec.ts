import { afterEach, describe, expect, test } from '@jest/globals';
import type { RateLimitOptions } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';
import { startProcess } from '../support/processes.js';
import { settled } from '../support/sessions.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
afterEach(() => app.stop());

/** Starts an app with one account and with pauses that are short enough for a test. */
const start = async (account: RateLimitOptions['account'], bcryptCost = 4) => {
  app = await startApp({
    plugins: [password({ username: true, bcryptCost })],
    config: {
      rateLimit: {
        signIn: false,
        signUp: false,
        ...(account !== undefined && { account }),
      },
    },
  });
  await app.http
    .post('/auth/signup/credential')
    .send({ ...ada, username: 'ada' })
    .expect(201);
};
const signIn = (given = 'a wrong password', credential = ada.email) =>
  app.http.post('/auth/signin/credential').send({ credential, password: given });
const statusesOf = async (tries: PromiseLike<{ status: number }>[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(tries)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
const failures = async (times: number, credential?: string) => {
  for (let index = 0; index < times; index++) await signIn(undefined, credential).expect(401);
};

describe('100 concurrent wrong passwords', () => {
  // A pause that does not end while the spec runs, on a busy machine either.
  const long = { failures: 5, firstPause: 900, maxPause: 900 };

  test('result in five attempts in one process', async () => {
    // The hashes are slow, so that all requests arrive before the first is done. Queued hashes must not fill
    // the queue.
    await start(long, 11);
    expect(await statusesOf(Array.from({ length: 100 }, () => signIn()))).toEqual({ 401: 5, 429: 95 });
    // The correct password is not checked during the pause either.
    expectProblem(await signIn(ada.password), 429, 'rate_limited');
  });

  test('result in five attempts in four processes', async () => {
    await start(undefined);
    const task = { database: app.database.url, credential: ada.email, times: 25 };
    const processes = await Promise.all(
      Array.from({ length: 4 }, () => startProcess<string[]>('sign-in', task)),
    );
    const codes = (await Promise.all(processes.map((one) => one.go()))).flat();
    const count = (code: string) => codes.filter((one) => one === code).length;
    expect([count('invalid_credentials'), count('rate_limited'), codes.length]).toEqual([5, 95, 100]);
  });

  test('for an account that does not exist are limited in the same way', async () => {
    await start(long);
    const tries = Array.from({ length: 30 }, () => signIn(undefined, 'nobody@example.com'));
    expect(await statusesOf(tries)).toEqual({ 401: 5, 429: 25 });
  });
});

describe('the pauses for an account', () => {
  test('grow, are reported in Retry-After, and allow one attempt after each', async () => {
    await start({ failures: 2, firstPause: 60, maxPause: 120 });
    await failures(2);
    for (const seconds of [60, 120, 120]) {
      const refused = await signIn(ada.password);
      expectProblem(refused, 429, 'rate_limited');
      const retryAfter = Number(refused.headers['retry-after']);
      expect(retryAfter).toBe(seconds);
      expect(refused.headers['ratelimit-policy']).toBe('"account";q=2');
      expect(refused.headers.ratelimit).toBe(`"account";r=0;t=${retryAfter}`);
      // Sends three requests at a time: all are rejected until the pause is over, and then one is let
      // through.
      advance(app.auth, seconds - 20);
      expect(await statusesOf([signIn(), signIn(), signIn()])).toEqual({ 429: 3 });
      advance(app.auth, 20);
      expect(await statusesOf([signIn(), signIn(), signIn()])).toEqual({ 401: 1, 429: 2 });
    }
  });

  test('let the owner sign in after the pause, even after 101 wrong passwords', async () => {
    await start({ failures: 5, firstPause: 60, maxPause: 120 });
    for (let wrong = 0; wrong < 101; advance(app.auth, 120))
      wrong += (await statusesOf(Array.from({ length: 12 }, () => signIn())))[429] ?? 0;
    // One that comes after a pause is let through, and begins the next.
    await signIn().expect(401);
    const paused = await signIn().expect(429);
    advance(app.auth, Number(paused.headers['retry-after']));
    await signIn(ada.password).expect(200);
    // The counter starts again from zero.
    await failures(5);
    expectProblem(await signIn(), 429, 'rate_limited');
  });

  test('start with 15 seconds after 5 free attempts by default', async () => {
    await start(undefined);
    await failures(5);
    const { headers } = await signIn();
    expect(headers['retry-after']).toBe('15');
    expect(headers['ratelimit-policy']).toBe('"account";q=5');
  });

  test('do not affect active sessions or other accounts', async () => {
    await start(undefined);
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: 'ada', password: ada.password })
      .expect(200);
    await app.auth.credential.signUp({ email: 'eve@example.com', password: ada.password });
    await statusesOf(Array.from({ length: 20 }, () => signIn()));
    await browser.get('/auth/me').expect(200);
    await signIn(ada.password, 'eve@example.com').expect(200);
  });
});

describe('concurrent correct passwords', () => {
  test.each([4, 10])('are all accepted, at cost %d', async (bcryptCost) => {
    await start(undefined, bcryptCost);
    expect(await statusesOf(Array.from({ length: 10 }, () => signIn(ada.password)))).toEqual({ 200: 10 });
  });
});

describe('the counter of an account', () => {
  test('is shared by all identifiers of the account', async () => {
    await start(undefined);
    for (const name of ['ada', 'ADA@example.com', 'Ada', ' ada@EXAMPLE.com ', ada.email])
      await failures(1, name);
    for (const name of ['ada', 'ADA', ada.email, 'ADA@example.com'])
      expectProblem(await signIn(ada.password, name), 429, 'rate_limited');
  });

  test('does not start again with a new username, for whoever has stolen a session', async () => {
    await start({ failures: 3, firstPause: 60, maxPause: 60 });
    const { id } = await app.auth.users.create({ username: 'grace', password: ada.password });
    const { token } = await app.auth.createSession(id);
    const asGrace = (method: 'post' | 'patch', path: string, body: object) =>
      app.http[method](`/auth${path}`).set('cookie', `latchkey=${token}`).send(body);
    for (const username of ['hopper', 'cobol', 'navy']) {
      await asGrace('post', '/reauthenticate', { password: 'a wrong password' }).expect(401);
      await asGrace('patch', '/me', { username }).expect(200);
    }
    const last = await asGrace('post', '/reauthenticate', { password: 'a wrong password' });
    expectProblem(last, 429, 'rate_limited');
    expectProblem(await signIn(ada.password, 'navy'), 429, 'rate_limited');
  });

  test('is shared by all spellings of an identifier without an account', async () => {
    await start(undefined);
    for (const name of ['nobody', 'NOBODY', 'Nobody', 'nobOdy', 'NoBody']) await failures(1, name);
    expectProblem(await signIn(undefined, 'noBody'), 429, 'rate_limited');
  });

  test.each([
    ['ada@example.com', 'ada@exａmple.com'],
    ['nobody@example.com', 'nobody@exａmple.com'],
  ])('is the same for %s and %s, so that it does not reveal who has an account', async (name, spelling) => {
    await start(undefined);
    await failures(5, name);
    expectProblem(await signIn(undefined, spelling), 429, 'rate_limited');
  });

  test('is cleared by a successful sign-in', async () => {
    await start(undefined);
    for (let round = 0; round < 3; round++) {
      await failures(4);
      await signIn(ada.password).expect(200);
    }
  });

  test('does not exist if the rule is off', async () => {
    await start(false);
    await failures(12);
    expect(await rows(app.database, 'SELECT * FROM rate_limits')).toEqual([]);
  });

  test('is reported in events', async () => {
    await start({ failures: 1, firstPause: 60, maxPause: 60 });
    const events: unknown[] = [];
    for (const name of ['sign_in.failed', 'sign_in.throttled'] as const)
      app.auth.on(name, (event) => events.push([name, event]));
    await signIn().set('user-agent', 'a robot');
    await signIn(ada.password).set('user-agent', 'a robot');
    await settled(app.auth);
    const { body } = await app.http.get('/auth/me');
    expect(body.code).toBe('unauthenticated');
    const of = { userId: expect.stringMatching(/^[0-9a-f-]{36}$/), ip: '127.0.0.1', userAgent: 'a robot' };
    expect(events).toEqual([
      ['sign_in.failed', of],
      ['sign_in.throttled', of],
    ]);
  });
});
