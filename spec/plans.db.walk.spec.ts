import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import { internalsOf } from '../lib/auth.js';
import { ada, type SpecApp, sessionCookie, startApp } from './support/app.js';
import { byUser } from './support/changes.js';
import { dialect } from './support/database.js';
import { everyPlugin } from './support/every-plugin.js';
import { fixedProvider } from './support/fixed-provider.js';
import { setLimits } from './support/limits.js';
import { mailbox } from './support/mailbox.js';
import { fillOrganizations, fillTables } from './support/many-rows.js';
import { analyze, foreignKeysWithoutIndex, planOf, recordingSequelize, tablesOf } from './support/plans.js';
import { settled } from './support/sessions.js';
import { straysOf } from './support/strays.js';
import { codeOf, forgetSteps } from './support/two-factor.js';

// Every statement that an app with many users sends: the database is asked how it would find its rows.
const root = { email: 'root@example.com', password: 'a root of all admins' };
const plugins = [...everyPlugin({ sendsEmails: true }), fixedProvider()] as const;
const mails = mailbox();

let app: SpecApp<typeof plugins>;
let sent: Set<string>;
let strays: string[];
let tables: string[];
let browser: ReturnType<typeof request.agent>;
let rootBrowser: ReturnType<typeof request.agent>;
let userId: string;

beforeAll(async () => {
  app = await startApp({
    plugins,
    async config(database) {
      const own = recordingSequelize(database);
      sent = own.sent;
      const baseUrl = 'http://app.example.com';
      const window = { limit: 1000, window: 60 };
      const rateLimit = { signIn: window, signUp: window, mail: window };
      return { database: own.sequelize, baseUrl, rateLimit, email: { send: mails.send } };
    },
  });
  setLimits(app.auth, { passwordChange: { limit: 1000, window: 60 } });
  strays = straysOf(app.auth);
  await fillTables(app.database);
  await fillOrganizations(app.database);
  await analyze(app.database);
  tables = await tablesOf(app.database);
  await app.auth.users.create({ ...root, emailVerified: true });
  rootBrowser = app.browser();
  await signIn(rootBrowser, root);
  browser = app.browser();
}, 120_000);
afterAll(() => app.stop());

/** Signs in, if need be with the code that is emailed. */
const signIn = async (client: ReturnType<typeof request.agent>, { email, password } = ada) => {
  const answer = await client
    .post('/auth/signin/credential')
    .send({ credential: email, password })
    .expect(200);
  if (!answer.body.second_factor?.methods.includes('email_code')) return answer;
  await client.post('/auth/signin/second-factor/send').send({}).expect(202);
  await settled(app.auth);
  const { code } = mails.mails.findLast(({ kind }) => kind === 'browser-code') ?? {};
  return client.post('/auth/signin/second-factor').send({ method: 'email_code', code }).expect(200);
};
const mailTo = async (kind: string, work: () => PromiseLike<unknown>, to = ada.email) =>
  (await mails.mailOf(to, kind, work)).token;
/** Signs in with the code that is emailed to an address, which may have no account yet. */
const signInByEmail = async (client: ReturnType<typeof request.agent>, email: string) => {
  const ask = () => client.post('/auth/signin/email').send({ email }).expect(202);
  const { code } = await mails.mailOf(email, 'sign-in-code', ask);
  await client.post('/auth/signin/email/confirm').send({ code }).expect(200);
};
const inviteToAcme = (email: string) =>
  mailTo(
    'organization-invitation',
    () => browser.post(`/auth/organizations/${acme}/invitations`).send({ email, role: 'member' }).expect(201),
    email,
  );
const as = () => rootBrowser;

