import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Test } from 'supertest';
import { type AuthWith, internalsOf } from '../../lib/auth.js';
import type { Route } from '../../lib/http/route.js';
import { ada, sessionCookie, signedIn } from '../support/app.js';
import { rows } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.js';
import { mailbox } from '../support/mailbox.js';
import { type Browser, linkWith, type OAuthApp, oidcPlugin, startOAuthApp } from '../support/oauth-app.js';
import { visitProvider } from '../support/oidc.js';
import { expectProblem } from '../support/problem.js';
import { codeOf, enroll, forgetSteps } from '../support/two-factor.js';

let provider: LyingProvider;
const pluginsOf = (at: LyingProvider) => [...everyPlugin(), oidcPlugin(at)] as const;

const mail = mailbox();
let app: OAuthApp & { readonly auth: AuthWith<ReturnType<typeof pluginsOf>> };
beforeAll(async () => {
  provider = await startLyingProvider();
  const config = {
    plugins: pluginsOf(provider),
    bearerEnabled: true,
    email: { send: mail.send },
    user: { fields: { nickname: { type: 'string' } } },
  };
  app = (await startOAuthApp({ host: 'localhost', providers: () => [], config: config as never })) as never;
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

/** Somebody with a second factor, in a browser of their own. */
async function somebody() {
  await rows(app.database, 'DELETE FROM users');
  const browser = await signedIn(app);
  const { user, session } = (await browser.get('/auth/me').expect(200)).body;
  await app.auth.markEmailVerified(user.id);
  const { secret } = await enroll(browser);
  await forgetSteps(app);
  return { browser, secret, userId: user.id as string, sessionId: session.id as string };
}
type Somebody = Awaited<ReturnType<typeof somebody>>;

const change = (id: string, values: object) => app.auth.models.Session.update(values, { where: { id } });
const LONG_AGO = () => new Date(Date.now() - 2 * 24 * 3_600_000);

/** How a session can be too weak, and what it is told then. */
const WEAK: readonly [string, (who: Somebody) => Promise<unknown>, string][] = [
  ['of one factor', ({ sessionId }) => change(sessionId, { aal: 1 }), 'second_factor_required'],
  [
    'whose second factor was shown two days ago',
    ({ sessionId }) => change(sessionId, { authenticatedAt: LONG_AGO() }),
    'reauthentication_required',
  ],
];

const OTHER_ID = '01900000-0000-7000-8000-000000000001';
/** A weak session is refused before the organization is looked up. */
const ORGANIZATION = `/auth/organizations/${OTHER_ID}`;

/** The requests that change ways in, each as it succeeds. */
const CHANGES: Readonly<Record<string, (browser: Browser, who: Somebody) => Test | Promise<Test>>> = {
  'GET /oauth/:provider/link': (browser) => browser.get('/auth/oauth/oidc/link').redirects(0),
  'GET /oauth/:provider/tokens': (browser) => browser.get('/auth/oauth/oidc/tokens'),
  'POST /oauth/:provider/tokens/refresh': (browser) => browser.post('/auth/oauth/oidc/tokens/refresh'),
  'DELETE /oauth/:provider/unlink': (browser) => browser.delete('/auth/oauth/oidc/unlink'),
  'POST /oauth/:provider/unlink': (browser) => browser.post('/auth/oauth/oidc/unlink').type('form'),
  'POST /passwords/change': (browser) =>
    browser
      .post('/auth/passwords/change')
      .send({ current_password: ada.password, new_password: 'a difference engine' }),
  'PUT /passwords': (browser) => browser.put('/auth/passwords').send({ new_password: 'a difference engine' }),
  'POST /passwords/set': (browser) =>
    browser.post('/auth/passwords/set').type('form').send({ new_password: 'a difference engine' }),
  'DELETE /passwords': (browser) => browser.delete('/auth/passwords'),
  'POST /passwords/delete': (browser) => browser.post('/auth/passwords/delete').type('form'),
  'POST /api-keys': (browser) => browser.post('/auth/api-keys').send({ name: 'program' }),
  'POST /email-changes': (browser) =>
    browser.post('/auth/email-changes').send({ new_email: 'new@example.com', password: ada.password }),
  'DELETE /me': (browser) => browser.delete('/auth/me').send({ password: ada.password }),
  'POST /me/delete': (browser) =>
    browser.post('/auth/me/delete').type('form').send({ password: ada.password }),
  'POST /me/export': (browser) => browser.post('/auth/me/export').send({ password: ada.password }),
  'POST /two-factor/totp': (browser) => browser.post('/auth/two-factor/totp'),
  'POST /two-factor/totp/confirm': (browser) =>
    browser.post('/auth/two-factor/totp/confirm').send({ code: '000000' }),
  'DELETE /two-factor/totp': (browser) => browser.delete('/auth/two-factor/totp'),
  'PUT /two-factor/passkeys': (browser) => browser.put('/auth/two-factor/passkeys').send({ on: true }),
  'POST /two-factor/recovery-codes': (browser) => browser.post('/auth/two-factor/recovery-codes'),
  'POST /passkeys/options': (browser) => browser.post('/auth/passkeys/options'),
  'POST /passkeys': (browser) => browser.post('/auth/passkeys').send({ response: {} }),
  'DELETE /passkeys/:id': (browser, { userId }) => browser.delete(`/auth/passkeys/${userId}`),
  'DELETE /devices/:id': (browser, { userId }) => browser.delete(`/auth/devices/${userId}`),
  'POST /devices/:id/forget': (browser, { userId }) =>
    browser.post(`/auth/devices/${userId}/forget`).type('form'),
  'DELETE /organizations/:id': (browser) => browser.delete(ORGANIZATION),
  'POST /organizations/:id/delete': (browser) => browser.post(`${ORGANIZATION}/delete`).type('form'),
  'PATCH /organizations/:id/members/:userId': (browser) =>
    browser.patch(`${ORGANIZATION}/members/${OTHER_ID}`).send({ role: 'member' }),
  'POST /organizations/:id/members/:userId/set-role': (browser) =>
    browser.post(`${ORGANIZATION}/members/${OTHER_ID}/set-role`).type('form').send({ role: 'member' }),
  'DELETE /organizations/:id/members/:userId': (browser) =>
    browser.delete(`${ORGANIZATION}/members/${OTHER_ID}`),
  'POST /organizations/:id/members/:userId/remove': (browser) =>
    browser.post(`${ORGANIZATION}/members/${OTHER_ID}/remove`).type('form'),
  'POST /organizations/:id/invitations': (browser) =>
    browser.post(`${ORGANIZATION}/invitations`).send({ email: 'bob@example.com', role: 'member' }),
};

/** The other routes that change something for a session, and why they need no second factor. */
const EXEMPT: Readonly<Record<string, string>> = {
  'POST /signout': 'ends access',
  'POST /revoke-sessions': 'ends access',
  'DELETE /sessions/:id': 'ends access',
  'DELETE /api-keys/:id': 'ends access',
  'DELETE /email-changes': 'keeps the email that the account has',
  'POST /email-changes/cancel': 'keeps the email that the account has',
  'DELETE /two-factor/trusted-devices': 'asks for it again',
  'POST /two-factor/trusted-devices/delete': 'asks for it again',
  'POST /reauthenticate': 'is how the second factor is shown',
  'POST /reauthenticate/options': 'is how the second factor is shown',
  'GET /oauth/:provider/reauthenticate': 'is how the second factor is shown, at a trusted provider',
  'POST /email-verifications': 'mails a link to the address that the account has',
  'POST /organizations': 'creates something that no other user has rights in',
  'PATCH /organizations/:id': 'changes the name and the slug',
  'POST /organizations/:id/update': 'changes the name and the slug',
  'DELETE /organizations/:id/invitations/:invitationId': 'ends access',
  'POST /organizations/:id/invitations/:invitationId/revoke': 'ends access',
  'POST /invitations/accept': 'requires the token in the email, and gives no rights in the account',
  'PATCH /passkeys/:id': 'changes the name in a list',
  'PATCH /me': 'demands it for a username only: see below',
  'POST /me/update': 'demands it for a username only: see below',
};

const nameOf = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`;
const routesOfUsers = () =>
  internalsOf(app.auth)
    .routes()
    .filter(
      ({ access, method, path }) =>
        access !== 'public' && access !== 'admin' && (method !== 'get' || path.includes('/:provider/')),
    );

describe('what changes the ways into an account', () => {
  test('is known of every route that changes something for a session', () => {
    const routes = routesOfUsers();
    const listed = [...Object.keys(CHANGES), ...Object.keys(EXEMPT)].sort();
    expect(routes.map(nameOf).sort()).toEqual(listed);
    const demanding = routes.filter(({ sensitive }) => sensitive && !('only' in sensitive)).map(nameOf);
    expect(demanding.sort()).toEqual(Object.keys(CHANGES).sort());
  });

  test('is documented with the problems that it causes', () => {
    const { paths } = app.auth.openapi() as never as {
      paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
    };
    for (const name of [...Object.keys(CHANGES), 'PATCH /me', 'POST /email-changes/confirm']) {
      const [method = '', path = ''] = name.split(' ');
      const operation = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      expect([name, operation?.responses[403]?.description]).toEqual([
        name,
        expect.stringMatching(/reauthentication_required.*second_factor_required/),
      ]);
    }
  });
});

describe.each(WEAK)('a session %s', (_how, weaken, code) => {
  let who: Somebody;
  beforeAll(async () => {
    who = await somebody();
    await weaken(who);
  });

  test.each(Object.entries(CHANGES))('is refused %s', async (name, request) => {
    const answer = await request(who.browser, who);
    if (answer.status === 303) expect(answer.headers.location).toBe(`/?error=${code}`);
    else if (!name.startsWith('POST /passwords/set') && !/^POST \/(oauth|me)/.test(name))
      expectProblem(answer, 403, code);
    else expect(answer.body.code).toBe(code);
  });

  test('changes its fields, but no username', async () => {
    await app.auth.users.update(who.userId, { username: 'present' });
    await who.browser.patch('/auth/me').send({ nickname: 'Ada', username: 'Present' }).expect(200);
    await app.auth.users.update(who.userId, { username: null });
    await who.browser.patch('/auth/me').send({ nickname: 'Ada' }).expect(200);
    expectProblem(await who.browser.patch('/auth/me').send({ username: 'countess' }), 403, code);
    const form = { username: 'countess', error_to: '/account' };
    const answer = await who.browser.post('/auth/me/update').type('form').send(form).expect(303);
    expect(answer.headers.location).toBe(`/account?error=${code}`);
    expect((await app.auth.users.get(who.userId))?.username).toBeNull();
  });

  test('is named in vain by code', async () => {
    const { userId, sessionId } = who;
    const { credential, apiKeys } = app.auth;
    const oauthApi = app.auth.oauth;
    const refused = { code };
    await expect(apiKeys.create(userId, { name: 'program', sessionId })).rejects.toMatchObject(refused);
    await expect(
      credential.changePassword({
        userId,
        sessionId,
        currentPassword: ada.password,
        newPassword: 'a difference engine',
      }),
    ).rejects.toMatchObject(refused);
    await expect(oauthApi.unlink(userId, 'oidc', { sessionId })).rejects.toMatchObject(refused);
    const [row] = await rows<{ password_hash: string }>(app.database, 'SELECT password_hash FROM users');
    await rows(app.database, 'UPDATE users SET password_hash = NULL');
    const set = { userId, sessionId, newPassword: 'a difference engine' };
    await expect(credential.setPassword(set)).rejects.toMatchObject(refused);
    await rows(app.database, 'UPDATE users SET password_hash = :hash', { hash: row?.password_hash });
    expect(await apiKeys.list(userId)).toEqual([]);
  });
});

describe('a session that has just shown the second factor', () => {
  let who: Somebody;
  beforeEach(async () => {
    who = await somebody();
  });

  test.each([
    ['POST /api-keys', 201],
    ['POST /passwords/change', 200],
    ['POST /email-changes', 202],
    ['DELETE /me', 204],
    ['GET /oauth/:provider/link', 302],
    ['POST /two-factor/recovery-codes', 200],
  ] as const)('is granted %s', async (name, status) => {
    expect((await CHANGES[name]?.(who.browser, who))?.status).toBe(status);
  });

  test('changes the username', async () => {
    await who.browser.patch('/auth/me').send({ username: 'countess' }).expect(200);
  });

  test('counts for its own account only', async () => {
    const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };
    const other = await signedIn(app, eve);
    const { user } = (await other.get('/auth/me')).body;
    const named = app.auth.apiKeys.create(user.id, { name: 'program', sessionId: who.sessionId });
    await expect(named).rejects.toMatchObject({ code: 'invalid_session' });
  });

  test('loses that between the request and the change, and the change is refused', async () => {
    // As with a request that has passed admission: code names the session, which was weakened since.
    await change(who.sessionId, { aal: 1 });
    const { userId, sessionId } = who;
    await expect(app.auth.apiKeys.create(userId, { name: 'x', sessionId })).rejects.toMatchObject({
      status: 403,
    });
    await app.auth.apiKeys.create(userId, { name: 'said by code' });
  });
});

test('an account without a second factor needs none', async () => {
  await rows(app.database, 'DELETE FROM users');
  const browser = await signedIn(app);
  await browser.post('/auth/api-keys').send({ name: 'program' }).expect(201);
  await browser.patch('/auth/me').send({ username: 'countess' }).expect(200);
});

describe('confirming a new email', () => {
  const NEW = 'new@example.com';
  let who: Somebody;
  let token: string;
  beforeEach(async () => {
    who = await somebody();
    const ask = () => who.browser.post('/auth/email-changes').send({ new_email: NEW }).expect(202);
    ({ token } = await mail.mailOf(NEW, 'verify-new-email', ask));
  });
  const confirm = (browser: Pick<Browser, 'post'>, body: object = {}) =>
    browser.post('/auth/email-changes/confirm').send({ token, ...body });
  const email = async () => (await app.auth.users.get(who.userId))?.email;

  test('takes a session that has just shown the second factor, which goes on', async () => {
    const answer = await confirm(who.browser).expect(200);
    expect(answer.body.session).toMatchObject({ aal: 2 });
    expect(await email()).toBe(NEW);
    await who.browser.post('/auth/api-keys').send({ name: 'program' }).expect(201);
  });

  test('takes no password in its place', async () => {
    expectProblem(await confirm(app.http, { password: ada.password }), 403, 'second_factor_required');
    expectProblem(await confirm(app.http, { password: 'not the password' }), 401, 'invalid_credentials');
    expect(await email()).toBe(ada.email);
    await confirm(who.browser).expect(200);
  });

  test.each(WEAK)('takes no session %s, with or without the password', async (_how, weaken, code) => {
    await weaken(who);
    expectProblem(await confirm(who.browser), 403, code);
    expectProblem(await confirm(who.browser, { password: ada.password }), 403, code);
    expect(await email()).toBe(ada.email);
  });
});

test('a link that was begun with the second factor needs it at the return as well', async () => {
  const who = await somebody();
  provider.lies.claims = { sub: 'ada at the provider' };
  const begun = await who.browser.get('/auth/oauth/oidc/link').query({ callback_url: '/linked' }).expect(302);
  const url = new URL(await visitProvider(begun.headers.location ?? ''));
  await change(who.sessionId, { aal: 1 });
  const answer = await who.browser.get(url.pathname + url.search).expect(303);
  expect(answer.headers.location).toBe('/linked?error=second_factor_required');
  expect(await app.auth.oauth.accounts(who.userId)).toEqual([]);
  await change(who.sessionId, { aal: 2 });
  expect((await linkWith(who.browser, 'oidc')).headers.location).toBe('/linked');
});

describe('auth.createSession() for an account with a second factor', () => {
  test('has aal 1 and is not fresh, so it changes nothing until the second factor is shown', async () => {
    const { userId, secret } = await somebody();
    const { token, session } = await app.auth.createSession(userId, { authenticatedAt: new Date() });
    expect([session.aal, session.amr, session.authenticatedAt.getTime()]).toEqual([1, [], 0]);
    const bearer = { authorization: `Bearer ${token}` };
    await app.http.get('/auth/me').set(bearer).expect(200);
    const answer = await app.http.post('/auth/api-keys').set(bearer).send({ name: 'program' });
    expectProblem(answer, 403, 'second_factor_required');
    const shown = await app.http
      .post('/auth/reauthenticate')
      .set(bearer)
      .send({ code: codeOf(secret) })
      .expect(204);
    const renewed = { authorization: `Bearer ${shown.headers['set-auth-token']}` };
    await app.http.post('/auth/api-keys').set(renewed).send({ name: 'program' }).expect(201);
    expect(sessionCookie(shown)?.value).toBe(shown.headers['set-auth-token']);
  });
});
