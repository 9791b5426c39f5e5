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
    // No router: the guards must need none.
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
  test('refuses nobody, and puts somebody on req.auth', async () => {
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

  test('accept narrows the carriers', async () => {
    const token = await tokenOf(ada);
    const bearer = { authorization: `Bearer ${token}` };
    await get('/cookie-only', token).expect(200);
    expectProblem(await get('/bearer-only', token), 401, 'unauthenticated');
    await app.http.get('/bearer-only').set(bearer).expect(200);
    expectProblem(await app.http.get('/cookie-only').set(bearer), 401, 'unauthenticated');
    // The bearer header decides, though the cookie would have been accepted.
    expectProblem(await get('/cookie-only', token).set(bearer), 401, 'unauthenticated');
    expectProblem(await get('/optional-bearer', token), 401, 'unauthenticated');
  });

  test('an error of the app behind it goes to the app', async () => {
    await get('/throws', await tokenOf(ada)).expect(500, { handled: 'of the app' });
  });
});

describe('optionalSession', () => {
  test('goes on with nobody, and with somebody', async () => {
    await get('/optional').expect(200, null);
    const { body } = await get('/optional', await tokenOf(eve)).expect(200);
    expect(body.user.email).toBe(eve.email);
  });

  test('refuses a session that has ended, unless onError goes on', async () => {
    const token = await tokenOf(eve);
    await app.auth.revokeSession(token);
    expectProblem(await get('/optional', token), 401, 'invalid_session');
    await get('/lenient', token).expect(200, null);
  });
});

describe('requireAdmin', () => {
  test('asks who, then whether: an email counts once it is proven, and at once', async () => {
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

  test('needs the admin plugin', () => {
    const without = createAuth({ database: app.database.url, secret: SECRET, plugins: [password()] });
    expect(() => requireAdmin(without)).toThrow(
      /requireAdmin needs to know who is an administrator: add admin\(/,
    );
  });
});

describe('onError', () => {
  test('answers in the guard’s place, and knows why', async () => {
    await get('/redirect').expect(303).expect('location', '/sign-in?because=unauthenticated');
    await get('/redirect', 'junk').expect(303).expect('location', '/sign-in?because=invalid_session');
    await get('/admin-redirect', await tokenOf(eve)).expect('location', '/sign-in?because=admin_required');
    await get('/redirect', await tokenOf(eve)).expect(200);
  });

  test('may hand an AuthError on to the app', async () => {
    passedOn.length = 0;
    await get('/handed-on').expect(401, { handled: 'unauthenticated' });
    expect(passedOn).toHaveLength(1);
    expect(passedOn[0]).toBeInstanceOf(AuthError);
    expect(passedOn[0]).toMatchObject({ status: 401, code: 'unauthenticated', message: expect.any(String) });
  });
});

describe('currentUser and currentSession', () => {
  test('give what a guard found', async () => {
    const token = await tokenOf(ada);
    const { body } = await get('/current', token).expect(200);
    const { session } = await app.auth.getSession({ headers: { cookie: `latchkey=${token}` } });
    expect(body).toEqual([userId, session?.id]);
  });

  test('throw where there is nobody, or no guard', async () => {
    await get('/current').expect(401, { handled: 'unauthenticated' });
    await get('/unguarded', await tokenOf(ada)).expect(401, { handled: 'unauthenticated' });
    for (const current of [currentUser, currentSession])
      expect(() => current({})).toThrow(expect.objectContaining({ status: 401, code: 'unauthenticated' }));
  });
});

describe('construction', () => {
  test.each([
    ['an option that there is not', { acept: ['cookie'] }, /requireSession has no option acept/],
    ['an empty accept', { accept: [] }, /accept must list one or more of cookie, bearer/],
    ['a carrier that there is not', { accept: ['query'] }, /accept must list one or more of/],
    ['accept that is no list', { accept: 'cookie' }, /accept must list one or more of/],
    ['onError that is no function', { onError: '/sign-in' }, /onError must be a function/],
  ])('%s throws', (_name, options, message) => {
    expect(() => requireSession(app.auth, options as never)).toThrow(TypeError);
    expect(() => requireSession(app.auth, options as never)).toThrow(message);
  });

  describe('accept', () => {
    const config = (more: object) => ({ database: 'sqlite:x.db', secret: SECRET, ...more });

    test.each([
      [['bearer'], 'bearer, which is off: set bearerEnabled: true'],
      [['api-key'], 'api-key, which is off: add apiKeys() to plugins'],
      [
        ['bearer', 'api-key'],
        'bearer and api-key, which are off: set bearerEnabled: true, or add apiKeys() to plugins',
      ],
    ] as const)('of %j, while all of it is off, throws', (accept, said) => {
      for (const guard of [requireSession, optionalSession]) {
        const make = () => guard(createAuth(config({ plugins: [password()] })), { accept });
        expect(make).toThrow(TypeError);
        expect(make).toThrow(`latchkey: ${guard.name} accepts only ${said}`);
      }
    });

    test('of something that is on may name what is off', () => {
      const auth = createAuth(config({ plugins: [password()] }));
      requireSession(auth, { accept: ['cookie', 'bearer', 'api-key'] });
      requireSession(config({ bearerEnabled: true }), { accept: ['bearer', 'api-key'] });
      requireSession(config({ plugins: [apiKeys()] }), { accept: ['api-key'] });
    });
  });

  test('takes the config in place of the Auth, and checks it', async () => {
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
