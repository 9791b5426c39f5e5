import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express, { type ErrorRequestHandler } from 'express';
import request from 'supertest';
import { AuthError, authRouter, type IssuedSession, optionalSession } from '../../lib/index.js';
import { ada, caught, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';

const plugins = [password()] as const;
const right = { credential: ada.email, password: ada.password };

let app: SpecApp<typeof plugins>;
let userId: string;
let events: string[];

const onError: ErrorRequestHandler = (error, _req, res, next) => {
  if (!(error instanceof AuthError)) return next(error);
  res.status(error.status).json({ code: error.code });
};

beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { bearerEnabled: true, trustedOrigins: ['https://www.example'] },
    mount: (mounted, auth) => {
      mounted.use('/auth', authRouter(auth));
      mounted.use(express.json(), express.urlencoded({ extended: true }));
      const signIn = async (input: object, req: express.Request, res: express.Response) => {
        const rememberMe = req.body?.remember === 'yes';
        await auth.establishSession(
          req,
          res,
          await auth.credential.signIn({ ...right, ...input, rememberMe }),
        );
        res.redirect(303, '/home');
      };
      mounted.all(
        '/login',
        caught((req, res) => signIn({ request: req }, req, res)),
      );
      mounted.all(
        '/login-without',
        caught((req, res) => signIn({}, req, res)),
      );
      mounted.all(
        '/login-behind',
        optionalSession(auth),
        caught((req, res) => signIn({}, req, res)),
      );
      mounted.all(
        '/sso',
        caught(async (req, res) => {
          const input = req.query.passes === 'request' ? { request: req } : {};
          await auth.establishSession(req, res, await auth.createSession(userId, input));
          res.json({});
        }),
      );
      mounted.all(
        '/logout',
        caught(async (req, res) => {
          res.json({ ended: await auth.endSession(req, res) });
        }),
      );
      mounted.use(onError);
    },
  });
  for (const name of ['session.created', 'session.revoked'] as const)
    app.auth.on(name, ({ sessionId }) => void events.push(`${name} ${sessionId}`));
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  userId = (await app.auth.credential.signUp(ada))!.user.id;
  events = [];
});

const cookieOf = (answer: request.Response, name?: string) =>
  `${name ?? 'latchkey'}=${sessionCookie(answer, name)?.value}`;
const me = (cookie: string) => app.http.get('/auth/me').set({ cookie });
const sessions = () => app.auth.listSessions(userId);
const issue = () => app.auth.credential.signIn(right);
/** What our own route sets, without what differs each time. */
const headersOf = ({ headers }: request.Response) => ({
  cookies: [headers['set-cookie'] ?? []]
    .flat()
    .map((line) => line.replace(/=[^;]*/, '=').replace(/Expires=[^;]*/, 'Expires=')),
  token: headers['set-auth-token'] !== undefined,
  exposed: headers['access-control-expose-headers'],
  cached: headers['cache-control'],
});

describe.each(['/login', '/login-without', '/login-behind'])('establishSession() in %s', (path) => {
  test.each([{}, { remember: 'yes' }])('sends the same headers as our own route (%j)', async (body) => {
    const own = await app.http
      .post('/auth/signin/credential')
      .send({ ...right, remember_me: 'remember' in body });
    const answer = await app.http.post(path).send(body).expect(303).expect('location', '/home');
    expect(headersOf(answer)).toEqual(headersOf(own));
    expect(answer.headers['set-auth-token']).toBe(sessionCookie(answer)?.value);
    await me(cookieOf(answer)).expect(200);
  });

  test('ends the sessions that the request carries, once', async () => {
    const [one, other] = [await issue(), await issue()];
    events = [];
    const headers = { cookie: `latchkey=${one.token}`, authorization: `Bearer ${other.token}` };
    const answer = await app.http.post(path).set(headers).expect(303);
    const left = await sessions();
    expect(left.length).toBe(1);
    await me(cookieOf(answer)).expect(200);
    expect(events.sort()).toEqual(
      [
        `session.created ${left[0]?.id}`,
        `session.revoked ${one.session.id}`,
        `session.revoked ${other.session.id}`,
      ].sort(),
    );
  });

  test('remembers the browser, once', async () => {
    const first = await app.http.post(path).expect(303);
    const cookie = cookieOf(first, 'latchkey-device');
    const second = await app.http.post(path).set({ cookie }).expect(303);
    expect(cookieOf(second, 'latchkey-device')).toBe(cookie);
    expect(await app.auth.models.Device.count()).toBe(1);
  });

  test('knows the token that it replaced, so that a request on its way clears no cookie', async () => {
    const before = await issue();
    await app.http.post(path).set('cookie', `latchkey=${before.token}`).expect(303);
    const [row] = await rows<{ replaced_token_hash: Buffer | null }>(
      app.database,
      'SELECT replaced_token_hash FROM sessions',
    );
    expect(row?.replaced_token_hash).not.toBeNull();
  });

  test('refuses other sites, and leaves no session behind', async () => {
    const before = await issue();
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ]) {
      const answer = await app.http.post(path).set(headers).send({});
      expect([answer.status, answer.body]).toEqual([403, { code: 'origin_not_allowed' }]);
      expect(answer.headers['set-cookie']).toBeUndefined();
      expect(answer.headers['set-auth-token']).toBeUndefined();
    }
    expect((await sessions()).map(({ id }) => id)).toEqual([before.session.id]);
    await app.http.post(path).set('origin', 'https://www.example').expect(303);
  });

  test('does not sign out the visitor of another site', async () => {
    const { token, session } = await issue();
    const [site, cookie] = [{ 'sec-fetch-site': 'cross-site' }, `latchkey=${token}`];
    const navigation = { ...site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' };
    for (const forged of [app.http.post(path).set(site), app.http.get(path).set(navigation)]) {
      const answer = await forged.set({ cookie });
      expect([answer.status, answer.body.code]).toEqual([403, 'origin_not_allowed']);
    }
    expect((await sessions()).map(({ id }) => id)).toEqual([session.id]);
    await me(cookie).expect(200);
  });

  test('allows links from anywhere, but neither frames nor scripts', async () => {
    const site = { 'sec-fetch-site': 'cross-site' };
    const link = { ...site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    await app.http.get(path).set(link).expect(303);
    for (const more of [{ 'sec-fetch-dest': 'iframe' }, { 'sec-fetch-mode': 'cors' }])
      await app.http
        .get(path)
        .set({ ...link, ...more })
        .expect(403);
    expect((await sessions()).length).toBe(1);
  });
});