/** What is called, by route. They run in this order. */
const ROUTES: Record<string, () => Promise<unknown>> = {
  'POST /signup/credential': () =>
    browser
      .post('/auth/signup/credential')
      .send({ ...ada, username: 'ada' })
      .expect(201),
  'POST /signin/credential': async () => {
    await signIn(browser);
    // In a known browser, with a username, and with a wrong password.
    await signIn(browser, { email: 'ada', password: ada.password });
    await browser.post('/auth/signin/credential').send({ credential: 'ada', password: 'wrong' }).expect(401);
    await app.http.post('/auth/signin/credential').send({ credential: 'nobody', password: 'x' }).expect(401);
    // Another account in the same browser.
    await app.auth.users.create({ email: 'other@example.com', password: ada.password });
    await signIn(browser, { ...ada, email: 'other@example.com' });
    await signIn(browser);
  },
  'GET /me': async () => {
    userId = (await browser.get('/auth/me').expect(200)).body.user.id;
    await app.auth.models.Session.update(
      { lastActiveAt: new Date(Date.now() - 3_600_000) },
      { where: { userId } },
    );
    await Promise.all([1, 2, 3].map(() => browser.get('/auth/me').expect(200)));
    await settled(app.auth);
  },
  'PATCH /me': () => browser.patch('/auth/me').send({ username: 'ada.l' }).expect(200),
  'POST /usernames/check': () =>
    browser.post('/auth/usernames/check').send({ username: 'grace' }).expect(200),
  'GET /sign-in-methods': () => browser.get('/auth/sign-in-methods').expect(200),
  'POST /email-verifications': () => browser.post('/auth/email-verifications').expect(202),
  'POST /verify-email': async () => {
    const token = await mailTo('verify-email', () => browser.post('/auth/email-verifications').expect(202));
    await browser.post('/auth/verify-email').send({ token, password: ada.password }).expect(200);
  },
  'GET /sessions': () => browser.get('/auth/sessions').expect(200),
  'DELETE /sessions/{id}': async () => {
    const { session } = (await signIn(app.browser())).body;
    await browser.delete(`/auth/sessions/${session.id}`).expect(204);
  },
  'POST /reauthenticate': () =>
    browser.post('/auth/reauthenticate').send({ password: ada.password }).expect(204),
  'POST /passwords/change': () =>
    browser
      .post('/auth/passwords/change')
      .send({ current_password: ada.password, new_password: `${ada.password}!` })
      .expect(200),
  'POST /passwords/request-reset': () =>
    mailTo('reset-code', () =>
      app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
    ),
  'POST /passwords/reset': async () => {
    const ask = () => browser.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202);
    const { code } = await mails.mailOf(ada.email, 'reset-code', ask);
    const wrong = { code: '0', new_password: ada.password };
    await browser.post('/auth/passwords/reset').send(wrong).expect(401);
    await browser.post('/auth/passwords/reset').send({ code, new_password: ada.password }).expect(204);
    await signIn(browser);
  },
  'POST /api-keys': () => browser.post('/auth/api-keys').send({ name: 'program' }).expect(201),
  'GET /api-keys': async () => {
    const { key } = await app.auth.apiKeys.create(userId, { name: 'another' });
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
    await settled(app.auth);
    await browser.get('/auth/api-keys').expect(200);
  },
  'DELETE /api-keys/{id}': async () => {
    const { api_keys } = (await browser.get('/auth/api-keys').expect(200)).body;
    await browser.delete(`/auth/api-keys/${api_keys[0].id}`).expect(204);
  },
  'POST /email-changes': () =>
    mailTo(
      'verify-new-email',
      () => browser.post('/auth/email-changes').send({ new_email: 'new@example.com' }).expect(202),
      'new@example.com',
    ),
  'DELETE /email-changes': () => browser.delete('/auth/email-changes').expect(204),
  'POST /email-changes/confirm': async () => {
    const email = 'newer@example.com';
    const changed = () => browser.post('/auth/email-changes').send({ new_email: email }).expect(202);
    const token = await mailTo('verify-new-email', changed, email);
    await browser.post('/auth/email-changes/confirm').send({ token }).expect(200);
    await app.auth.users.changeEmail(userId, ada.email, { verified: true });
    await signIn(browser);
  },
  'POST /signin/email': async () => {
    const client = app.browser();
    for (const email of ['absent@example.com', 'bare@example.com', 'bare@example.com'])
      await client.post('/auth/signin/email').send({ email }).expect(202);
  },
  'POST /signin/email/confirm': async () => {
    // An account that is made, then its later sign-ins; one whose mailbox is proven for the first time; a link elsewhere.
    await signInByEmail(app.browser(), 'bare@example.com');
    await signInByEmail(app.browser(), 'bare@example.com');
    const email = 'unproven@example.com';
    await app.auth.users.create({ email, password: ada.password });
    await signInByEmail(app.browser(), email);
    const ask = () => app.http.post('/auth/signin/email').send({ email }).expect(202);
    const { token } = await mails.mailOf(email, 'sign-in-code', ask);
    await app.browser().post('/auth/signin/email/confirm').send({ token }).expect(403);
  },
  'POST /reauthenticate/email': async () => {
    const client = app.browser();
    await signInByEmail(client, 'bare@example.com');
    const ask = () => client.post('/auth/reauthenticate/email').expect(202);
    const { code } = await mails.mailOf('bare@example.com', 'sign-in-code', ask);
    await client.post('/auth/reauthenticate').send({ email_code: code }).expect(204);
  },
  'POST /two-factor/totp': () => browser.post('/auth/two-factor/totp').expect(201),
  'POST /two-factor/totp/confirm': async () => {
    secret = (await browser.post('/auth/two-factor/totp').expect(201)).body.secret;
    await browser
      .post('/auth/two-factor/totp/confirm')
      .send({ code: codeOf(secret) })
      .expect(200);
    await forgetSteps(app);
  },
  'GET /two-factor': () => browser.get('/auth/two-factor').expect(200),
  'POST /signin/second-factor': async () => {
    await browser.post('/auth/signout').expect(204);
    await signIn(browser);
    const answer = await browser
      .post('/auth/signin/second-factor')
      .send({ method: 'totp', code: codeOf(secret), trust_device: true })
      .expect(200);
    device = `latchkey-device=${sessionCookie(answer, 'latchkey-device')?.value}`;
  },
  'DELETE /two-factor/trusted-devices': async () => {
    // In a browser that the user trusts.
    const trusted = app.http.post('/auth/signin/credential').set('cookie', device);
    await trusted.send({ credential: ada.email, password: ada.password }).expect(200);
    await browser.delete('/auth/two-factor/trusted-devices').expect(204);
  },
  'POST /two-factor/recovery-codes': () => browser.post('/auth/two-factor/recovery-codes').expect(200),
  'DELETE /two-factor/totp': () => browser.delete('/auth/two-factor/totp').expect(204),
  'GET /admin/users': async () => {
    const { next_cursor } = (await as().get('/auth/admin/users').expect(200)).body;
    await as().get(`/auth/admin/users?cursor=${next_cursor}`).expect(200);
    for (const search of ['b1', 'nobody-at-all', 'example.com', ada.email]) {
      await as().get(`/auth/admin/users?search=${search}`).expect(200);
      await as().get(`/auth/admin/users?search=${search}&cursor=${next_cursor}`).expect(200);
    }
  },
  'POST /admin/users': () => as().post('/auth/admin/users').send({ email: 'made@example.com' }).expect(201),
  'GET /admin/users/{id}': () => as().get(`/auth/admin/users/${userId}`).expect(200),
  'PATCH /admin/users/{id}': () =>
    as().patch(`/auth/admin/users/${userId}`).send({ username: 'lovelace' }).expect(200),
  'POST /admin/users/{id}/send-password-reset': () =>
    mailTo('reset-password', () => as().post(`/auth/admin/users/${userId}/send-password-reset`).expect(202)),
  'POST /admin/users/{id}/require-new-password': async () => {
    const { id } = await app.auth.users.create({ email: 'leaked@example.com', password: ada.password });
    await as().post(`/auth/admin/users/${id}/require-new-password`).expect(204);
    await app.http
      .post('/auth/signin/credential')
      .send({ credential: 'leaked@example.com', password: ada.password })
      .expect(200);
  },
  'GET /admin/users/{id}/sessions': () => as().get(`/auth/admin/users/${userId}/sessions`).expect(200),
  'DELETE /admin/users/{id}/sessions/{sessionId}': async () => {
    const { session } = (await signIn(app.browser())).body;
    await as().delete(`/auth/admin/users/${userId}/sessions/${session.id}`).expect(204);
  },
  'POST /admin/users/{id}/revoke-sessions': () =>
    as().post(`/auth/admin/users/${userId}/revoke-sessions`).expect(200),
  'PUT /admin/users/{id}/roles': () =>
    as().put(`/auth/admin/users/${userId}/roles`).send({ roles: [] }).expect(200),
  'POST /admin/users/{id}/act': async () => {
    const { id } = (await rootBrowser.get('/auth/me').expect(200)).body.user;
    const act = async () => {
      const { token } = await app.auth.createSession(id);
      const path = `/auth/admin/users/${userId}/act`;
      const answer = await app.http
        .post(path)
        .set('cookie', `latchkey=${token}`)
        .send({ reason: 'ticket 7' });
      expect(answer.status).toBe(200);
      return answer.body.session.id as string;
    };
    await app.auth.revokeSessionById(userId, await act());
    await act();
    const { core } = internalsOf(app.auth);
    await core.database.transaction((transaction) => core.sessions.endActing([id], transaction));
  },
  'POST /admin/users/{id}/suspend': () =>
    as().post(`/auth/admin/users/${userId}/suspend`).send({ reason: 'spam' }).expect(200),
  'POST /admin/users/{id}/reinstate': () => as().post(`/auth/admin/users/${userId}/reinstate`).expect(200),
  'POST /admin/users/{id}/disable-second-factor': () => app.auth.twoFactor.disable(userId),
  'GET /admin/events': async () => {
    const { next_cursor } = (await as().get('/auth/admin/events').expect(200)).body;
    for (const filter of ['', '&kind=sign_in.failed', `&user_id=${userId}`]) {
      await as().get(`/auth/admin/events?limit=5${filter}`).expect(200);
      await as().get(`/auth/admin/events?limit=5${filter}&cursor=${next_cursor}`).expect(200);
    }
  },
  'POST /signout': async () => {
    await signIn(browser);
    await browser.post('/auth/signout').expect(204);
  },
  'POST /revoke-sessions': async () => {
    await signIn(browser);
    await browser.post('/auth/revoke-sessions').expect(200);
  },
  'POST /undo-change': async () => {
    await signIn(browser);
    const token = await mailTo('password-changed', () =>
      byUser(app.auth, userId, (own) => app.auth.users.setPassword(userId, 'what nobody knows', own)),
    );
    const send = (path: string, body: object) =>
      app.http
        .post(`/auth/undo-change${path}`)
        .set('cookie', device)
        .send({ token, ...body });
    const { missing } = (await send('/lookup', {}).expect(200)).body;
    expect(missing).toEqual(['password']);
    await send('', { password: ada.password }).expect(200);
    await app.auth.users.setPassword(userId, ada.password);
    await signIn(browser);
    const { devices } = (await browser.get('/auth/devices').expect(200)).body;
    await browser.get('/auth/account-changes').expect(200);
    await browser.delete(`/auth/devices/${devices[0].id}`).expect(204);
  },
  'POST /me/export': () => browser.post('/auth/me/export').expect(200),
  'POST /organizations': async () => {
    await signIn(browser);
    const me = (await browser.get('/auth/me').expect(200)).body.user;
    await app.auth.markEmailVerified(me.id);
    const names = { name: 'Acme', slug: 'acme' };
    acme = (await browser.post('/auth/organizations').send(names).expect(201)).body.organization.id;
    const { id } = await app.auth.users.create({ email: 'colleague@example.com', emailVerified: true });
    await app.auth.organizations.addMember(acme, id, 'member');
    colleague = id;
  },
  'GET /organizations': () => browser.get('/auth/organizations?limit=1').expect(200),
  'PATCH /organizations/{id}': () =>
    browser.patch(`/auth/organizations/${acme}`).send({ name: 'Acme Ltd' }).expect(200),
  'GET /organizations/{id}/members': async () => {
    const { next_cursor } = (await browser.get(`/auth/organizations/${acme}/members?limit=1`).expect(200))
      .body;
    await browser.get(`/auth/organizations/${acme}/members?cursor=${next_cursor}`).expect(200);
  },
  'PATCH /organizations/{id}/members/{userId}': async () => {
    for (const role of ['owner', 'admin'])
      await browser.patch(`/auth/organizations/${acme}/members/${colleague}`).send({ role }).expect(200);
  },
  'POST /organizations/{id}/invitations': () => inviteToAcme('invited@example.com'),
  'GET /organizations/{id}/invitations': () =>
    browser.get(`/auth/organizations/${acme}/invitations?limit=1`).expect(200),
  'POST /invitations/lookup': async () => {
    const token = await inviteToAcme('invited@example.com');
    await app.http.post('/auth/invitations/lookup').send({ token }).expect(200);
  },
  'POST /invitations/accept': async () => {
    const token = await inviteToAcme('invited@example.com');
    await app.http.post('/auth/invitations/accept').send({ token, password: ada.password }).expect(200);
  },
  'DELETE /organizations/{id}/invitations/{invitationId}': async () => {
    await inviteToAcme('other-invited@example.com');
    const [invitation] = (await browser.get(`/auth/organizations/${acme}/invitations`).expect(200)).body
      .invitations;
    await browser.delete(`/auth/organizations/${acme}/invitations/${invitation.id}`).expect(204);
  },
  'DELETE /organizations/{id}/members/{userId}': () =>
    browser.delete(`/auth/organizations/${acme}/members/${colleague}`).expect(204),
  'DELETE /organizations/{id}': () => browser.delete(`/auth/organizations/${acme}`).expect(204),
  'DELETE /me': async () => {
    await signIn(browser);
    await browser.delete('/auth/me').expect(204);
  },
  'DELETE /admin/users/{id}': async () => {
    const { id } = await app.auth.users.create({ email: 'gone@example.com' });
    await as().delete(`/auth/admin/users/${id}`).expect(204);
  },
};
let acme: string;
let colleague: string;
let secret: string;
let device: string;

