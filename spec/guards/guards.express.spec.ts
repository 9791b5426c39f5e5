import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ErrorRequestHandler, Request, Response } from 'express';
import {
  AuthError,
  admin,
  apiKeys,
  createAuth,
  currentSession,
  currentUser,
  optionalSession,
  requireAdmin,
  requireSession,
} from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };
const plugins = [password(), admin({ adminEmails: ['ADA@example.com'] })] as const;

const seen = (req: Request, res: Response) => void res.json(req.auth ?? null);
const redirect = (error: AuthError, _req: unknown, res: Response) =>
  res.redirect(303, `/sign-in?because=${error.code}`);
const goOn = (_error: AuthError, _req: unknown, _res: unknown, next: () => void) => next();

let app: SpecApp<typeof plugins>;
let userId: string;
const passedOn: unknown[] = [];
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { bearerEnabled: true },
    // There is no router, because the guards must not need one.
    mount(express, auth) {
      express.get('/session', requireSession(auth), seen);
      express.get('/optional', optionalSession(auth), seen);
      express.get('/admin', requireAdmin(auth), seen);
      express.get('/cookie-only', requireSession(auth, { accept: ['cookie'] }), seen);
      express.get('/bearer-only', requireSession(auth, { accept: ['bearer'] }), seen);
      express.get('/optional-bearer', optionalSession(auth, { accept: ['bearer'] }), seen);
      express.get('/redirect', requireSession(auth, { onError: redirect }), seen);
      express.get('/admin-redirect', requireAdmin(auth, { onError: redirect }), seen);
      express.get('/lenient', optionalSession(auth, { onError: goOn }), seen);
      express.get(
        '/handed-on',
        requireSession(auth, { onError: (error, _req, _res, next) => next(error) }),
        seen,
      );
      express.get(
        '/throws-nothing',
        requireSession(auth, { onError: () => Promise.reject(undefined) }),
        seen,
      );
      express.get('/twice', requireSession(auth), requireAdmin(auth), seen);
      express.get('/current', optionalSession(auth), (req, res) => {
        res.json([currentUser(req).id, currentSession(req).id]);
      });
      express.get('/unguarded', (req, res) => void res.json([currentUser(req), currentSession(req)]));
      express.get('/throws', requireSession(auth), () => {
        throw new Error('of the app');
      });
      const handler: ErrorRequestHandler = (error, _req, res, _next) => {
        passedOn.push(error);
        res.status(error.status ?? 500).json({ handled: error.code ?? error.message });
      };
      express.use(handler);
    },
  });
  const made = await app.auth.credential.signUp(ada);
  userId = made!.user.id;
  await app.auth.credential.signUp(eve);
});
afterAll(() => app.stop());

const tokenOf = async ({ email, password }: typeof ada) =>
  (await app.auth.credential.signIn({ credential: email, password })).token;
const get = (path: string, token?: string) =>
  app.http.get(path).set(token ? { cookie: `latchkey=${token}` } : {});

describe('requireSession', () => {
  test('rejects requests without a valid session, and sets req.auth for others', async () => {
    expectProblem(await get('/session'), 401, 'unauthenticated');
    expectProblem(await get('/session', 'junk'), 401, 'invalid_session');
    const { body } = await get('/session', await tokenOf(ada)).expect(200);
    expect(body).toMatchObject({
      via: 'cookie',
      user: { id: userId, email: ada.email },
      session: { userId },
    });
    expect(JSON.stringify(body)).not.toMatch(/hash|epoch|lks_|bcrypt/i);
  });

  test('accepts only the carriers in accept', async () => {
    const token = await tokenOf(ada);
    const bearer = { authorization: `Bearer ${token}` };
    await get('/cookie-only', token).expect(200);
    expectProblem(await get('/bearer-only', token), 401, 'unauthenticated');
    await app.http.get('/bearer-only').set(bearer).expect(200);
    expectProblem(await app.http.get('/cookie-only').set(bearer), 401, 'unauthenticated');
    // The bearer header is used, even if the cookie would have been accepted.
    expectProblem(await get('/cookie-only', token).set(bearer), 401, 'unauthenticated');
    expectProblem(await get('/optional-bearer', token), 401, 'unauthenticated');
  });

  test('passes errors of the app’s own handler to the app', async () => {
    await get('/throws', await tokenOf(ada)).expect(500, { handled: 'of the app' });
  });
});

describe('optionalSession', () => {
  test('lets requests through with and without a session', async () => {
    await get('/optional').expect(200, null);
    const { body } = await get('/optional', await tokenOf(eve)).expect(200);
    expect(body.user.email).toBe(eve.email);
  });

  test('rejects a bearer token that opens nothing, unless onError continues', async () => {
    const authorization = 'Bearer junk';
    expectProblem(await app.http.get('/optional').set({ authorization }), 401, 'invalid_session');
    await app.http.get('/lenient').set({ authorization }).expect(200, null);
  });
});

