import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../lib/auth.js';
import type { Admission } from '../lib/core/contribution.js';
import type { Core } from '../lib/core/core.js';
import {
  AuthError,
  admin,
  authRouter,
  createAuth,
  optionalSession,
  type Plugin,
  requireSession,
  type User,
} from '../lib/index.js';
import { definePlugin } from '../lib/plugin.js';
import {
  ada,
  caught,
  password,
  SECRET,
  type SpecApp,
  sessionCookie,
  signedIn,
  startApp,
} from './support/app.js';
import { rows } from './support/database.js';
import { expectProblem } from './support/problem.js';

/** What the plugin was told, in order. */
let told: unknown[];
/** What the plugin makes of the admission of a request. */
let decide: (found: Admission) => Admission;
/** Whether a plugin says that it has ended a session of its own. */
let endsOther: boolean;

const follower = () =>
  definePlugin({
    name: 'follower',
    setup: () => ({
      api: null,
      afterCarriers: async (found: Admission) => decide(found),
      async afterSignInOrOut(session) {
        told.push(session ? 'signed in' : 'signed out');
        return endsOther;
      },
      async onSessionsEnd(ended, transaction) {
        told.push({ ...ended, inTransaction: transaction !== undefined });
      },
    }),
  });
const plugins = [password({ username: true }), follower()] as const;

let app: SpecApp<typeof plugins>;
let userId: string;
beforeEach(async () => {
  [told, decide, endsOther] = [[], (found) => found, false];
  app = await startApp({
    plugins,
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.all('/page', requireSession(auth), (req, res) => void res.json({ via: req.auth.via }));
      express.get(
        '/home',
        optionalSession(auth),
        (req, res) => void res.json({ via: req.auth?.via ?? null }),
      );
      express.post(
        '/logout',
        caught(async (req, res) => void res.json({ ended: await auth.endSession(req, res) })),
      );
    },
  });
});
afterEach(() => app.stop());

async function newBrowser() {
  const browser = await signedIn(app);
  userId = (await browser.get('/auth/me')).body.user.id;
  told = [];
  return browser;
}
const ids = async () => (await app.auth.listSessions(userId)).map(({ id }) => id);

describe('after the carriers, a plugin', () => {
  test('can admit a request that presents nothing, or an invalid credential', async () => {
    const browser = await newBrowser();
    let known: Admission = null;
    decide = (found) => {
      if (found && !(found instanceof AuthError)) known = found;
      return known;
    };
    await browser.get('/page').expect(200);
    for (const cookie of ['', 'latchkey=lks_invalid'])
      expect((await app.http.get('/page').set('cookie', cookie).expect(200)).body).toEqual({ via: 'cookie' });
  });

  test('can reject a request that presents a valid credential', async () => {
    const browser = await newBrowser();
    decide = () => new AuthError('invalid_session');
    expectProblem(await browser.get('/page'), 401, 'invalid_session');
    expect((await browser.get('/home').expect(200)).body).toEqual({ via: null });
    await expect(app.auth.getSession({ headers: {} })).rejects.toMatchObject({ code: 'invalid_session' });
  });

  test('gets the error of the carriers, or of the origin, which stands unless the plugin decides otherwise', async () => {
    const found: unknown[] = [];
    decide = (one) => {
      found.push(one instanceof AuthError ? one.code : one);
      return one;
    };
    const browser = await newBrowser();
    found.length = 0;
    expectProblem(await app.http.get('/page').set('cookie', 'latchkey=nonsense'), 401, 'invalid_session');
    expectProblem(await app.http.get('/page'), 401, 'unauthenticated');
    const foreign = browser.post('/page').set('origin', 'https://evil.example');
    expectProblem(await foreign, 403, 'origin_not_allowed');
    expect(found).toEqual(['invalid_session', null, 'origin_not_allowed']);
  });
});

describe('a plugin is told of', () => {
  test('a sign-in and a sign-out, by routes and by code', async () => {
    const browser = await newBrowser();
    await browser.post('/auth/signout').expect(204);
    expect(told).toEqual([expect.objectContaining({ how: 'revoked' }), 'signed out']);
    told = [];
    const signIn = { credential: ada.email, password: ada.password };
    const issued = await browser.post('/auth/signin/credential').send(signIn).expect(200);
    expect(sessionCookie(issued)).toBeDefined();
    expect(told).toEqual(['signed in']);
    told = [];
    expect((await browser.post('/logout').expect(200)).body).toEqual({ ended: true });
    expect(told).toEqual([expect.objectContaining({ how: 'revoked' }), 'signed out']);
    expect((await browser.post('/logout').expect(200)).body).toEqual({ ended: false });
    endsOther = true;
    expect((await browser.post('/logout').expect(200)).body).toEqual({ ended: true });
  });

  test('sessions that end, and how', async () => {
    const browser = await newBrowser();
    const [first] = await ids();
    const signIn = { credential: ada.email, password: ada.password };
    await browser.post('/auth/signin/credential').send(signIn).expect(200);
    const [second] = await ids();
    await app.auth.revokeSessionById(userId, second as string);
    await browser.post('/auth/signin/credential').send(signIn).expect(200);
    await app.auth.revokeAllSessions(userId);
    await browser.post('/auth/signin/credential').send(signIn).expect(200);
    const [last] = await ids();
    await rows(app.database, "UPDATE sessions SET expires_at = '2026-01-01 00:00:00'");
    await app.auth.prune();
    expect(told.filter((one) => typeof one !== 'string')).toEqual([
      { how: 'replaced', sessionIds: [first], inTransaction: true },
      { how: 'revoked', sessionIds: [second], inTransaction: false },
      { how: 'all-revoked', userId, inTransaction: true },
      { how: 'expired', sessionIds: [last], inTransaction: false },
    ]);
  });
});

test('several plugins can have administrators, and one of them sets what their sessions must have', () => {
  const others = definePlugin({
    name: 'others',
    setup: () => ({ api: null, administrators: { is: ({ username }) => username === 'grace' } }),
  });
  const root = admin({ adminUserIds: ['root'], fresh: 60, aal: 2 });
  const coreWith = (...given: readonly Plugin[]) =>
    internalsOf(createAuth({ database: 'sqlite:x.db', secret: SECRET, plugins: given })).core;
  const isOne = (core: Core, id: string, username: string) =>
    core.isAdministrator({ id, username, email: null } as User);
  for (const core of [coreWith(root, others), coreWith(others, root)]) {
    expect([isOne(core, 'root', 'ada'), isOne(core, '1', 'grace'), isOne(core, '1', 'ada')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(core.administration).toEqual({ fresh: 60, aal: 2 });
  }
  expect(coreWith(others)).toMatchObject({
    hasAdministrators: true,
    administration: { fresh: 3600, aal: 1 },
  });
  expect(coreWith().hasAdministrators).toBe(false);
});
