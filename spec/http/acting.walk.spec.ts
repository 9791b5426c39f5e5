import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Request, RequestHandler, Response } from 'express';
import { internalsOf } from '../../lib/auth.js';
import { requirePermission } from '../../lib/guards/guards.js';
import { requireMember } from '../../lib/guards/require-member.js';
import { type Route, route } from '../../lib/http/route.js';
import {
  authRouter,
  currentSession,
  optionalSession,
  type RequireSessionOptions,
  requireAdmin,
  requireSession,
} from '../../lib/index.js';
import { pages } from '../../lib/pages.js';
import { definePlugin } from '../../lib/plugin.js';
import { acting, cookieIn, ROOT, userWith } from '../support/acting.js';
import { type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { pagesIn } from '../support/pages-walk.js';
import { expectProblem } from '../support/problem.js';

/** Routes that say nothing about acting sessions, as a new one would. */
const undeclared = (['authenticated', 'session', 'admin'] as const).flatMap((access) =>
  (['get', 'post'] as const).map((method) =>
    route({
      method,
      path: `/new/${access}`,
      summary: 'Do something new',
      access,
      openTo: 'any-task',
      answers: { 204: { description: 'Done' } },
      async handle() {
        return { status: 204 };
      },
    }),
  ),
);
const trial = definePlugin({
  name: 'trial',
  setup: () => ({
    api: null,
    routes: () => undeclared,
  }),
});
const plugins = [...everyPlugin({ sendsEmails: true }), fixedProvider(), pages(), trial] as const;

const ACTING = ['read', 'write', false] as const;
type Acting = (typeof ACTING)[number];
/** The guards, by their path below /guards. */
const GUARDS: Record<string, (app: SpecApp<typeof plugins>['auth']) => RequestHandler> = {
  default: (auth) => requireSession(auth),
  permission: (auth) => requirePermission(auth, 'posts:write'),
  admin: (auth) => requireAdmin(auth),
  optional: (auth) => optionalSession(auth),
  ...Object.fromEntries(
    ACTING.flatMap((acting): [string, (app: SpecApp<typeof plugins>['auth']) => RequestHandler][] => [
      [`session-${acting}`, (auth) => requireSession(auth, { acting })],
      [`permission-${acting}`, (auth) => requirePermission(auth, 'posts:write', { acting })],
      [`member-${acting}`, (auth) => requireMember(auth, { acting, organization: () => 'acme' })],
      [`optional-${acting}`, (auth) => optionalSession(auth, { acting })],
      [`aal-${acting}`, (auth) => requireSession(auth, { acting, aal: 2 })],
      [`fresh-${acting}`, (auth) => requireSession(auth, { acting, freshWithin: 1e12 })],
    ]),
  ),
};
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const;

let app: SpecApp<typeof plugins>;
let scene: Awaited<ReturnType<typeof acting>>;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      baseUrl: 'http://app.example.com',
      email: { send: () => undefined },
      tasks: { welcome: { open: ({ email }) => email !== ROOT, page: '/welcome' } },
    },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      const answer = (req: Request, res: Response) =>
        void res.json(req.auth ? { actor: req.auth.actor, tasks: currentSession(req).tasks } : {});
      for (const [path, guard] of Object.entries(GUARDS)) express.all(`/guards/${path}`, guard(auth), answer);
    },
  });
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM sessions');
  await rows(app.database, 'DELETE FROM users');
  await app.auth.roles.set(await userWith(app, 'ada@example.com'), ['editor']);
  scene = await acting(app);
  await rows(app.database, 'DELETE FROM organizations');
  const { userId: ownerId } = scene;
  await app.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId });
});
afterAll(() => app.stop());

