import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { authRouter, optionalSession, requireSession } from '../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
let token: string;
let cookie: string;
beforeAll(async () => {
  app = await startApp({
    plugins: [password({ signInOnSignUp: true })],
    config: { bearerEnabled: true },
    mount(express, auth) {
      express.use((_req, res, next) => {
        res.setHeader('Access-Control-Expose-Headers', 'X-Of-The-App');
        next();
      });
      express.use('/auth', authRouter(auth));
      express.get('/', requireSession(auth), (req, res) => void res.json(req.auth));
      express.get('/optional', optionalSession(auth), (req, res) => void res.json(req.auth ?? null));
    },
  });
  await app.auth.credential.signUp(ada);
});
afterAll(() => app.stop());
beforeEach(async () => {
  const signIn = () => app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  token = (await signIn()).token;
  cookie = `latchkey=${(await signIn()).token}`;
});

const get = (authorization: string, path = '/') => app.http.get(path).set('authorization', authorization);

describe('Authorization: Bearer', () => {
  test('opens the session, with the scheme in upper or lower case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  ']) {
      const { body } = await get(`${scheme} ${token}`).expect(200);
      expect(body.via).toBe('bearer');
    }
  });

  test('rejects an invalid token without falling back to the cookie', async () => {
    const flipped = token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A');
    for (const bad of [
      'Bearer junk',
      'Bearer',
      'Bearer ',
      'bearer    ',
      `Bearer ${flipped}`,
      `Bearer ${token} ${token}`,
      `Bearer "${token}"`,
      `Bearer ${token},`,
      `Bearer lks_${'A'.repeat(48)}`,
      'Bearer null',
      'Bearer\tjunk',
    ]) {
      for (const path of ['/', '/optional', '/auth/me']) {
        const answer = await get(bad, path).set('cookie', cookie);
        expectProblem(answer, 401, 'invalid_session');
      }
    }
  });

  test('takes precedence over the cookie', async () => {
    const { body } = await get(`Bearer ${token}`).set('cookie', cookie).expect(200);
    expect(body.via).toBe('bearer');
    const withBadCookie = await get(`Bearer ${token}`).set('cookie', 'latchkey=junk').expect(200);
    expect(withBadCookie.body.session.id).toBe(body.session.id);
  });

  test('ignores other schemes, and then the cookie is used', async () => {
    for (const foreign of [
      'Basic YTpi',
      'Digest x',
      'BearerX junk',
      `Bearer-${token}`,
      `ApiKey ${token}`,
      'Negotiate',
      token,
      '',
    ]) {
      expectProblem(await get(foreign), 401, 'unauthenticated');
      const { body } = await get(foreign).set('cookie', cookie).expect(200);
      expect(body.via).toBe('cookie');
    }
  });

  test('ignores tokens in the query string', async () => {
    expectProblem(await app.http.get(`/?access_token=${token}&token=${token}`), 401, 'unauthenticated');
  });

  test('is rejected after its sign-out, while the cookie of the same browser still works', async () => {
    await app.http
      .post('/auth/signout')
      .set('authorization', `Bearer ${token}`)
      .set('cookie', cookie)
      .expect(204);
    expectProblem(await get(`Bearer ${token}`), 401, 'invalid_session');
    await app.http.get('/').set('cookie', cookie).expect(200);
  });

  test('is listed in WWW-Authenticate before the cookie', async () => {
    const { headers } = await app.http.get('/');
    expect(headers['www-authenticate']).toBe(
      'Bearer realm="latchkey", Cookie realm="latchkey", cookie-name="latchkey"',
    );
  });
});

describe('Set-Auth-Token', () => {
  test('is sent by a sign-in and a sign-up that create a session, together with the cookie', async () => {
    const answers = [
      await app.http
        .post('/auth/signin/credential')
        .send({ credential: ada.email, password: ada.password })
        .expect(200),
      await app.http
        .post('/auth/signup/credential')
        .send({ ...ada, email: 'new@example.com' })
        .expect(201),
    ];
    for (const answer of answers) {
      expect(answer.headers['set-auth-token']).toBe(sessionCookie(answer)?.value);
      expect(answer.headers['access-control-expose-headers']).toBe('X-Of-The-App, Set-Auth-Token');
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      await get(`Bearer ${answer.headers['set-auth-token']}`).expect(200);
    }
  });

  test('is not sent by other responses', async () => {
    const failed = await app.http
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: 'wrong' });
    for (const answer of [
      failed,
      await get(`Bearer ${token}`, '/auth/me'),
      await get(`Bearer ${token}`, '/auth/sessions'),
    ])
      expect(answer.headers['set-auth-token']).toBeUndefined();
  });

  test('replaces the session of the bearer token that was sent with the sign-in', async () => {
    const body = { credential: ada.email, password: ada.password };
    await app.http
      .post('/auth/signin/credential')
      .set('authorization', `Bearer ${token}`)
      .send(body)
      .expect(200);
    expectProblem(await get(`Bearer ${token}`), 401, 'invalid_session');
  });
});