describe('establishSession()', () => {
  test('works with the request and response of plain Node', async () => {
    const handle = async (req: IncomingMessage, res: ServerResponse) => {
      await app.auth.establishSession(req, res, await issue());
      res.writeHead(204).end();
    };
    const answer = await request(handle).post('/').expect(204);
    await me(cookieOf(answer)).expect(200);
  });

  test('keeps cookies that the app has set', async () => {
    const handle = async (req: IncomingMessage, res: ServerResponse) => {
      res.setHeader('Set-Cookie', 'theme=dark');
      await app.auth.establishSession(req, res, await issue());
      res.end();
    };
    const { headers } = await request(handle).post('/').expect(200);
    const names = [headers['set-cookie'] ?? []].flat().map((line) => line.split('=')[0]);
    expect(names).toEqual(['theme', 'latchkey', 'latchkey-device']);
  });

  test('refuses anything but an issued session', async () => {
    const { user } = await issue();
    for (const junk of [undefined, null, {}, { user }, 'lks_x'])
      await expect(
        app.auth.establishSession({ headers: {} }, {} as ServerResponse, junk as unknown as IssuedSession),
      ).rejects.toThrow('establishSession: pass the result of signIn or createSession');
  });
});

describe('endSession()', () => {
  test('ends the session of the cookie, and clears it', async () => {
    const [one, other] = [await issue(), await issue()];
    const answer = await app.http.post('/logout').set('cookie', `latchkey=${one.token}`);
    expect([answer.status, answer.body]).toEqual([200, { ended: true }]);
    const own = await app.http.post('/auth/signout').set('cookie', `latchkey=${other.token}`);
    expect(headersOf(answer)).toEqual(headersOf(own));
    expectProblem(await me(`latchkey=${one.token}`), 401, 'invalid_session');
  });

  test('ends the session of a Bearer token, whatever page sent it', async () => {
    const { token } = await issue();
    const headers = { authorization: `Bearer ${token}`, origin: 'https://elsewhere.example' };
    expect((await app.http.post('/logout').set(headers).expect(200)).body).toEqual({ ended: true });
    expect(await sessions()).toEqual([]);
  });

  test.each([{}, { cookie: 'latchkey=junk' }, { cookie: 'latchkey=a; latchkey=b' }])(
    'clears the cookie without a session (%j)',
    async (headers) => {
      const answer = await app.http.post('/logout').set(headers).expect(200);
      expect([answer.body, sessionCookie(answer)?.value]).toEqual([{ ended: false }, '']);
    },
  );

  test('refuses other sites, even without a session, and clears nothing', async () => {
    const { token } = await issue();
    for (const cookie of [`latchkey=${token}`, 'other=1'])
      for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
        const answer = await app.http.post('/logout').set({ ...headers, cookie });
        expect([answer.status, answer.body]).toEqual([403, { code: 'origin_not_allowed' }]);
        expect(answer.headers['set-cookie']).toBeUndefined();
      }
    const link = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    await app.http
      .get('/logout')
      .set({ ...link, cookie: `latchkey=${token}` })
      .expect(403);
    await me(`latchkey=${token}`).expect(200);
  });
});

