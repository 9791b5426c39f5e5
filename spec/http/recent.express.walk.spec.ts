import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import { internalsOf } from '../../lib/auth.js';
import type { Route } from '../../lib/http/route.js';
import { apiKeys, oauth, passkeys, requireAdmin } from '../../lib/index.js';
import { ada, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { expectProblem } from '../support/problem.js';
import { sendSlowly } from '../support/slow-request.js';

const plugins = [...everyPlugin(), fixedProvider()] as const;
const BASE_URL = 'http://app.example.com';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      baseUrl: BASE_URL,
      trustedOrigins: ['http://spa.example.com'],
      email: { send: () => undefined },
    },
  });
});
beforeEach(() => rows(app.database, 'DELETE FROM users'));
afterAll(() => app.stop());

const browserOf = async (userId: string, agoMs = 0) => {
  const { token } = await app.auth.createSession(userId, { authenticatedAt: new Date(Date.now() - agoMs) });
  const agent = request.agent(app.server);
  agent.set('Cookie', `latchkey=${token}`);
  return agent;
};
const person = async (password: string | null = ada.password) =>
  (await app.auth.users.create({ email: ada.email, emailVerified: true, username: 'ada', password })).id;
const administrator = async () =>
  (await app.auth.users.create({ email: 'root@example.com', emailVerified: true })).id;

/** What each route asks for that changes something for a session, or gives a provider's tokens or a flow to it. */
const ASKS: Readonly<Record<string, string>> = {
  'PUT /passwords': 'fresh',
  'PUT /two-factor/passkeys': 'fresh',
  'POST /passwords/set': 'fresh',
  'GET /oauth/:provider/link': 'fresh',
  'POST /two-factor/totp': 'fresh',
  'DELETE /two-factor/totp': 'fresh',
  'POST /two-factor/recovery-codes': 'fresh',
  'POST /passkeys/options': 'fresh',
  'GET /oauth/:provider/tokens': 'fresh 86400',
  'POST /oauth/:provider/tokens/refresh': 'fresh 86400',
  'DELETE /me': 'fresh-or-password',
  'POST /me/delete': 'fresh-or-password',
  'POST /me/export': 'fresh-or-password',
  'POST /email-changes': 'fresh-or-password',
  'POST /api-keys': 'fresh-or-password',
  'DELETE /passwords': 'fresh-or-password',
  'POST /passwords/delete': 'fresh-or-password',
  'DELETE /oauth/:provider/unlink': 'fresh-or-password',
  'POST /oauth/:provider/unlink': 'fresh-or-password',
  'DELETE /passkeys/:id': 'fresh-or-password',
  'DELETE /devices/:id': 'fresh-or-password',
  'POST /devices/:id/forget': 'fresh-or-password',
  'PATCH /organizations/:id/members/:userId': 'fresh-or-password',
  'POST /organizations/:id/members/:userId/set-role': 'fresh-or-password',
  'DELETE /organizations/:id/members/:userId': 'fresh-or-password',
  'POST /organizations/:id/members/:userId/remove': 'fresh-or-password',
  'POST /organizations/:id/invitations': 'fresh-or-password',
  'DELETE /organizations/:id': 'fresh',
  'POST /organizations/:id/delete': 'fresh',
  'PATCH /me': 'fresh-or-password username',
  'POST /me/update': 'fresh-or-password username',
  'POST /passwords/change': 'second-factor',
  'POST /passkeys': 'second-factor',
  'POST /two-factor/totp/confirm': 'second-factor',
  'DELETE /admin/users/:id': 'fresh 600',
  'POST /admin/users/:id/disable-second-factor': 'fresh 600',
  'PUT /admin/users/:id/roles': 'fresh 600',
  'POST /admin/users/:id/set-roles': 'fresh 600',
  'POST /admin/users/:id/act': 'fresh 600',
  'POST /admin/users': 'fresh 3600',
  'PATCH /admin/users/:id': 'fresh 3600',
  'POST /admin/users/:id/require-new-password': 'fresh 3600',
  'POST /admin/users/:id/send-password-reset': 'fresh 3600',
  'POST /admin/users/:id/reinstate': 'fresh 3600',
};
/** The other routes, and why they ask for nothing. */
const NOTHING: Readonly<Record<string, string>> = {
  'POST /signout': 'ends access',
  'DELETE /email-changes': 'ends a change that has not happened',
  'POST /email-changes/cancel': 'ends a change that has not happened',
  'POST /revoke-sessions': 'ends access: who defends an account must not be held up',
  'DELETE /sessions/:id': 'ends access',
  'DELETE /api-keys/:id': 'ends access',
  'DELETE /two-factor/trusted-devices': 'asks for more at the next sign-in',
  'POST /two-factor/trusted-devices/delete': 'asks for more at the next sign-in',
  'POST /admin/users/:id/suspend': 'ends access',
  'POST /admin/users/:id/revoke-sessions': 'ends access',
  'DELETE /admin/users/:id/sessions/:sessionId': 'ends access',
  'POST /reauthenticate': 'makes the session fresh',
  'POST /reauthenticate/options': 'makes the session fresh',
  'GET /oauth/:provider/reauthenticate': 'makes the session fresh',
  'POST /email-verifications': 'mails a link to the address that the account has',
  'PATCH /passkeys/:id': 'changes the name in a list',
  'POST /organizations': 'begins something of its own',
  'PATCH /organizations/:id': 'changes a name',
  'POST /organizations/:id/update': 'changes a name',
  'DELETE /organizations/:id/invitations/:invitationId': 'ends access',
  'POST /organizations/:id/invitations/:invitationId/revoke': 'ends access',
  'POST /invitations/accept': 'takes what the mailbox was sent',
};

