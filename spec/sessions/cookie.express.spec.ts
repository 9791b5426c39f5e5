import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { authRouter, createAuth, requireSession } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
let token: string;
let other: string;
const signIn = async () =>
  (await app.auth.credential.signIn({ credential: ada.email, password: ada.password })).token;
beforeAll(async () => {
  app = await startApp({
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/', requireSession(auth), (req, res) => void res.json(req.auth));
    },
  });
  await app.auth.credential.signUp(ada);
});
afterAll(() => app.stop());
beforeEach(async () => {
  [token, other] = [await signIn(), await signIn()];
});

const get = (cookie: string) => app.http.get('/').set('cookie', cookie);

describe('the session cookie', () => {
  test('opens the session at any position among other cookies', async () => {
    for (const cookie of [
      `latchkey=${token}`,
      `a=b; latchkey=${token}; c=d`,
      `a=b;latchkey=${token};c`,
      `latchkey = ${token}`,
      `latchkey2=${other}; latchkey=${token}; xlatchkey=${other}; LATCHKEY=${other}`,
      `; ;=; =x; latchkey=${token}`,
    ]) {
      const { body } = await get(cookie).expect(200);
      expect(body.via).toBe('cookie');
    }
  });

  test('is accepted twice with the same value', async () => {
    await get(`latchkey=${token}; latchkey=${token}`).expect(200);
  });

  test('is rejected with two different values', async () => {
    for (const cookie of [
      `latchkey=${token}; latchkey=${other}`,
      `latchkey=junk; latchkey=${token}`,
      `latchkey=${token}; latchkey=junk`,
      `latchkey=${token}; latchkey=`,
      `latchkey=; latchkey=${token}`,
    ]) {
      expectProblem(await get(cookie), 401, 'invalid_session');
    }
    // The sessions are not ended either: someone who plants a second cookie must not be able to sign the user
    // out.
    await get(`latchkey=${token}`).expect(200);
  });

  test('is ignored if it is empty', async () => {
    for (const cookie of ['latchkey=', 'latchkey=; latchkey=', 'latchkey', 'other=1', '=', '']) {
      expectProblem(await get(cookie), 401, 'unauthenticated');
    }
  });

  test('is rejected if it is malformed', async () => {
    const flipped = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
    for (const value of [
      'junk',
      flipped,
      `"${token}"`,
      `j:{"a":1}`,
      `s:${token}.x`,
      token.slice(4),
      `${token} x`,
      '0',
      `lks_${'A'.repeat(48)}`,
      encodeURIComponent(`${token}\0`),
    ]) {
      expectProblem(await get(`latchkey=${value}`), 401, 'invalid_session');
    }
  });

  test('is the only accepted credential if bearer is off', async () => {
    for (const scheme of ['Bearer', 'bearer', 'Basic', 'Token']) {
      expectProblem(
        await app.http.get('/').set('authorization', `${scheme} ${token}`),
        401,
        'unauthenticated',
      );
    }
    for (const query of [`?access_token=${token}`, `?token=${token}`, `?latchkey=${token}`]) {
      expectProblem(await app.http.get(`/${query}`), 401, 'unauthenticated');
    }
    for (const header of ['x-auth-token', 'set-auth-token', 'x-service-api-key']) {
      expectProblem(await app.http.get('/').set(header, token), 401, 'unauthenticated');
    }
    // An unsupported scheme does not hide the cookie.
    await get(`latchkey=${token}`).set('authorization', 'Bearer junk').expect(200);
  });

  test('is listed in WWW-Authenticate', async () => {
    const answer = await app.http.get('/');
    expect(answer.headers['www-authenticate']).toBe('Cookie realm="latchkey", cookie-name="latchkey"');
  });
});