/** Operations without a route. */
const OPERATIONS: Record<string, () => Promise<unknown>> = {
  'movingIn.importUsers': () =>
    app.auth.movingIn.importUsers(
      Array.from({ length: 5 }, (_, index) => ({ email: `import${index}@example.com` })),
    ),
  'users.find': () => app.auth.users.find({ email: root.email }),
  revokeSession: async () => {
    const { id } = (await app.auth.users.find({ email: root.email }))!;
    await app.auth.revokeSession((await app.auth.createSession(id)).token);
  },
  'outbox.deliver': () => app.auth.outbox.deliver(),
  'outbox.list': () => app.auth.outbox.list({ state: 'waiting' }),
  'outbox.retry': () => app.auth.outbox.retry('01800000-0000-7000-8013-000000000000'),
  prune: async () => {
    expect(await app.auth.prune()).toBeGreaterThan(100);
  },
};

/** Routes that send what others send: the twins for forms, and what sets a first password. */
const ALIKE = [
  'POST /me/update',
  'POST /me/delete',
  'POST /organizations/{id}/update',
  'POST /organizations/{id}/delete',
  'POST /organizations/{id}/members/{userId}/set-role',
  'POST /organizations/{id}/members/{userId}/remove',
  'POST /organizations/{id}/invitations/{invitationId}/revoke',
  'POST /email-changes/cancel',
  'POST /admin/users/{id}/set-roles',
  'POST /devices/{id}/forget',
  'POST /two-factor/trusted-devices/delete',
  // Called with POST /undo-change.
  'POST /undo-change/lookup',
  'GET /devices',
  'DELETE /devices/{id}',
  'GET /account-changes',
  'POST /passwords/set',
  'PUT /passwords',
  'DELETE /passwords',
  'POST /passwords/delete',
  'GET /openapi.json',
  // Its lookup is in guards/require-member-plans.db.walk.spec.ts.
  'GET /organizations/{id}',
  // Called at the first sign-in.
  'POST /signin/second-factor/send',
];