const routes = () => internalsOf(app.auth).routes();
/** Whose routes need no session. */
const OPTIONAL: ReadonlySet<string> = new Set(['public', 'session-or-none']);
const nameOf = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`;
const send = ({ method, path }: Route) =>
  app.http[method](`/auth${path.replace('/:provider', '/fixed').replace(/:\w+/g, scene.userId)}`)
    .set({ cookie: scene.cookie })
    .send(method === 'get' ? undefined : {});

describe('routes', () => {
  test('only these are open', () => {
    const open = routes().filter(({ openToActing }) => openToActing);
    expect(open.map(nameOf).sort()).toEqual([
      'GET /me',
      'GET /organizations',
      'GET /organizations/:id',
      'POST /signout',
    ]);
  });

  test('every other one that needs a session is closed, and says so first', async () => {
    const closed = routes().filter(({ access, openToActing }) => !OPTIONAL.has(access) && !openToActing);
    expect(closed.length).toBeGreaterThan(40);
    expect(closed).toEqual(
      expect.arrayContaining(undeclared.map(({ path }) => expect.objectContaining({ path }))),
    );
    for (const one of closed) {
      const answer = await send(one);
      expect([nameOf(one), answer.status, answer.body.code]).toEqual([nameOf(one), 403, 'acting_session']);
    }
    // The problem is declared, so `startApp` checks that it is in the OpenAPI document.
    await app.http.get('/auth/me').set({ cookie: scene.cookie }).expect(200);
  });

  test('those that need no session ignore it', async () => {
    const open = routes().filter(({ access, openToActing }) => OPTIONAL.has(access) && !openToActing);
    expect(open.length).toBeGreaterThan(15);
    for (const one of open) {
      const answer = await send(one);
      expect([nameOf(one), answer.body.code]).not.toEqual([nameOf(one), 'acting_session']);
    }
    await app.http.get('/auth/me').set({ cookie: scene.cookie }).expect(200);
  });

  test('HEAD of GET /me is open, and another site cannot use the session', async () => {
    await app.http.head('/auth/me').set({ cookie: scene.cookie }).expect(200);
    const foreign = await app.http
      .post('/auth/signout')
      .set({ cookie: scene.cookie, 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' });
    expectProblem(foreign, 403, 'origin_not_allowed');
  });
});

/** What the page about acting sessions says. */
function isAdmitted(guard: string, method: string, isUpgrade = false): boolean {
  const [kind = '', option] = guard.split('-');
  if (['admin', 'aal', 'fresh'].includes(kind)) return false;
  const acting = (option ?? 'read') as 'read' | 'write' | 'false';
  const isRead = ['get', 'head'].includes(method) && !isUpgrade;
  return acting === 'write' || (acting === 'read' && isRead);
}

describe('guards', () => {
  test.each(Object.keys(GUARDS))('%s', async (guard) => {
    for (const method of METHODS) {
      const answer = await app.http[method](`/guards/${guard}`).set({ cookie: scene.cookie });
      const admitted = isAdmitted(guard, method);
      const isOptional = guard.startsWith('optional');
      expect([method, answer.status]).toEqual([method, admitted || isOptional ? 200 : 403]);
      if (method === 'head') continue;
      if (answer.status === 403) expectProblem(answer, 403, 'acting_session');
      else expect(answer.body).toEqual(admitted ? { actor: { id: scene.adminId }, tasks: [] } : {});
    }
    const upgrade = await app.http
      .get(`/guards/${guard}`)
      .set({ cookie: scene.cookie, upgrade: 'websocket', connection: 'close' });
    const admitted = isAdmitted(guard, 'get', true) || guard.startsWith('optional');
    expect(upgrade.status).toBe(admitted ? 200 : 403);
  });

  test('others have no actor', async () => {
    const { auth } = app;
    const { token } = await auth.createSession(scene.userId);
    const headers = { cookie: `latchkey=${token}` };
    await rows(app.database, 'DELETE FROM sessions WHERE actor_id IS NOT NULL');
    const found = await auth.getSession({ headers }).catch((error) => error);
    expect(found).toMatchObject({ code: 'task_required' });
    const { key } = await auth.apiKeys.create(scene.adminId, { name: 'a program' });
    const byKey = await auth.getSession({ headers: { 'x-service-api-key': key } });
    expect(byKey.actor).toBeNull();
  });

  test('auth.getSession counts a request without a method as a write', async () => {
    const { cookie, adminId } = scene;
    const get = (method: string | undefined, acting?: Acting, more = {}) =>
      app.auth
        .getSession({ headers: { cookie, ...more }, method }, acting === undefined ? undefined : { acting })
        .then(
          ({ actor }) => actor,
          (error) => error.code,
        );
    const actor = { id: adminId };
    expect(await get('GET')).toEqual(actor);
    expect(await get('HEAD', 'read')).toEqual(actor);
    expect(await get(undefined)).toBe('acting_session');
    expect(await get('POST', 'read')).toBe('acting_session');
    expect(await get('GET', 'read', { upgrade: 'websocket' })).toBe('acting_session');
    expect(await get('GET', false)).toBe('acting_session');
    expect(await get(undefined, 'write')).toEqual(actor);
    await expect(app.auth.getSession({ headers: {} }, { acting: 'all' } as never)).rejects.toThrow(
      "acting must be 'read', 'write' or false",
    );
  });

  test('reject other values of the option', () => {
    const options = { acting: 'all' } as unknown as RequireSessionOptions;
    expect(() => requireSession(app.auth, options)).toThrow("acting must be 'read', 'write' or false");
    expect(() => optionalSession(app.auth, options)).toThrow("acting must be 'read', 'write' or false");
    expect(() => requireAdmin(app.auth, options)).toThrow(/acting/);
  });
});

const NEW = 'a difference engine';
/** The calls from code that get a session, and what they get. */
const CALLS: Record<string, () => Promise<unknown>> = {
  ...ofSession({
    'users.changeEmail': (of) =>
      app.auth.users.changeEmail(of.userId, 'eve@example.com', { sessionId: of.sessionId }),
    'users.setPassword': (of) => app.auth.users.setPassword(of.userId, NEW, { sessionId: of.sessionId }),
    'credential.changePassword': (of) =>
      app.auth.credential.changePassword({ ...of, currentPassword: NEW, newPassword: 'another engine' }),
    'credential.setPassword': (of) => app.auth.credential.setPassword({ ...of, newPassword: NEW }),
    'credential.removePassword': (of) => app.auth.credential.removePassword(of),
    'credential.reauthenticate': (of) => app.auth.credential.reauthenticate({ ...of, password: NEW }),
    'credential.sendVerification': (of) => app.auth.credential.sendVerification(of),
    'credential.verifyEmail': (of) => app.auth.credential.verifyEmail({ ...of, code: '123456' }),
    'twoFactor.enroll': (of) => app.auth.twoFactor.enroll(of),
    'twoFactor.confirm': (of) => app.auth.twoFactor.confirm({ ...of, code: '123456' }),
    'twoFactor.turnOff': (of) => app.auth.twoFactor.turnOff(of),
    'twoFactor.usePasskeys': (of) => app.auth.twoFactor.usePasskeys({ ...of, on: true }),
    'twoFactor.renewRecoveryCodes': (of) => app.auth.twoFactor.renewRecoveryCodes(of),
    'passkeys.registrationOptions': (of) => app.auth.passkeys.registrationOptions(of),
    'passkeys.register': (of) => app.auth.passkeys.register({ ...of, response: {} as never }),
    'passkeys.remove': (of) => app.auth.passkeys.remove(of.userId, of.userId, { sessionId: of.sessionId }),
    'passkeys.reauthenticationOptions': (of) => app.auth.passkeys.reauthenticationOptions(of),
    'passkeys.reauthenticate': (of) => app.auth.passkeys.reauthenticate({ ...of, response: {} as never }),
    'apiKeys.create': (of) => app.auth.apiKeys.create(of.userId, { name: 'x', sessionId: of.sessionId }),
    'emailSignIn.requestReauthentication': (of) => app.auth.emailSignIn.requestReauthentication(of),
    'oauth.linkUrl': (of) => app.auth.oauth.linkUrl('fixed', of.sessionId),
    'oauth.reauthenticateUrl': (of) => app.auth.oauth.reauthenticateUrl('fixed', of.sessionId),
    revokeAllSessions: (of) => app.auth.revokeAllSessions(of.userId, { except: of.sessionId }),
  }),
  'apiKeys.create with the request': () => app.auth.apiKeys.create(scene.userId, { name: 'x', ...request() }),
  'admin.updateUser with the request': () =>
    app.auth.admin.updateUser(scene.userId, { username: 'eve', ...request() }),
  'credential.setPassword with the request': () =>
    app.auth.credential.setPassword({ userId: scene.userId, newPassword: NEW, ...request() }),
};
interface OfSession {
  readonly userId: string;
  readonly sessionId: string;
}
function ofSession(calls: Record<string, (of: OfSession) => Promise<unknown>>) {
  return Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      () => call({ userId: scene.userId, sessionId: scene.sessionId }),
    ]),
  );
}
const request = () => ({ request: { headers: { cookie: scene.cookie }, method: 'POST' } });

describe('calls from code', () => {
  test.each(Object.keys(CALLS))('auth.%s throws', async (name) => {
    const before = await rows(app.database, 'SELECT * FROM users ORDER BY id');
    await expect(CALLS[name]?.()).rejects.toMatchObject({ code: 'acting_session' });
    expect(await rows(app.database, 'SELECT * FROM users ORDER BY id')).toEqual(before);
    await app.http.get('/auth/me').set({ cookie: scene.cookie }).expect(200);
  });

  test('only these need no session, and ignore that of the request', () => {
    const lib = fileURLToPath(new URL('../../lib', import.meta.url));
    const files = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const sources = files.map((file) => readFileSync(join(lib, file), 'utf8')).join('\n');
    const names = [...sources.matchAll(/callByAnyone\(\s*(?:'auth\.([\w.]+)'|call,)/g)].map(
      ([, name]) => name,
    );
    expect(names.map((name) => name ?? 'oauth.authorizeUrl and others').sort()).toEqual([
      'admin.createUser',
      'completeSignIn',
      'createSession',
      'credential.requestPasswordReset',
      'credential.resetPassword',
      'credential.signIn',
      'credential.signUp',
      'credential.verifyEmail',
      'emailSignIn.confirm',
      'emailSignIn.request',
      'oauth.authorizeUrl and others',
      'oauth.callback',
      'passkeys.signIn',
      'passkeys.signInOptions',
      'sendSignInCode',
      'twoFactor.options',
      'undoChange',
      'users.create',
      'users.ensure',
    ]);
  });

  test('a sign-in with the request ends it', async () => {
    await app.auth.createSession(scene.adminId, request());
    expectProblem(await app.http.get('/auth/me').set({ cookie: scene.cookie }), 401, 'invalid_session');
  });
});

describe('pages', () => {
  const HTML = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const open = (path: string) => app.http.get(path).set({ ...HTML, cookie: scene.cookie });

  test('every page of the account is closed, and has the button that stops', async () => {
    const closed = pagesIn(app.auth).filter(({ access }) => access !== 'anyone');
    expect(closed.length).toBeGreaterThan(5);
    for (const { path } of closed) {
      const answer = await open(`/auth${path.replace(/:\w+/g, scene.userId)}`);
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.text).toContain('action="/auth/sign-out/confirm"');
    }
  });

  test('the button leads to the sign-in, and from there to the page of the user', async () => {
    const back = `/auth/administration/users/${scene.userId}`;
    const { text } = await open('/auth/account');
    expect(text).toContain(`<input type="hidden" name="return_to" value="${back}">`);
    const stopped = await app.http
      .post('/auth/sign-out/confirm')
      .set({ ...HTML, cookie: scene.cookie, origin: 'http://app.example.com' })
      .type('form')
      .send({ return_to: back })
      .expect(303);
    expect(stopped.headers.location).toBe(
      `/auth/sign-in?done=signed-out&return_to=${encodeURIComponent(back)}`,
    );
    expectProblem(await app.http.get('/auth/me').set({ cookie: scene.cookie }), 401, 'invalid_session');
  });

  test('the page that signs out stops it too, and leads to the same page', async () => {
    const back = `/auth/administration/users/${scene.userId}`;
    const led = await open('/auth/sign-out');
    expect([led.status, led.headers.location]).toEqual([
      303,
      `/auth/sign-out?return_to=${encodeURIComponent(back)}`,
    ]);
    const { text } = await open(`${led.headers.location}`);
    expect(text).toContain(`<input type="hidden" name="return_to" value="${back}">`);
    expect(text).toContain('ada@example.com');
  });

  test('the pages before a sign-in ignore it', async () => {
    const { status, text } = await open('/auth/sign-in');
    expect([status, text.includes('ada@example.com')]).toEqual([200, false]);
  });

  test('the page of a user starts it', async () => {
    const { token } = await app.auth.createSession(scene.adminId);
    const own = { ...HTML, cookie: `latchkey=${token}`, origin: 'http://app.example.com' };
    const page = `/auth/administration/users/${scene.userId}`;
    const shown = await app.http.get(page).set(own).expect(200);
    expect(shown.text).toContain(`action="${page}/act"`);
    const started = await app.http.post(`${page}/act`).set(own).type('form').send({ reason: 'ticket 8' });
    expect([started.status, started.headers.location]).toEqual([303, '/']);
    const { body } = await app.http
      .get('/auth/me')
      .set({ cookie: cookieIn(started) })
      .expect(200);
    expect(body).toMatchObject({ user: { id: scene.userId }, session: { acting: true } });
    const ownPage = `/auth/administration/users/${scene.adminId}`;
    const root = `latchkey=${(await app.auth.createSession(scene.adminId)).token}`;
    expect((await app.http.get(ownPage).set({ ...HTML, cookie: root })).text).not.toContain('/act"');
  });
});
