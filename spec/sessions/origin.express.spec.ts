import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admin, authRouter, optionalSession, requireAdmin, requireSession } from '../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

const plugins = [password(), admin({ adminEmails: [ada.email] })] as const;
type App = SpecApp<typeof plugins>;

const start = async (config: object) => {
  const app = await startApp({
    plugins,
    config: { bearerEnabled: true, ...config },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.all('/session', requireSession(auth), (_req, res) => void res.json({ through: true }));
      express.all('/admin', requireAdmin(auth), (_req, res) => void res.json({ through: true }));
      express.all('/optional', optionalSession(auth), (req, res) => void res.json({ through: !!req.auth }));
    },
  });
  const { user } = (await app.auth.credential.signUp(ada)) as { user: { id: string } };
  await app.auth.markEmailVerified(user.id);
  return app;
};

/** The headers of a request (`HOST` stands for the app's own host), and whether it may use the cookie. */
type Row = [headers: Record<string, string>, allowed: boolean];

const always: Row[] = [
  [{}, true],
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'none' }, true],
  [{ 'sec-fetch-site': 'cross-site' }, false],
  [{ 'sec-fetch-site': 'same-site' }, false],
  [{ 'sec-fetch-site': '' }, false],
  [{ 'sec-fetch-site': 'SAME-ORIGIN' }, false],
  [{ 'sec-fetch-site': 'cross-site', origin: 'http://HOST' }, false],
  [{ origin: 'https://evil.example' }, false],
  [{ origin: 'null' }, false],
  // Pages with `Referrer-Policy: no-referrer`, as helmet sets it, send this origin.
  [{ origin: 'null', 'sec-fetch-site': 'same-origin' }, true],
  [{ origin: 'null', 'sec-fetch-site': 'cross-site' }, false],
  [{ origin: 'null', 'sec-fetch-site': 'same-site' }, false],
  [{ origin: '' }, false],
  [{ origin: 'nonsense' }, false],
  [{ origin: 'http://HOST.evil.example' }, false],
  [{ origin: 'http://evil.example', referer: 'http://HOST/' }, false],
  [{ origin: 'http://evil.example', host: 'app.example.com', 'x-forwarded-host': 'evil.example' }, false],
  [{ origin: 'http://evil.example', authorization: 'Basic YTpi' }, false],
  [{ origin: 'http://evil.example', 'x-requested-with': 'XMLHttpRequest' }, false],
];

const tables: [name: string, config: object, rows: Row[]][] = [
  [
    'without a baseUrl',
    {},
    [
      ...always,
      [{ origin: 'http://HOST' }, true],
      // Behind a proxy that terminates TLS, the app cannot know the scheme.
      [{ origin: 'https://HOST' }, true],
      [{ origin: 'https://app.example.com', host: 'app.example.com' }, true],
      [{ origin: 'https://app.example.com', host: 'App.Example.COM' }, true],
      [{ origin: 'https://app.example.com:8443', host: 'app.example.com' }, false],
      // Some proxies add the default port, which browsers leave out of the origin.
      [{ origin: 'http://app.example.com', host: 'app.example.com:80' }, true],
      [{ origin: 'https://app.example.com', host: 'App.Example.com:443' }, true],
      [{ origin: 'http://app.example.com', host: 'app.example.com:443' }, false],
      [{ origin: 'https://app.example.com', host: 'app.example.com:80' }, false],
      [{ origin: 'http://app.example.com', host: 'app.example.com:8080' }, false],
      [{ origin: 'http://app.example.com:8080', host: 'app.example.com:80' }, false],
      [{ origin: 'https://trusted.example' }, false],
    ],
  ],
  [
    'with a baseUrl and trusted origins',
    {
      baseUrl: 'https://app.example.com',
      trustedOrigins: ['https://Trusted.Example:443'],
      session: { cookie: { secure: false } },
    },
    [
      ...always,
      [{ origin: 'https://app.example.com' }, true],
      [{ origin: 'http://app.example.com' }, false],
      [{ origin: 'https://sub.app.example.com' }, false],
      [{ origin: 'https://app.example.com.evil.example' }, false],
      [{ origin: 'https://trusted.example' }, true],
      [{ origin: 'https://trusted.example', 'sec-fetch-site': 'cross-site' }, true],
      [{ origin: 'https://trusted.example:8443' }, false],
      [{ origin: 'https://eviltrusted.example' }, false],
      // The client controls the Host header.
      [{ origin: 'http://HOST' }, false],
      [{ origin: 'https://evil.example', host: 'evil.example' }, false],
    ],
  ],
];