/** The routes of providers and passkeys, which need a provider or an authenticator. Nothing looks at their plans yet. */
const NOT_WALKED = [
  'DELETE /oauth/{provider}/unlink',
  'DELETE /passkeys/{id}',
  'PUT /two-factor/passkeys',
  'GET /oauth/accounts',
  'GET /oauth/{provider}/authorize',
  'GET /oauth/{provider}/callback',
  'GET /oauth/{provider}/link',
  'GET /oauth/{provider}/reauthenticate',
  'GET /oauth/{provider}/tokens',
  'GET /passkeys',
  'PATCH /passkeys/{id}',
  'POST /oauth/{provider}/callback',
  'POST /oauth/{provider}/tokens/refresh',
  'POST /oauth/{provider}/unlink',
  'POST /passkeys',
  'POST /passkeys/options',
  'POST /reauthenticate/options',
  'POST /signin/passkey',
  'POST /signin/passkey/options',
  'POST /signin/second-factor/options',
  'POST /undo-change/options',
];

/** A walk along an index costs what it returns if it is in the order of the result, and ends at a limit. */
const isShortWalk = (sql: string, sorts: boolean) => /ORDER BY [\s\S]*LIMIT \d+/.test(sql) && !sorts;

/**
 * PostgreSQL reads a whole table for a search that it expects to find nothing, if the table is smaller than a step of the
 * search.
 */
