import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createToken } from '../../lib/crypto/token.js';
import { authRouter, createAuth, optionalSession, requireSession } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

// A browser keeps a cookie of the same name that was set with another domain or path, and sends both.
const credentials = { credential: ada.email, password: ada.password };
const DEAD = createToken('lks_');

let app: SpecApp<readonly [ReturnType<typeof password>]>;
let live: string;
let other: string;
let dead: string;
const signIn = async () => (await app.auth.credential.signIn(credentials)).token;
beforeAll(async () => {
  app = await startApp({
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/', requireSession(auth), (req, res) => void res.json(req.auth));
      express.get('/optional', optionalSession(auth), (req, res) => void res.json(req.auth ?? null));
    },
  });
  await app.auth.credential.signUp(ada);
});
afterAll(() => app.stop());
beforeEach(async () => {
  [live, other, dead] = [await signIn(), await signIn(), await signIn()];
  const { user, session } = await app.auth.getSession({ headers: { cookie: `latchkey=${dead}` } });
  await app.auth.revokeSessionById(user.id, session?.id ?? '');
});

const cookies = (...values: string[]) => values.map((value) => `latchkey=${value}`).join('; ');
const get = (cookie: string, path = '/') => app.http.get(path).set('cookie', cookie);
const linesOf = ({ headers }: { headers: Record<string, unknown> }, name = 'latchkey') =>
  ((headers['set-cookie'] ?? []) as string[]).filter((line) => line.startsWith(`${name}=`));

describe('of two session cookies', () => {
  test('the only one of an active session is taken, wherever it is', async () => {
    for (const value of ['x', '', DEAD, dead, `${live}x`])
      for (const cookie of [cookies(live, value), cookies(value, live)]) {
        expect((await get(cookie).expect(200)).body.via).toBe('cookie');
        expect((await get(cookie, '/optional').expect(200)).body).not.toBeNull();
      }
    expect((await get(cookies('x', dead, live, 'y', DEAD)).expect(200)).body.via).toBe('cookie');
  });

  test('none is taken if both are of active sessions, which both stay', async () => {
    expectProblem(await get(cookies(live, other)), 401, 'invalid_session');
    expectProblem(
      await app.http.post('/auth/signout').set('cookie', cookies(live, other)),
      401,
      'invalid_session',
    );
    await get(cookies(live)).expect(200);
    await get(cookies(other)).expect(200);
  });

  test('none is taken if neither is of an active session', async () => {
    expectProblem(await get(cookies(dead, 'x')), 401, 'invalid_session');
    expect((await get(cookies(dead, DEAD), '/optional').expect(200)).body).toBeNull();
  });

  test('many cost no more than a few lookups, and are refused', async () => {
    const many = Array.from({ length: 5 }, () => createToken('lks_'));
    expectProblem(await get(cookies(live, ...many)), 401, 'invalid_session');
  });

  test('a sign-in is followed by a session, and a sign-out ends it', async () => {
    const answer = await app.http
      .post('/auth/signin/credential')
      .set('cookie', cookies(dead, 'x'))
      .send(credentials)
      .expect(200);
    const [line = ''] = linesOf(answer);
    const token = line.slice('latchkey='.length).split(';')[0] ?? '';
    await get(cookies(token, dead)).expect(200);
    await get(cookies(dead, token), '/auth/me').expect(200);
    await app.http.post('/auth/signout').set('cookie', cookies(dead, token)).expect(204);
    expectProblem(await get(cookies(dead, token)), 401, 'invalid_session');
  });

  test('a sign-in ends both if both are of active sessions', async () => {
    await app.http
      .post('/auth/signin/credential')
      .set('cookie', cookies('x', live, 'y', other))
      .send(credentials)
      .expect(200);
    for (const token of [live, other]) expectProblem(await get(cookies(token)), 401, 'invalid_session');
  });

  test('the log tells how to end this, once a minute', async () => {
    const logged = await startApp();
    try {
      for (let turn = 0; turn < 3; turn++)
        await logged.http.get('/auth/me').set('cookie', cookies(DEAD, 'x')).expect(401);
      const lines = logged.log.filter((line) => line.includes('several cookies'));
      expect(lines).toEqual([expect.stringMatching(/^warn .*latchkey.*session\.cookie\.former/)]);
      expect(lines.join()).not.toContain(DEAD);
    } finally {
      await logged.stop();
    }
  });
});