const routes: [method: 'post' | 'delete', path: string][] = [
  ['post', '/auth/signout'],
  ['post', '/session'],
  ['delete', '/admin'],
  ['post', '/optional'],
];

describe.each(tables)('the CSRF check %s', (_name, config, table) => {
  let app: App;
  let token: string;
  const signIn = async () => {
    const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    return token;
  };
  beforeAll(async () => {
    app = await start(config);
  });
  afterAll(() => app.stop());

  const headersOf = (headers: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('HOST', new URL(app.origin).host)]),
    );

  describe.each(table)('for the headers %j (allowed: %j)', (headers, allowed) => {
    test.each(routes)('applies to %s %s with the session cookie', async (method, path) => {
      token = await signIn();
      const answer = await app.http[method](path).set({ ...headersOf(headers), cookie: `latchkey=${token}` });
      if (allowed) expect([200, 204, 404]).toContain(answer.status);
      else {
        expectProblem(answer, 403, 'origin_not_allowed');
        // The request was rejected before it had any effect, and the user stays signed in.
        expect(answer.headers['set-cookie']).toBeUndefined();
        await app.auth.getSession({ headers: { cookie: `latchkey=${token}` } });
      }
    });

    test('applies to sign-in and sign-up', async () => {
      const signin = await app.http
        .post('/auth/signin/credential')
        .set(headersOf(headers))
        .send({ credential: ada.email, password: ada.password });
      const signup = await app.http.post('/auth/signup/credential').set(headersOf(headers)).send(ada);
      if (allowed) expect([signin.status, signup.status]).toEqual([200, 409]);
      else {
        expectProblem(signin, 403, 'origin_not_allowed');
        expectProblem(signup, 403, 'origin_not_allowed');
        expect(sessionCookie(signin)).toBeUndefined();
        expect(signin.headers['set-auth-token']).toBeUndefined();
      }
    });

    test('does not apply to bearer tokens and safe methods', async () => {
      token = await signIn();
      const given = headersOf(headers);
      if (given.authorization === undefined)
        await app.http
          .post('/session')
          .set({ ...given, authorization: `Bearer ${token}` })
          .expect(200);
      for (const method of ['get', 'head', 'options'] as const)
        await app.http[method]('/session')
          .set({ ...given, cookie: `latchkey=${token}` })
          .expect(200);
    });
  });

  test('runs after authentication, so a request without a session gets 401', async () => {
    const foreign = { origin: 'https://evil.example' };
    // A sign-out needs no session.
    expectProblem(await app.http.post('/auth/signout').set(foreign), 403, 'origin_not_allowed');
    expectProblem(await app.http.post('/session').set(foreign), 401, 'unauthenticated');
    await app.http.post('/optional').set(foreign).expect(200, { through: false });
  });
});

test('an app at another address than its baseUrl logs both addresses, and users read a sentence for them', async () => {
  const app = await start({ baseUrl: 'http://localhost:3000' });
  const lines = () => app.log.filter((line) => line.includes('baseUrl'));
  const signIn = (origin: string) =>
    app.http
      .post('/auth/signin/credential')
      .set({ origin })
      .send({ credential: ada.email, password: ada.password });

  expectProblem(await signIn('https://evil.example'), 403, 'origin_not_allowed');
  // A client can send any Host. No one must be led to trust a stranger's.
  expectProblem(await signIn('http://evil.example').set({ host: 'evil.example' }), 403, 'origin_not_allowed');
  expect(lines()).toEqual([]);

  const answer = await signIn(app.origin);
  expectProblem(answer, 403, 'origin_not_allowed');
  expect(answer.body.detail).toMatch(/usual address/);
  expect(answer.body.detail).not.toMatch(/origin|trustedOrigins/i);
  expect(lines()).toEqual([
    expect.stringContaining(
      `a request from ${app.origin} was rejected with 403, because baseUrl is http://localhost:3000. If the app is at ${app.origin}, set baseUrl`,
    ),
  ]);
  await app.stop();
});