const isStepOfSearch = (sql: string) => dialect === 'postgres' && sql.includes(' LIKE ');

/** Which statements read more rows than they need, and how. */
async function wasteful(statements: Iterable<string>): Promise<string[]> {
  const found: string[] = [];
  for (const whole of statements) {
    // MariaDB cannot explain SET STATEMENT.
    const sql = whole.replace(/^\/\*M!.*?\*\/ /, '');
    if (!/^\s*(SELECT|UPDATE|DELETE|WITH)\b/.test(sql)) continue;
    if (
      !tables.some((table) => new RegExp(`\\b${table}\\b`).test(sql)) ||
      /information_schema|sqlite_master|pragma_/.test(sql)
    )
      continue;
    const { accesses, sorts } = await planOf(app.database, sql);
    expect([sql, accesses.length]).not.toEqual([sql, 0]);
    for (const { table, by } of accesses) {
      if ((by === 'table' && !isStepOfSearch(sql)) || (by === 'index' && !isShortWalk(sql, sorts)))
        found.push(`${by} of ${table}: ${sql.slice(0, 700)}`);
    }
  }
  return found;
}

describe('the plans of the statements of', () => {
  const all = Object.entries({ ...ROUTES, ...OPERATIONS });
  test.each(all)(
    '%s read no table as a whole, and none is sent outside a transaction around it',
    async (_name, call) => {
      sent.clear();
      await call();
      await settled(app.auth);
      const statements = [...sent];
      expect(statements.length).toBeGreaterThan(0);
      expect(await wasteful(statements)).toEqual([]);
      expect(strays).toEqual([]);
    },
  );
});

test('every route is called here, sends what another one sends, or is named as not called', () => {
  const routes = Object.entries(app.auth.openapi().paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect([...Object.keys(ROUTES), ...ALIKE, ...NOT_WALKED].sort()).toEqual(routes.sort());
});

test('a statement without an index is noticed', async () => {
  expect(await wasteful(["SELECT s.id FROM sessions s WHERE s.ip_address = '192.0.2.1'"])).toHaveLength(1);
  expect(
    await wasteful(["SELECT s.id FROM sessions s WHERE s.ip_address = 'x' ORDER BY s.user_agent LIMIT 9"]),
  ).toHaveLength(1);
});

test('deleting a row reads no table as a whole for what refers to it', async () => {
  expect(await foreignKeysWithoutIndex(app.database)).toEqual([]);
});