describe('createSession()', () => {
  test('creates a session like any other', async () => {
    const issued = await app.auth.createSession(userId, {
      remember: true,
      ip: '::ffff:10.0.0.1',
      userAgent: 'sso',
    });
    expect(issued).toMatchObject({ user: { id: userId }, remembered: true, device: null });
    expect(issued.session).toMatchObject({ userId, ipAddress: '10.0.0.1', userAgent: 'sso' });
    const { body } = await me(`latchkey=${issued.token}`).expect(200);
    expect(body.session.id).toBe(issued.session.id);
    expect(events).toEqual([`session.created ${issued.session.id}`]);
    const short = await app.auth.createSession(userId);
    expect(short.session).toMatchObject({ ipAddress: null, userAgent: null });
    expect([short.remembered, short.session.expiresAt < issued.session.expiresAt]).toEqual([false, true]);
  });

  test('is sent to a browser by establishSession()', async () => {
    const before = await issue();
    const answer = await app.http.post('/sso').set('cookie', `latchkey=${before.token}`).expect(200);
    await me(cookieOf(answer)).expect(200);
    expect((await sessions()).length).toBe(1);
    expect(sessionCookie(answer, 'latchkey-device')?.value).toMatch(/^lkd_/);
  });

  test('belongs to the client of a request that it gets', async () => {
    const before = await issue();
    const answer = await app.http
      .post('/sso?passes=request')
      .set({ cookie: `latchkey=${before.token}`, 'user-agent': 'a browser' })
      .expect(200);
    await me(cookieOf(answer)).expect(200);
    expect(await sessions()).toMatchObject([{ ipAddress: '127.0.0.1', userAgent: 'a browser' }]);
    expect(sessionCookie(answer, 'latchkey-device')?.value).toMatch(/^lkd_/);
    const refused = await app.http
      .post('/sso?passes=request')
      .set({ origin: 'https://evil.example', cookie: cookieOf(answer) })
      .expect(403);
    expect(refused.headers['set-cookie']).toBeUndefined();
    expect(await sessions()).toHaveLength(1);
  });

  test('is as recent as the app says, which is now by default', async () => {
    const at = new Date(Date.now() - 3_600_000);
    const sessionOf = async (authenticatedAt?: Date) =>
      (await app.auth.createSession(userId, { authenticatedAt })).session;
    expect((await sessionOf(at)).authenticatedAt).toEqual(at);
    const now = await sessionOf();
    expect(now.authenticatedAt).toEqual(now.createdAt);
    const later = await sessionOf(new Date(Date.now() + 3_600_000));
    expect(later.authenticatedAt).toEqual(later.createdAt);
  });

  test.each(['', 'junk', '01900000-0000-7000-8000-000000000000', null, undefined, { id: 1 }])(
    'of nobody (%j) is user_not_found',
    async (id) => {
      await expect(app.auth.createSession(id as string)).rejects.toMatchObject({ code: 'user_not_found' });
    },
  );

  test('takes no other types', async () => {
    for (const input of [
      { ip: 5 },
      { userAgent: {} },
      { authenticatedAt: 'now' },
      { authenticatedAt: new Date('') },
    ])
      await expect(app.auth.createSession(userId, input as never)).rejects.toThrow(TypeError);
    expect((await app.auth.createSession(userId, { remember: 'yes' as never })).remembered).toBe(false);
  });

  test('runs the checks of the account', async () => {
    const strict = await startApp({
      plugins: [password({ requireVerifiedEmail: true })],
      config: { baseUrl: 'http://app.example.com', email: { send: () => {} } },
    });
    const { user } = (await strict.auth.credential.signUp(ada))!;
    await expect(strict.auth.createSession(user.id)).rejects.toMatchObject({ code: 'email_not_verified' });
    expect(await strict.auth.listSessions(user.id)).toEqual([]);
    await strict.auth.markEmailVerified(user.id);
    await strict.auth.createSession(user.id);
    await strict.stop();
  });

  test('is dead if all sessions were revoked meanwhile', async () => {
    const outcomes = await Promise.all([
      ...Array.from({ length: 5 }, () => app.auth.createSession(userId)),
      app.auth.revokeAllSessions(userId),
    ]);
    const [revoked, created] = [outcomes.pop(), outcomes];
    const left = (await sessions()).length;
    expect(created.length).toBe(5);
    expect(left + Number(revoked)).toBeLessThanOrEqual(5);
  });
});

describe('revokeSessionById()', () => {
  test('ends one session of that user', async () => {
    const [one, other] = [await issue(), await issue()];
    events = [];
    expect(await app.auth.revokeSessionById(userId, one.session.id)).toBe(true);
    expect(await app.auth.revokeSessionById(userId, one.session.id)).toBe(false);
    expect(events).toEqual([`session.revoked ${one.session.id}`]);
    for (const [user, session] of [
      ['01900000-0000-7000-8000-000000000000', other.session.id],
      [userId, other.token],
      [userId, 'junk'],
      [undefined, undefined],
    ])
      expect(await app.auth.revokeSessionById(user as string, session as string)).toBe(false);
    await me(`latchkey=${other.token}`).expect(200);
  });
});