describe('a sign-in', () => {
  const send = (more: object = {}, cookie = '') =>
    app.http
      .post('/auth/signin/credential')
      .set('cookie', cookie)
      .send({ credential: ada.email, password: ada.password, ...more });

  test('sets a session cookie, or a persistent cookie with remember_me', async () => {
    const brief = [await send(), await send({ remember_me: false })];
    for (const answer of brief)
      expect(sessionCookie(answer)?.attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Lax']);
    const long = await send({ remember_me: true });
    const attributes = sessionCookie(long)?.attributes ?? [];
    expect(attributes.filter((it) => !it.startsWith('Expires'))).toEqual([
      'Max-Age=2592000',
      'Path=/',
      'HttpOnly',
      'SameSite=Lax',
    ]);
    const expires = attributes.find((it) => it.startsWith('Expires='))?.slice('Expires='.length) ?? '';
    const { created_at, expires_at } = long.body.session;
    expect(Math.abs(Date.parse(expires) - Date.parse(expires_at))).toBeLessThan(1000);
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(30 * 24 * 3600 * 1000);
    // And the device cookie.
    expect(long.headers['set-cookie']).toHaveLength(2);
  });

  test('never uses a token that the client sends', async () => {
    const planted = `lks_${'A'.repeat(48)}`;
    const answer = await send({}, `latchkey=${planted}`).expect(200);
    expect(sessionCookie(answer)?.value).not.toBe(planted);
  });

  test('ends the sessions whose cookies were sent, and no others', async () => {
    await send({}, `latchkey=${token}; latchkey=junk`).expect(200);
    expectProblem(await get(`latchkey=${token}`), 401, 'invalid_session');
    await get(`latchkey=${other}`).expect(200);
  });

  test('that fails ends no session and sets no cookie', async () => {
    const answer = await send({ password: 'something else' }, `latchkey=${token}`);
    expectProblem(answer, 401, 'invalid_credentials');
    expect(answer.headers['set-cookie']).toBeUndefined();
    await get(`latchkey=${token}`).expect(200);
  });
});

describe('the cookie options', () => {
  const cookieOf = async (config: object) => {
    const auth = createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      plugins: [password()],
      ...config,
    });
    const express = (await import('express')).default().use('/auth', authRouter(auth));
    const request = (await import('supertest')).default(express);
    const answer = await request
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    await auth.close();
    return (answer.headers['set-cookie'] as unknown as string[])
      .filter((line) => !/^[\w-]+-device=/.test(line))
      .map((line) => line.replace(/=lks_[^;]+/, '=token'));
  };

  test.each([
    [{ baseUrl: 'http://app.example.com' }, 'latchkey=token; Path=/; HttpOnly; SameSite=Lax'],
    [{ baseUrl: 'https://app.example.com' }, '__Host-latchkey=token; Path=/; HttpOnly; Secure; SameSite=Lax'],
    [
      { session: { cookie: { secure: true, domain: 'example.com', sameSite: 'none' } } },
      '__Secure-latchkey=token; Domain=example.com; Path=/; HttpOnly; Secure; SameSite=None',
    ],
    [
      { session: { cookie: { secure: true, sameSite: 'none', partitioned: true } } },
      '__Host-latchkey=token; Path=/; HttpOnly; Secure; Partitioned; SameSite=None',
    ],
    [
      { session: { cookie: { name: 'sid', path: '/app', sameSite: 'strict' } } },
      'sid=token; Path=/app; HttpOnly; SameSite=Strict',
    ],
  ])('%j set the cookie %j', async (config, expected) => {
    expect(await cookieOf(config)).toEqual([expected]);
  });

  test('default to a Secure cookie in production', async () => {
    const before = process.env.NODE_ENV;
    process.env.NODE_ENV = 'production';
    try {
      const cookies = await cookieOf({ plugins: [password({ bcryptCost: 10 })] });
      expect(cookies).toEqual(['__Host-latchkey=token; Path=/; HttpOnly; Secure; SameSite=Lax']);
    } finally {
      process.env.NODE_ENV = before;
    }
  });
});