const nameOf = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`;
const walked = () =>
  internalsOf(app.auth)
    .routes()
    .filter(
      ({ access, method, path }) =>
        access !== 'public' && (method !== 'get' || path.startsWith('/oauth/:provider/')),
    );

describe('every route that changes something', () => {
  const declared = ({ sensitive }: Route) => {
    if (!sensitive) return 'nothing';
    const more = 'within' in sensitive ? sensitive.within : 'only' in sensitive ? sensitive.only?.field : '';
    return `${sensitive.asks} ${more ?? ''}`.trim();
  };

  test('declares what it asks for, or has a reason to ask for nothing', () => {
    const found = Object.fromEntries(walked().map((route) => [nameOf(route), declared(route)]));
    const nothing = Object.fromEntries(Object.keys(NOTHING).map((name) => [name, 'nothing']));
    expect(found).toEqual({ ...ASKS, ...nothing });
  });

  test('and no other route asks for anything', () => {
    const others = internalsOf(app.auth)
      .routes()
      .filter((route) => !walked().includes(route));
    expect(others.filter(({ sensitive }) => sensitive).map(nameOf)).toEqual([]);
    expect(others.length).toBeGreaterThan(10);
  });
});

const ID = '00000000-0000-4000-8000-000000000000';
/** The requests that a password opens. Nothing is found by them, or done. */
const BY_PASSWORD = Object.entries(ASKS)
  .filter(([, asks]) => asks === 'fresh-or-password')
  .map(([name]) => name);
const bodies: Readonly<Record<string, object>> = {
  'POST /api-keys': { name: 'program' },
  'POST /email-changes': { new_email: 'new@example.com' },
  'PATCH /organizations/:id/members/:userId': { role: 'member' },
  'POST /organizations/:id/members/:userId/set-role': { role: 'member' },
  'POST /organizations/:id/invitations': { email: 'new@example.com', role: 'member' },
};
const send = (browser: ReturnType<typeof request.agent>, name: string, body: object) => {
  const [method = '', path = ''] = name.split(' ');
  const url = `/auth${path.replace(':provider', 'fixed').replace(/:\w+/g, ID)}`;
  const started = browser[method.toLowerCase() as 'post'](url);
  return (
    method === 'POST' && (!bodies[name] || name.endsWith('/set-role')) ? started.type('form') : started
  ).send({
    ...bodies[name],
    ...body,
  });
};
const codeOf = ({ body, headers }: request.Response) =>
  body.code ?? new URL(headers.location ?? '/', BASE_URL).searchParams.get('error');

describe.each(BY_PASSWORD)('%s', (name) => {
  test('takes the password in place of a recent sign-in, once', async () => {
    const browser = await browserOf(await person(), 11 * MINUTE);
    expect(codeOf(await send(browser, name, {}))).toBe('reauthentication_required');
    expect(codeOf(await send(browser, name, { password: 'wrong' }))).toBe('invalid_credentials');
    const opened = await send(browser, name, { password: ada.password });
    expect([
      null,
      undefined,
      'account_not_linked',
      'passkey_not_found',
      'device_not_found',
      'last_sign_in_method',
      'organization_not_found',
    ]).toContain(codeOf(opened));
    if (name.includes('/me')) return;
    expect(codeOf(await send(browser, name, {}))).toBe('reauthentication_required');
  });

  test('asks an account without a password for a recent sign-in', async () => {
    const id = await person(null);
    const old = await browserOf(id, 11 * MINUTE);
    expect(codeOf(await send(old, name, { password: ada.password }))).toBe('invalid_credentials');
    expect(codeOf(await send(old, name, {}))).toBe('reauthentication_required');
    expect(codeOf(await send(await browserOf(id, 9 * MINUTE), name, {}))).not.toBe(
      'reauthentication_required',
    );
  });
});

test('an administrator changes their own username as any user does', async () => {
  const id = await administrator();
  const change = async (agoMs: number, of: string) =>
    (await browserOf(id, agoMs)).patch(`/auth/admin/users/${of}`).send({ username: `name-${agoMs}` });
  const other = await person();
  await change(11 * MINUTE, other).then(({ status }) => expect(status).toBe(200));
  expectProblem(await change(11 * MINUTE, id), 403, 'reauthentication_required');
  await change(9 * MINUTE, id).then(({ status }) => expect(status).toBe(200));
});

describe('a stolen session of long ago', () => {
  test('does not take over an account without a password', async () => {
    const id = await person(null);
    const thief = await browserOf(id, 20 * HOUR);
    const planted = { new_password: 'planted by a thief' };
    expectProblem(await thief.put('/auth/passwords').send(planted), 403, 'reauthentication_required');
    const reauthenticated = await thief.post('/auth/reauthenticate').send({ password: planted.new_password });
    expectProblem(reauthenticated, 401, 'invalid_credentials');
    expectProblem(await thief.get('/auth/oauth/fixed/link'), 403, 'reauthentication_required');
    expectProblem(
      await thief.post('/auth/email-changes').send({ new_email: 'thief@example.com' }),
      403,
      'reauthentication_required',
    );
    expect(await app.auth.apiKeys.list(id)).toEqual([]);
  });

  test('sets no password through code that names it', async () => {
    const userId = await person(null);
    const long = { authenticatedAt: new Date(Date.now() - 11 * MINUTE) };
    const [old, fresh] = [await app.auth.createSession(userId, long), await app.auth.createSession(userId)];
    const set = (sessionId: string) =>
      app.auth.credential.setPassword({ userId, sessionId, newPassword: 'a difference engine' });
    await expect(set(old.session.id)).rejects.toMatchObject({ code: 'reauthentication_required' });
    await set(fresh.session.id);
  });

  test('ends other sessions, since who defends an account must not be held up', async () => {
    const id = await person();
    const browser = await browserOf(id, 20 * HOUR);
    await browser.post('/auth/revoke-sessions').expect(200);
  });
});

test('without passwords, the same routes ask for a recent sign-in and have no field for a password', async () => {
  const passwordless = await startApp({
    plugins: [oauth(), fixedProvider(), passkeys(), apiKeys()] as const,
    config: { baseUrl: BASE_URL },
  });
  const { id } = await passwordless.auth.users.create({ email: ada.email });
  const sendAs = async (agoMs: number, name: string, body: object | undefined) => {
    const authenticatedAt = new Date(Date.now() - agoMs);
    const { token } = await passwordless.auth.createSession(id, { authenticatedAt });
    const [method = '', path = ''] = name.split(' ');
    const started = passwordless.http[method as 'delete'](`/auth${path}`).set('cookie', `latchkey=${token}`);
    return codeOf(body ? await started.send(body) : await started);
  };
  for (const [name, code] of [
    ['delete /oauth/fixed/unlink', 'account_not_linked'],
    [`delete /passkeys/${ID}`, 'passkey_not_found'],
    ['delete /me', null],
  ] as const) {
    expect(await sendAs(11 * MINUTE, name, undefined)).toBe('reauthentication_required');
    expect(await sendAs(0, name, { password: 'x' })).toBe('validation_failed');
    expect(await sendAs(0, name, undefined)).toBe(code);
  }
  await passwordless.stop();
});

describe('PATCH /me', () => {
  test('does not change a username that was the present one when the request began', async () => {
    const id = await person();
    const { token } = await app.auth.createSession(id, { authenticatedAt: new Date(0) });
    const change = { method: 'PATCH', path: '/auth/me', token, body: { username: 'ada' } };
    const { status } = await sendSlowly(app, change, () =>
      app.auth.users.update(id, { username: 'lovelace' }),
    );
    expect(status).toBe(200);
    expect((await app.auth.users.get(id))?.username).toBe('lovelace');
  });

  test('asks for a recent sign-in or the password for another username, and for nothing else', async () => {
    const browser = await browserOf(await person(), 11 * MINUTE);
    await browser.patch('/auth/me').send({ username: 'Ada' }).expect(200);
    expectProblem(
      await browser.patch('/auth/me').send({ username: 'eve' }),
      403,
      'reauthentication_required',
    );
    const renamed = await browser.patch('/auth/me').send({ username: 'lovelace', password: ada.password });
    expect([renamed.status, renamed.body.user.username]).toEqual([200, 'lovelace']);
  });

  test('checks a username that cannot be one, of an account with and without one', async () => {
    for (const username of ['ada', null]) {
      const id = await person();
      await app.auth.users.update(id, { username });
      const answer = await (await browserOf(id)).patch('/auth/me').send({ username: 'a b' });
      expectProblem(answer, 422, 'validation_failed');
      await rows(app.database, 'DELETE FROM users');
    }
  });

  test('takes a password only beside a username', async () => {
    const browser = await browserOf(await person());
    const answer = await browser.patch('/auth/me').send({ password: ada.password });
    expectProblem(answer, 422, 'validation_failed');
    expect(answer.body.errors).toMatchObject([{ pointer: '/password' }]);
  });
});

describe('GET /oauth/:provider/link', () => {
  const link = (browser: ReturnType<typeof request.agent>, query = '') =>
    browser.get(`/auth/oauth/fixed/link${query}`).redirects(0);

  test('leads a navigation back to its page', async () => {
    const browser = await browserOf(await person(), HOUR);
    const own = { accept: 'text/html', 'sec-fetch-site': 'same-origin' };
    const answer = await link(browser, '?callback_url=/account%3Ftab%3Dlinks').set(own);
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      '/account?tab=links&error=reauthentication_required',
    ]);
    const forged = link(browser, '?callback_url=/account').set({ ...own, 'sec-fetch-site': 'cross-site' });
    expectProblem(await forged, 403, 'origin_not_allowed');
    const elsewhere = await link(browser, '?callback_url=https://evil.example').set(own);
    expectProblem(elsewhere, 400, 'invalid_callback_url');
  });

  test.each([
    ['a page of the app', { 'sec-fetch-site': 'same-origin', accept: 'text/html' }, 302],
    ['a page of the app, in an old browser', { referer: `${BASE_URL}/account`, accept: 'text/html' }, 302],
    [
      'a fetch of a trusted origin',
      { 'sec-fetch-site': 'cross-site', origin: 'http://spa.example.com' },
      302,
    ],
    ['a program', {}, 302],
    ['a sibling subdomain', { 'sec-fetch-site': 'same-site', accept: 'text/html' }, 403],
    [
      'a sibling subdomain, in an old browser',
      { referer: 'http://blog.app.example.com/', accept: 'text/html' },
      403,
    ],
    [
      'another site that sends a visitor on who came from a page of the app',
      { 'sec-fetch-site': 'cross-site', referer: `${BASE_URL}/forum`, host: 'app.example.com' },
      403,
    ],
    [
      'the same, behind a proxy that changes the host',
      { 'sec-fetch-site': 'cross-site', referer: `${BASE_URL}/forum`, host: 'internal:3000' },
      403,
    ],
    ['an old browser that does not say', { accept: 'text/html' }, 403],
    ['the address bar', { 'sec-fetch-site': 'none', accept: 'text/html' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
  ])('starts from %s or not', async (_from, headers, status) => {
    const answer = await link(await browserOf(await person())).set(headers);
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.code).toBe('origin_not_allowed');
  });

  test('starts 20 times a minute, and a reauthentication is counted apart', async () => {
    const limited = await startApp({
      plugins,
      config: { baseUrl: BASE_URL, rateLimit: {}, email: { send: () => undefined } },
    });
    const { id } = await limited.auth.users.create({ email: ada.email, emailVerified: true });
    const { token } = await limited.auth.createSession(id);
    const get = (path: string) =>
      limited.http.get(`/auth/oauth/fixed/${path}`).set('cookie', `latchkey=${token}`);
    const statuses = [];
    for (let time = 0; time < 21; time++) statuses.push((await get('link')).status);
    expect(statuses).toEqual([...Array(20).fill(302), 429]);
    const navigation = { accept: 'text/html', 'sec-fetch-site': 'same-origin' };
    const answer = await get('link?callback_url=/account').set(navigation).expect(303);
    expect(answer.headers.location).toBe('/account?error=rate_limited');
    expect(await limited.auth.models.OAuthFlow.count()).toBe(20);
    expectProblem(await get('reauthenticate'), 404, 'account_not_linked');
    await limited.stop();
  });

  test('and GET authorize start for a single-page app of a trusted origin', async () => {
    const from = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', accept: 'application/json' };
    const authorize = (origin: string) =>
      app.http.get('/auth/oauth/fixed/authorize').set({ ...from, origin });
    await authorize('http://spa.example.com').expect(200);
    await authorize('http://evil.example.com').expect(403);
  });
});

test('the tokens of a provider are given within a day', async () => {
  const id = await person();
  const read = async (agoMs: number) =>
    codeOf(await (await browserOf(id, agoMs)).get('/auth/oauth/fixed/tokens'));
  expect(await read(23 * HOUR)).toBe('account_not_linked');
  expect(await read(25 * HOUR)).toBe('reauthentication_required');
});

describe('administrators', () => {
  test('change accounts within an hour, delete within ten minutes, and suspend at any time', async () => {
    const [id, rootId] = [await person(), await administrator()];
    const at = async (agoMs: number, work: (browser: ReturnType<typeof request.agent>) => request.Test) =>
      (await work(await browserOf(rootId, agoMs))).status;
    const user = `/auth/admin/users/${id}`;
    const rename = (name: string) => (one: ReturnType<typeof request.agent>) =>
      one.patch(user).send({ username: name });
    expect(await at(59 * MINUTE, rename('one'))).toBe(200);
    expect(await at(61 * MINUTE, rename('two'))).toBe(403);
    expect(await at(61 * MINUTE, (one) => one.post('/auth/admin/users').send({ username: 'x' }))).toBe(403);
    expect(await at(20 * HOUR, (one) => one.post(`${user}/suspend`).send({}))).toBe(200);
    expect(await at(61 * MINUTE, (one) => one.post(`${user}/reinstate`))).toBe(403);
    expect(await at(20 * HOUR, (one) => one.post(`${user}/revoke-sessions`))).toBe(200);
    expect(await at(11 * MINUTE, (one) => one.delete(user))).toBe(403);
    expect(await at(9 * MINUTE, (one) => one.delete(user))).toBe(204);
  });

  test('who have a second factor must have used it', async () => {
    const [id, rootId] = [await person(), await administrator()];
    await rows(app.database, 'UPDATE users SET second_factor_at = created_at WHERE id = :rootId', { rootId });
    const browser = await browserOf(rootId);
    const renamed = await browser.patch(`/auth/admin/users/${id}`).send({ username: 'one' });
    expectProblem(renamed, 403, 'second_factor_required');
    await browser.post(`/auth/admin/users/${id}/suspend`).send({}).expect(200);
  });

  test('need what the options say', async () => {
    const strict = await startApp({
      plugins: [...everyPlugin({ admin: { fresh: 60, aal: 2 } }), fixedProvider()],
      config: { baseUrl: BASE_URL },
    });
    const { id } = await strict.auth.users.create({ email: 'root@example.com', emailVerified: true });
    const as = async (agoMs: number, aal: number) => {
      const authenticatedAt = new Date(Date.now() - agoMs);
      const { token, session } = await strict.auth.createSession(id, { authenticatedAt });
      await strict.auth.models.Session.update({ aal }, { where: { id: session.id } });
      const made = strict.http.post('/auth/admin/users').set('cookie', `latchkey=${token}`);
      return codeOf(await made.send({ username: `user${agoMs}` }));
    };
    expect(await as(61_000, 2)).toBe('reauthentication_required');
    expect(await as(1_000, 1)).toBe('second_factor_required');
    expect(await as(2_000, 2)).toBeNull();
    await strict.stop();
  });

  test('are asked the same by the app’s own routes', async () => {
    const rootId = await administrator();
    const own = express().use(
      requireAdmin(app.auth, { freshWithin: 60 }),
      (_req, res) => void res.send('in'),
    );
    const as = async (agoMs: number) => {
      const { token } = await app.auth.createSession(rootId, {
        authenticatedAt: new Date(Date.now() - agoMs),
      });
      return request(own).get('/').set('cookie', `latchkey=${token}`);
    };
    expect((await as(50_000)).text).toBe('in');
    expectProblem(await as(61_000), 403, 'reauthentication_required');
    expect(() => requireAdmin(app.auth, { freshWithin: 0 })).toThrow(
      'freshWithin must be a number of seconds',
    );
  });
});