describe('session.cookie.former', () => {
  type Cookie = NonNullable<NonNullable<Parameters<typeof createAuth>[0]['session']>['cookie']>;
  const GONE = 'Expires=Thu, 01 Jan 1970 00:00:00 GMT';
  const https = { baseUrl: 'https://app.example.com' };

  const withCookie = async (
    cookie: Cookie,
    work: (http: typeof app.http) => Promise<void>,
    config: object = {},
  ) => {
    const auth = createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      outbox: { interval: false },
      plugins: [password()],
      session: { cookie },
      ...config,
    });
    const express = (await import('express')).default().use('/auth', authRouter(auth));
    await work((await import('supertest')).default(express) as typeof app.http);
    await auth.close();
  };

  test('is cleared by a sign-in and by a sign-out, before the current cookie is set', async () => {
    const cookie = {
      name: 'sid',
      former: [{ domain: 'example.com' }, { path: '/app' }, { domain: '.example.com', path: '/a' }],
    };
    await withCookie(cookie, async (http) => {
      const gone = [
        `sid=; Domain=example.com; Path=/; ${GONE}; HttpOnly; SameSite=Lax`,
        `sid=; Path=/app; ${GONE}; HttpOnly; SameSite=Lax`,
        `sid=; Domain=.example.com; Path=/a; ${GONE}; HttpOnly; SameSite=Lax`,
      ];
      const signedIn = await http.post('/auth/signin/credential').send(credentials).expect(200);
      const lines = linesOf(signedIn, 'sid');
      expect(lines).toEqual([...gone, expect.stringMatching(/^sid=lks_[^;]+; Path=\/; HttpOnly/)]);
      const sid = lines.at(-1)?.split(';')[0] ?? '';
      const signedOut = await http.post('/auth/signout').set('cookie', `${sid}; sid=x`).expect(204);
      expect(linesOf(signedOut, 'sid')).toEqual([...gone, `sid=; Path=/; ${GONE}; HttpOnly; SameSite=Lax`]);
    });
  });

  test('has the default name of its domain and path', async () => {
    await withCookie(
      { former: [{ domain: 'example.com' }, { path: '/app' }] },
      async (http) => {
        const answer = await http.post('/auth/signin/credential').send(credentials).expect(200);
        expect(linesOf(answer, '__Secure-latchkey')).toHaveLength(2);
        expect(linesOf(answer, '__Host-latchkey')).toHaveLength(1);
      },
      https,
    );
  });

  test('does not matter to the cookie of a pending sign-in, which never has a domain or another path', async () => {
    const config = { email: { send: () => {} }, plugins: [password({ unknownBrowser: 'code' })] };
    await withCookie(
      { name: 'sid', path: '/auth', former: [{ path: '/app' }] },
      async (http) => {
        const answer = await http.post('/auth/signout').set('cookie', `sid-pending=${createToken('lkp_')}`);
        expect(linesOf(answer, 'sid-pending')).toEqual([
          `sid-pending=; Path=/; ${GONE}; HttpOnly; SameSite=Lax`,
        ]);
      },
      config,
    );
  });

  test('does not matter to the device cookie, which never has a domain or another path', async () => {
    await withCookie({ name: 'sid', former: [{ path: '/app' }] }, async (http) => {
      const answer = await http.post('/auth/signin/credential').send(credentials).expect(200);
      expect(linesOf(answer, 'sid-device')).toEqual([expect.stringContaining('Path=/;')]);
    });
  });

  test.each([
    [{ former: [{ path: '/' }] }, /former contains the current domain and path/],
    [{ domain: 'example.com', former: [{ domain: '.Example.com' }] }, /contains the current/],
    [{ former: [{ domain: 'other.example' }] }, /former\[0\]\.domain does not cover baseUrl's host/],
    [{ name: '__Host-sid', former: [{ path: '/app' }] }, /former\[0\].*__Host-/],
    [{ former: Array.from({ length: 6 }, (_, index) => ({ path: `/${index}` })) }, /at most 5/],
    [{ former: { path: '/app' } }, /former must be a list/],
    [{ former: [{ name: 'sid' }] }, /former\[0\]|former\.0|name/],
  ])('%j is refused', (cookie, message) => {
    const config = { database: 'sqlite::memory:', secret: SECRET, plugins: [password()], ...https };
    expect(() => createAuth({ ...config, session: { cookie: cookie as Cookie } })).toThrow(message);
  });
});
