import { afterEach, describe, expect, test } from '@jest/globals';
import type { RateLimitOptions } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';
import { startProcess } from '../support/processes.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
afterEach(() => app.stop());

/** An app with Ada in it, and pauses short enough to wait for. */
const start = async (account: RateLimitOptions['account'], bcryptCost = 4) => {
  app = await startApp({
    plugins: [password({ username: true, bcryptCost })],
    config: {
      rateLimit: { signIn: false, signUp: false, ...(account !== undefined && { account }) },
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
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const failures = async (times: number, credential?: string) => {
  for (let index = 0; index < times; index++) await signIn(undefined, credential).expect(401);
};

describe('100 wrong passwords at once', () => {
  test('five are tried, in one process', async () => {
    // Hashes so slow that all are there before the first is done: those that wait must not fill the line either.
    await start(undefined, 13);
    expect(await statusesOf(Array.from({ length: 100 }, () => signIn()))).toEqual({ 401: 5, 429: 95 });
    // Nor is the right one looked at now.
    expectProblem(await signIn(ada.password), 429, 'rate_limited');
  });

  test('five are tried, in four processes', async () => {
    await start(undefined);
    const task = { database: app.database.url, credential: ada.email, times: 25 };
    const processes = await Promise.all(
      Array.from({ length: 4 }, () => startProcess<string[]>('sign-in', task)),
    );
    const codes = (await Promise.all(processes.map((one) => one.go()))).flat();
    const count = (code: string) => codes.filter((one) => one === code).length;
    expect([count('invalid_credentials'), count('rate_limited'), codes.length]).toEqual([5, 95, 100]);
  });

  test('at an account that there is not: the same', async () => {
    await start(undefined);
    const tries = Array.from({ length: 30 }, () => signIn(undefined, 'nobody@example.com'));
    expect(await statusesOf(tries)).toEqual({ 401: 5, 429: 25 });
  });
});

describe('pauses', () => {
  test('grow, are told truly, and leave one try after each', async () => {
    await start({ failures: 2, firstPause: 1, maxPause: 2 });
    await failures(1);
    let failed = Date.now();
    await failures(1);
    for (const seconds of [1, 2, 2]) {
      const refused = await signIn(ada.password);
      expectProblem(refused, 429, 'rate_limited');
      const retryAfter = Number(refused.headers['retry-after']);
      expect(retryAfter).toBe(seconds);
      expect(refused.headers['ratelimit-policy']).toBe('"account";q=2');
      expect(refused.headers.ratelimit).toBe(`"account";r=0;t=${retryAfter}`);
      // Of three at once, over and over: all are refused until the pause is over, and then one is let in.
      const before = failed;
      let statuses: Record<number, number> = {};
      do {
        await pause(50);
        failed = Date.now();
        statuses = await statusesOf([signIn(), signIn(), signIn()]);
      } while (statuses[429] === 3);
      expect(statuses).toEqual({ 401: 1, 429: 2 });
      expect(Date.now() - before).toBeGreaterThanOrEqual(seconds * 1000 - 20);
    }
  });

  test('101 wrong ones, then the right one after the pause: its owner gets in', async () => {
    await start({ failures: 5, firstPause: 1, maxPause: 2 });
    let wrong = 0;
    while (wrong < 101) wrong += (await statusesOf(Array.from({ length: 12 }, () => signIn())))[429] ?? 0;
    const { headers } = await signIn(ada.password).expect(429);
    await pause(Number(headers['retry-after']) * 1000);
    await signIn(ada.password).expect(200);
    // And then all is as in the beginning.
    await failures(5);
    expectProblem(await signIn(), 429, 'rate_limited');
  });

  test('by default: 5 free, then 15 seconds', async () => {
    await start(undefined);
    await failures(5);
    const { headers } = await signIn();
    expect(headers['retry-after']).toBe('15');
    expect(headers['ratelimit-policy']).toBe('"account";q=5');
  });

  test('touch no live session, and no other account', async () => {
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

describe('right passwords, many at once', () => {
  test.each([4, 12])('are all let in, at cost %d', async (bcryptCost) => {
    await start(undefined, bcryptCost);
    expect(await statusesOf(Array.from({ length: 10 }, () => signIn(ada.password)))).toEqual({ 200: 10 });
  });
});

describe('the counter', () => {
  test('is one for an account, whichever way it is named', async () => {
    await start(undefined);
    for (const name of ['ada', 'ADA@example.com', 'Ada', ' ada@EXAMPLE.com ', ada.email])
      await failures(1, name);
    for (const name of ['ada', 'ADA', ada.email, 'ADA@example.com'])
      expectProblem(await signIn(ada.password, name), 429, 'rate_limited');
  });

  test('is one for a name that nobody has, in all its spellings', async () => {
    await start(undefined);
    for (const name of ['nobody', 'NOBODY', 'Nobody', 'nobOdy', 'NoBody']) await failures(1, name);
    expectProblem(await signIn(undefined, 'noBody'), 429, 'rate_limited');
  });

  test.each([
    ['ada@example.com', 'ada@exａmple.com'],
    ['nobody@example.com', 'nobody@exａmple.com'],
  ])('of %s is that of %s, so that it does not tell who has an account', async (name, spelling) => {
    await start(undefined);
    await failures(5, name);
    expectProblem(await signIn(undefined, spelling), 429, 'rate_limited');
  });

  test('is cleared by a success', async () => {
    await start(undefined);
    for (let round = 0; round < 3; round++) {
      await failures(4);
      await signIn(ada.password).expect(200);
    }
  });

  test('is off where the rule is', async () => {
    await start(false);
    await failures(12);
    expect(await rows(app.database, 'SELECT * FROM rate_limits')).toEqual([]);
  });

  test('is told to listeners', async () => {
    await start({ failures: 1, firstPause: 60, maxPause: 60 });
    const events: unknown[] = [];
    for (const name of ['sign_in.failed', 'sign_in.throttled'] as const)
      app.auth.on(name, (event) => events.push([name, event]));
    await signIn().set('user-agent', 'a robot');
    await signIn(ada.password).set('user-agent', 'a robot');
    await pause(20);
    const { body } = await app.http.get('/auth/me');
    expect(body.code).toBe('unauthenticated');
    const of = { userId: expect.stringMatching(/^[0-9a-f-]{36}$/), ip: '127.0.0.1', userAgent: 'a robot' };
    expect(events).toEqual([
      ['sign_in.failed', of],
      ['sign_in.throttled', of],
    ]);
  });
});
