import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import express, { type Express } from 'express';
import { authRouter, type RateLimitOptions } from '../../lib/index.js';
import { ada, password, type SpecApp, type SpecAppOptions, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';

type Plugins = readonly [ReturnType<typeof password>];

let app: SpecApp<Plugins>;
afterEach(() => app.stop());

const start = async (
  rateLimit: RateLimitOptions = {},
  prepare: (express: Express) => void = () => undefined,
  config: SpecAppOptions<Plugins>['config'] = {},
) => {
  app = await startApp({
    plugins: [password()],
    config: { rateLimit, ...config },
    mount(express, auth) {
      prepare(express);
      express.use('/auth', authRouter(auth));
    },
  });
};
const trusting = (express: Express) => void express.set('trust proxy', true);

let people = 0;
/** Sends wrong sign-ins to different accounts, so that only the limit per address applies. */
const signIn = (path = '/auth/signin/credential', from?: string) =>
  app.http
    .post(path)
    .set(from ? { 'x-forwarded-for': from } : {})
    .send({ credential: `person-${++people}@example.com`, password: 'wrong password' });
const signUp = () =>
  app.http
    .post('/auth/signup/credential')
    .send({ email: `new-${++people}@example.com`, password: ada.password });
const failed = async (times: number, ...way: Parameters<typeof signIn>) => {
  for (let index = 0; index < times; index++) await signIn(...way).expect(401);
};
const refused = async (...way: Parameters<typeof signIn>) =>
  expectProblem(await signIn(...way), 429, 'rate_limited');

describe('the limit per address', () => {
  test('allows exactly 20 sign-ins per minute, even if they are concurrent', async () => {
    await start();
    const answers = await Promise.all(Array.from({ length: 60 }, () => signIn()));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
    const headers = answers.find(({ status }) => status === 429)?.headers ?? {};
    const retryAfter = Number(headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(30);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(headers['ratelimit-policy']).toBe('"signIn";q=20;w=60');
    expect(headers.ratelimit).toBe(`"signIn";r=0;t=${retryAfter}`);
    // Sign-ups are counted separately.
    await signUp().expect(201);
  });

  test('allows 20 sign-ups per minute, including malformed ones, and is checked before the password is hashed', async () => {
    await start();
    for (let index = 0; index < 10; index++) {
      await signUp().expect(201);
      await app.http.post('/auth/signup/credential').send({ email: 'junk', password: 'x' }).expect(422);
    }
    const answer = await signUp();
    expectProblem(answer, 429, 'rate_limited');
    expect(answer.headers['ratelimit-policy']).toBe('"signUp";q=20;w=60');
    const [{ n } = { n: 0 }] = await rows<{ n: number }>(app.database, 'SELECT COUNT(*) AS n FROM users');
    expect(Number(n)).toBe(10);
  });

  test('applies to every spelling of the path', async () => {
    await start({ signIn: { limit: 4, window: 60 } });
    const spellings = [
      '/auth/signin/credential/',
      '/auth//signin/credential',
      '/AUTH/SignIn/Credential',
      '/auth/signin/%63redential',
    ];
    await failed(1, spellings[0]);
    await failed(1, spellings[2]);
    await failed(2);
    // Paths that the router accepts as the sign-in are limited as the sign-in; the other spellings are
    // unknown paths.
    for (const path of spellings) expect([429, 404]).toContain((await signIn(path)).status);
    await refused();
  });

  test('starts again when the window ends', async () => {
    await start({ signIn: { limit: 2, window: 3 } });
    await failed(2);
    const { headers } = await signIn().expect(429);
    expect(headers['retry-after']).toMatch(/^[23]$/);
    advance(app.auth, 3);
    await failed(2);
    await refused();
  });

  test('is shared by two processes', async () => {
    await start({ signIn: { limit: 3, window: 60 } });
    const other = await startApp({
      plugins: [password()],
      config: { database: app.database.url, rateLimit: { signIn: { limit: 3, window: 60 } } },
    });
    const elsewhere = () =>
      other.http.post('/auth/signin/credential').send({ credential: 'a@example.com', password: 'wrong' });
    await failed(1);
    await elsewhere().expect(401);
    await failed(1);
    await elsewhere().expect(429);
    await refused();
    await other.stop();
  });
});

describe('the rateLimit option', () => {
  test.each(['signIn', 'signUp'] as const)('%s can be turned off separately', async (name) => {
    await start({ [name]: false, [name === 'signIn' ? 'signUp' : 'signIn']: { limit: 1, window: 60 } });
    const [free, limited] = name === 'signIn' ? [signIn, signUp] : [signUp, signIn];
    for (let index = 0; index < 25; index++) expect((await free()).status).not.toBe(429);
    await limited();
    expectProblem(await limited(), 429, 'rate_limited');
  });

  test('false turns all limits off, and nothing is counted', async () => {
    await start({}, undefined, { rateLimit: false });
    await failed(30);
    for (let index = 0; index < 8; index++)
      await app.http
        .post('/auth/signin/credential')
        .send({ credential: 'one@example.com', password: 'wrong' })
        .expect(401);
    expect(await rows(app.database, 'SELECT * FROM rate_limits')).toEqual([]);
  });

  test('applies to calls from code only if they pass an address', async () => {
    await start({ signIn: { limit: 2, window: 60 } });
    const call = (ip?: string | null) =>
      app.auth.credential
        .signIn({
          credential: `c-${++people}@example.com`,
          password: 'wrong',
          ...(ip !== undefined && { ip }),
        })
        .catch(({ code }) => code);
    const calls = async (ip?: string | null) => [await call(ip), await call(ip), await call(ip)];
    expect(await calls()).toEqual(Array(3).fill('invalid_credentials'));
    expect(await calls('192.0.2.1')).toEqual(['invalid_credentials', 'invalid_credentials', 'rate_limited']);
    expect(await calls(null)).toEqual(['invalid_credentials', 'invalid_credentials', 'rate_limited']);
  });
});

describe('the address of a request', () => {
  test('is not taken from X-Forwarded-For if the app trusts no proxy', async () => {
    await start({ signIn: { limit: 3, window: 60 } });
    for (const from of ['192.0.2.1', '192.0.2.2', '2001:db8::1']) await failed(1, undefined, from);
    await refused(undefined, '192.0.2.3');
    await refused();
  });

  test('causes one warning that suggests trust proxy if X-Forwarded-For is ignored', async () => {
    const warnings = () => app.log.filter((line) => line.includes('X-Forwarded-For'));
    await start();
    await failed(1);
    expect(warnings()).toEqual([]);
    await failed(2, undefined, '192.0.2.1');
    await app.http.get('/auth/me').set('x-forwarded-for', '192.0.2.2');
    expect(warnings()).toEqual([expect.stringMatching(/^warn latchkey: .*app\.set\('trust proxy', 1\)/)]);
    await app.stop();
    await start({}, trusting);
    await failed(1, undefined, '192.0.2.1');
    expect(warnings()).toEqual([]);
    await app.stop();
    await start({ signIn: false, signUp: false, mailAddress: false });
    await failed(1, undefined, '192.0.2.1');
    expect(warnings()).toEqual([]);
  });

  test('is the client’s address behind a trusted proxy', async () => {
    await start({ signIn: { limit: 1, window: 60 } }, trusting);
    await failed(1, undefined, '192.0.2.1');
    await refused(undefined, '192.0.2.1');
    await failed(1, undefined, '192.0.2.2');
    await failed(1);
  });

  test('is grouped by /64 for IPv6, and an IPv4-mapped IPv6 address counts as IPv4', async () => {
    await start({ signIn: { limit: 1, window: 60 } }, trusting);
    await failed(1, undefined, '2001:db8:1:2::1');
    for (const same of [
      '2001:db8:1:2::2',
      '2001:0DB8:0001:0002:ffff:ffff:ffff:ffff',
      '2001:db8:1:2:0:0:192.0.2.1',
    ])
      await refused(undefined, same);
    await failed(1, undefined, '2001:db8:1:3::1');
    await failed(1, undefined, '192.0.2.9');
    for (const same of [
      '::ffff:192.0.2.9',
      '::FFFF:192.0.2.9',
      '::ffff:c000:209',
      '0:0:0:0:0:ffff:192.0.2.9',
    ])
      await refused(undefined, same);
    await failed(1, undefined, '::ffff:192.0.2.8');
    await failed(1, undefined, '::1');
    // A link-local address with its zone.
    await failed(1, undefined, 'fe80::1%eth0');
    await refused(undefined, 'fe80::2%eth1');
  });

  test('has one form, however a proxy writes it', async () => {
    await start({ signIn: { limit: 2, window: 60 } }, trusting);
    await failed(1, undefined, '[2001:db8::1]:443');
    await failed(1, undefined, '[2001:db8::2]:50123');
    await refused(undefined, '2001:db8::3');
    // Another network has its own limit.
    await failed(1, undefined, '[2001:db8:0:1::1]:443');
    await failed(1, undefined, '192.0.2.7:5678');
    await failed(1, undefined, '[::ffff:192.0.2.7]:443');
    await refused(undefined, '192.0.2.7');
    const browser = app.browser();
    await app.auth.users.create(ada);
    const told: (string | null | undefined)[] = [];
    app.auth.on('session.created', ({ ip }) => void told.push(ip));
    const seen = async (from: string) => {
      const given = { credential: ada.email, password: ada.password };
      await browser.post('/auth/signin/credential').set('x-forwarded-for', from).send(given).expect(200);
      const { body } = await browser.get('/auth/sessions').expect(200);
      return body.sessions.find((session: { current: boolean }) => session.current).ip_address;
    };
    expect(await seen('[2001:DB8:0:2::1]:443')).toBe('2001:db8:0:2::1');
    expect(await seen('[2001:db8:0:2::1]:60123')).toBe('2001:db8:0:2::1');
    expect(await seen('198.51.100.4:5678')).toBe('198.51.100.4');
    expect(told).toEqual(['2001:db8:0:2::1', '2001:db8:0:2::1', '198.51.100.4']);
  });

  test('is limited as one address if it is unknown', async () => {
    await start({ signIn: { limit: 2, window: 60 } });
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-spec-'));
    const socketPath = join(folder, 'socket');
    // A Unix socket has no address.
    const server = createServer(express().use('/auth', authRouter(app.auth)));
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    const status = () =>
      new Promise<number | undefined>((resolve, reject) => {
        send(
          {
            socketPath,
            path: '/auth/signin/credential',
            method: 'POST',
            headers: { 'content-type': 'application/json' },
          },
          (response) => resolve(response.resume().statusCode),
        )
          .once('error', reject)
          .end(JSON.stringify({ credential: `unix-${++people}@example.com`, password: 'wrong password' }));
      });
    const statuses = [await status(), await status(), await status()];
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
    expect(statuses).toEqual([401, 401, 429]);
    // Known addresses are counted separately.
    await failed(1);
  });
});