describe('requireAdmin', () => {
  test('checks the session, then whether the user is an administrator with a verified email, on every request', async () => {
    const token = await tokenOf(ada);
    expectProblem(await get('/admin'), 401, 'unauthenticated');
    expectProblem(await get('/admin', 'junk'), 401, 'invalid_session');
    expectProblem(await get('/admin', token), 403, 'admin_required');
    await app.auth.markEmailVerified(userId);
    await get('/admin', token).expect(200);
    await get('/twice', token).expect(200);
    await app.auth.models.User.update({ emailVerifiedAt: null }, { where: { id: userId } });
    expectProblem(await get('/admin', token), 403, 'admin_required');
    expectProblem(await get('/twice', token), 403, 'admin_required');
    await app.auth.models.User.update({ emailVerifiedAt: new Date() }, { where: { id: userId } });
    expectProblem(await get('/admin', await tokenOf(eve)), 403, 'admin_required');
  });

  test('throws without the admin plugin', () => {
    const without = createAuth({ database: app.database.url, secret: SECRET, plugins: [password()] });
    expect(() => requireAdmin(without)).toThrow(
      /requireAdmin requires administrators to be configured: add admin\(/,
    );
  });
});

describe('onError', () => {
  test('responds instead of the guard, and gets the error', async () => {
    await get('/redirect').expect(303).expect('location', '/sign-in?because=unauthenticated');
    await get('/redirect', 'junk').expect(303).expect('location', '/sign-in?because=invalid_session');
    await get('/admin-redirect', await tokenOf(eve)).expect('location', '/sign-in?because=admin_required');
    await get('/redirect', await tokenOf(eve)).expect(200);
  });

  test('can pass an AuthError on to the app', async () => {
    passedOn.length = 0;
    await get('/handed-on').expect(401, { handled: 'unauthenticated' });
    expect(passedOn).toHaveLength(1);
    expect(passedOn[0]).toBeInstanceOf(AuthError);
    expect(passedOn[0]).toMatchObject({ status: 401, code: 'unauthenticated', message: expect.any(String) });
  });
});

test('an onError that throws undefined lets nobody pass', async () => {
  await get('/throws-nothing').expect(500);
});

describe('currentUser and currentSession', () => {
  test('return what a guard found', async () => {
    const token = await tokenOf(ada);
    const { body } = await get('/current', token).expect(200);
    const { session } = await app.auth.getSession({ headers: { cookie: `latchkey=${token}` } });
    expect(body).toEqual([userId, session?.id]);
  });

  test('throw if nobody is signed in or if there is no guard', async () => {
    await get('/current').expect(401, { handled: 'unauthenticated' });
    await get('/unguarded', await tokenOf(ada)).expect(401, { handled: 'unauthenticated' });
    for (const current of [currentUser, currentSession])
      expect(() => current({})).toThrow(expect.objectContaining({ status: 401, code: 'unauthenticated' }));
  });
});

describe('creating a guard', () => {
  test.each([
    [
      'every unknown option',
      { acept: ['cookie'], all: 2 },
      /^latchkey: requireSession does not accept acept, all \(did you mean accept and aal\?\): it accepts onError, /,
    ],
    ['an empty accept', { accept: [] }, /accept must list one or more of cookie, bearer/],
    ['an unknown carrier', { accept: ['query'] }, /accept must list one or more of/],
    [
      'an accept with a feature that is not a credential',
      { accept: ['cookie', 'administrators'] },
      /accept must list one or more of cookie, bearer, api-key$/,
    ],
    ['an accept that is not a list', { accept: 'cookie' }, /accept must list one or more of/],
    ['an onError that is not a function', { onError: '/sign-in' }, /onError must be a function/],
  ])('throws a TypeError for %s', (_name, options, message) => {
    expect(() => requireSession(app.auth, options as never)).toThrow(TypeError);
    expect(() => requireSession(app.auth, options as never)).toThrow(message);
  });

  describe('with accept', () => {
    const config = (more: object) => ({ database: 'sqlite:x.db', secret: SECRET, ...more });

    test.each([
      [['bearer'], 'bearer, which is not enabled: set bearerEnabled: true'],
      [['api-key'], 'api-key, which is not enabled: add apiKeys() to plugins'],
      [
        ['bearer', 'api-key'],
        'bearer and api-key, which are not enabled: set bearerEnabled: true, or add apiKeys() to plugins',
      ],
    ] as const)('%j throws if none of it is on', (accept, said) => {
      for (const guard of [requireSession, optionalSession]) {
        const make = () => guard(createAuth(config({ plugins: [password()] })), { accept });
        expect(make).toThrow(TypeError);
        expect(make).toThrow(`latchkey: ${guard.name} accepts only ${said}`);
      }
    });

    test('works if at least one of its carriers is on', () => {
      const auth = createAuth(config({ plugins: [password()] }));
      requireSession(auth, { accept: ['cookie', 'bearer', 'api-key'] });
      requireSession(config({ bearerEnabled: true }), { accept: ['bearer', 'api-key'] });
      requireSession(config({ plugins: [apiKeys()] }), { accept: ['api-key'] });
    });
  });

  test('accepts a config instead of an Auth, and validates it', async () => {
    const config = { database: app.database.url, secret: SECRET, plugins: [password()] } as const;
    const [guard, auth] = [requireSession(config), createAuth(config)];
    const headers = { cookie: `latchkey=${await tokenOf(ada)}` };
    const req = { headers, method: 'GET' } as Request;
    await new Promise((resolve) => guard(req, {} as Response, resolve));
    expect(req.auth?.user.email).toBe(ada.email);
    await auth.close();
    expect(() => requireSession({ database: 'sqlite:x', secret: 'short' })).toThrow(/secret is too short/);
  });
});
