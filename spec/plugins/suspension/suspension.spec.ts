import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import { type AuthEvents, admin, apiKeys, auditLog, createAuth, suspension } from '../../../lib/index.js';
import { password, SECRET, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { expectProblem } from '../../support/problem.js';

const root = { email: 'root@example.com', password: 'a root of all admins' };
const plugins = [
  password({ username: true }),
  admin({ adminEmails: [root.email] }),
  apiKeys(),
  auditLog(),
  suspension(),
] as const;

let app: SpecApp<typeof plugins>;
let browser: ReturnType<typeof request.agent>;
let rootId: string;
beforeAll(async () => {
  app = await startApp({ plugins });
  browser = await signedIn(app, root);
  rootId = (await browser.get('/auth/me').expect(200)).body.user.id;
  await app.auth.markEmailVerified(rootId);
});
afterAll(() => app.stop());

let people = 0;
/** A user of their own for each test. */
async function person() {
  const credentials = { email: `person-${people++}@example.com`, password: 'a person of no interest' };
  const client = await signedIn(app, credentials);
  const { id } = (await client.get('/auth/me').expect(200)).body.user;
  const signIn = () =>
    app.http
      .post('/auth/signin/credential')
      .send({ credential: credentials.email, password: credentials.password });
  return { ...credentials, id: id as string, client, signIn };
}

const suspend = (id: string, body: object = {}) => browser.post(`/auth/admin/users/${id}/suspend`).send(body);
const reinstate = (id: string) => browser.post(`/auth/admin/users/${id}/reinstate`);

/** Collects events until the function that it returns is called. */
function collect(...names: ('user.suspended' | 'user.reinstated' | 'session.revoked')[]) {
  const events: unknown[] = [];
  const offs = names.map((name) =>
    app.auth.on(name, ({ ip: _, userAgent: __, ...event }: AuthEvents[typeof name]) =>
      events.push({ name, ...event }),
    ),
  );
  return () => {
    for (const off of offs) off();
    return events;
  };
}

describe('POST /admin/users/:id/suspend', () => {
  test('ends all sessions and refuses the right password, until the user is reinstated', async () => {
    const ada = await person();
    const { body: second } = await ada.signIn().expect(200);
    const stop = collect('user.suspended', 'user.reinstated', 'session.revoked');
    const { body } = await suspend(ada.id, { reason: 'spam' }).expect(200);
    expect(body.user).toMatchObject({
      id: ada.id,
      email: ada.email,
      suspended_at: expect.stringMatching(/^\d{4}-.*Z$/),
      suspended_until: null,
      suspension_reason: 'spam',
    });

    expectProblem(await ada.client.get('/auth/me'), 401, 'invalid_session');
    const refused = await ada.signIn();
    expectProblem(refused, 403, 'account_suspended');
    expect(refused.headers['set-cookie']).toBeUndefined();
    expect(await rows(app.database, 'SELECT id FROM sessions WHERE user_id = :id', { id: ada.id })).toEqual(
      [],
    );

    const { body: after } = await reinstate(ada.id).expect(200);
    expect(after.user).toMatchObject({ suspended_at: null, suspended_until: null, suspension_reason: null });
    expectProblem(await ada.client.get('/auth/me'), 401, 'invalid_session');
    await ada.signIn().expect(200);

    const events = stop() as { name: string }[];
    const of = (name: string) => events.filter((event) => event.name === name);
    expect(of('user.suspended')).toEqual([{ name: 'user.suspended', userId: ada.id, adminId: rootId }]);
    expect(of('user.reinstated')).toEqual([{ name: 'user.reinstated', userId: ada.id, adminId: rootId }]);
    expect(of('session.revoked')).toHaveLength(2);
    expect(of('session.revoked')).toContainEqual({
      name: 'session.revoked',
      userId: ada.id,
      sessionId: second.session.id,
    });
  });

  test('does not show what a wrong password would be told: 401, as for any account', async () => {
    const ada = await person();
    await suspend(ada.id).expect(200);
    for (const credential of [ada.email, 'nobody@example.com'])
      expectProblem(
        await app.http.post('/auth/signin/credential').send({ credential, password: 'a wrong password' }),
        401,
        'invalid_credentials',
      );
  });

  test('ends by itself, without an event, when its time has come', async () => {
    const ada = await person();
    const until = new Date(Date.now() + 3_600_000);
    const { body } = await suspend(ada.id, { until: until.toISOString() }).expect(200);
    expect(body.user.suspended_until).toBe(until.toISOString());
    expectProblem(await ada.signIn(), 403, 'account_suspended');
    const stop = collect('user.suspended', 'user.reinstated');
    await app.auth.models.User.update({ suspendedUntil: new Date(Date.now() - 1) } as never, {
      where: { id: ada.id },
    });
    await ada.signIn().expect(200);
    await reinstate(ada.id).expect(200);
    expect(stop()).toEqual([]);
  });

  test('can be changed, which ends what has begun since', async () => {
    const ada = await person();
    await suspend(ada.id, { reason: 'first', until: '2999-01-01T00:00:00+01:00' }).expect(200);
    const { body } = await suspend(ada.id, { reason: null }).expect(200);
    expect(body.user).toMatchObject({ suspended_until: null, suspension_reason: null });
    expectProblem(await ada.signIn(), 403, 'account_suspended');
  });

  test('refuses oneself and unknown users', async () => {
    expectProblem(await suspend(rootId), 409, 'own_account');
    for (const id of ['x', '%00', '01900000-0000-7000-8000-000000000000'])
      for (const action of ['suspend', 'reinstate'])
        expectProblem(await browser.post(`/auth/admin/users/${id}/${action}`), 404, 'user_not_found');
    await browser.get('/auth/me').expect(200);
  });

  test.each([
    [{ reason: 'x'.repeat(256) }, '/reason'],
    [{ until: '2020-01-01T00:00:00Z' }, '/until'],
    [{ until: '9999-12-31T23:59:59Z' }, '/until'],
    [{ until: 'tomorrow' }, '/until'],
    [{ until: 4_000_000_000 }, '/until'],
    [{ suspended_at: '2999-01-01T00:00:00Z' }, '/suspended_at'],
  ])('refuses %j', async (body, pointer) => {
    const ada = await person();
    const { errors } = expectProblem(await suspend(ada.id, body), 422, 'validation_failed');
    expect(errors?.map((error) => error.pointer)).toEqual([pointer]);
    await ada.client.get('/auth/me').expect(200);
  });

  test('keeps 255 characters of a reason, whatever they are', async () => {
    const ada = await person();
    const reason = `${'ß'.repeat(252)}😀'`;
    const { body } = await suspend(ada.id, { reason }).expect(200);
    expect(body.user.suspension_reason).toBe(reason);
  });
});

describe('what others see of a suspension', () => {
  const columns = /suspen/;

  test('administrators see it in lists and of one user; the user never does', async () => {
    const ada = await person();
    await suspend(ada.id, { reason: 'a secret reason' }).expect(200);
    const listed = (await browser.get(`/auth/admin/users?search=${ada.email}`).expect(200)).body.users;
    const { user } = (await browser.get(`/auth/admin/users/${ada.id}`).expect(200)).body;
    for (const one of [...listed, user])
      expect(one).toMatchObject({ suspended_at: expect.any(String), suspension_reason: 'a secret reason' });
    expect((await app.auth.admin.getUser(ada.id)).suspensionReason).toBe('a secret reason');

    await reinstate(ada.id).expect(200);
    const back = await ada.signIn().expect(200);
    expect(back.text).not.toMatch(columns);
    const me = await app.http
      .get('/auth/me')
      .set('cookie', back.headers['set-cookie'] ?? '')
      .expect(200);
    expect(me.text).not.toMatch(columns);
    const { key } = await app.auth.apiKeys.create(ada.id, { name: 'program' });
    const program = await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
    expect(program.text).not.toMatch(columns);
    const { user: typed } = await app.auth.getSession({ headers: { 'x-service-api-key': key } });
    expect(Object.keys(typed).join()).not.toMatch(/suspen|epoch|hash/i);
  });

  test('the OpenAPI document has it for administrators only', () => {
    const { paths, components } = app.auth.openapi();
    expect(JSON.stringify(components.schemas.User)).not.toMatch(columns);
    for (const path of ['/admin/users/{id}/suspend', '/admin/users/{id}/reinstate'])
      expect(paths[path]?.post).toMatchObject({ responses: { 404: expect.anything() } });
    expect(JSON.stringify(components.schemas.PostAdminUsersByIdSuspendResponse)).toMatch(columns);
  });

  test('the OpenAPI document has the refusal where a person shows who they are', () => {
    const { paths } = app.auth.openapi();
    const refusals = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations as Record<string, { responses: Record<string, { description: string }> }>)
        .filter(([, { responses }]) => /account_suspended/.test(responses[403]?.description ?? ''))
        .map(([method]) => `${method} ${path}`),
    );
    expect(refusals).toEqual(
      expect.arrayContaining(['get /me', 'post /signin/credential', 'post /passwords/change']),
    );
    expect(refusals).not.toContain('post /signup/credential');
  });

  test('the audit log tells who did it', async () => {
    const ada = await person();
    await suspend(ada.id).expect(200);
    const { events } = await audited(ada.id, 'user.suspended');
    expect(events[0]).toMatchObject({ userId: ada.id, details: { adminId: rootId } });
  });

  async function audited(userId: string, kind: string) {
    const end = Date.now() + 5000;
    for (;;) {
      const page = await app.auth.auditLog.listEvents({ userId, kind });
      if (page.events.length > 0 || Date.now() > end) return page;
    }
  }
});

describe('API keys of a suspended user', () => {
  test('are refused once they have proved valid, in one statement, and work again afterwards', async () => {
    const ada = await person();
    const { key } = await app.auth.apiKeys.create(ada.id, { name: 'program' });
    const call = (sent = key) => app.http.get('/auth/me').set('x-service-api-key', sent);
    await call().expect(200);
    await suspend(ada.id).expect(200);
    expectProblem(await call(), 403, 'account_suspended');
    const wrong = `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`;
    expectProblem(await call(wrong), 401, 'invalid_api_key');
    await reinstate(ada.id).expect(200);
    await call().expect(200);
  });
});

describe('in code', () => {
  test('suspend and reinstate answer the user, with dates', async () => {
    const ada = await person();
    const until = new Date(Date.now() + 60_000);
    const suspended = await app.auth.suspension.suspend(ada.id, { reason: ' spam ', until });
    expect(suspended).toMatchObject({ id: ada.id, suspensionReason: 'spam', suspendedUntil: until });
    expect(suspended.suspendedAt?.getTime()).toBeGreaterThan(Date.now() - 60_000);
    expect(await app.auth.suspension.reinstate(ada.id)).toMatchObject({ suspendedAt: null });
    await ada.signIn().expect(200);
  });

  test.each([
    [{ until: new Date(Date.now() - 1000) }, 'invalid_end'],
    [{ until: new Date(Number.NaN) }, 'invalid_end'],
    [{ until: '2999-01-01' as never }, 'invalid_end'],
    [{ reason: { length: 3 } as never }, 'invalid_reason'],
    [{ reason: '\0' }, 'invalid_reason'],
  ])('refuses %j', async (options, code) => {
    const ada = await person();
    await expect(app.auth.suspension.suspend(ada.id, options)).rejects.toMatchObject({ errors: [{ code }] });
    await ada.signIn().expect(200);
  });

  // As docs/suspension.md promises, whichever part of latchkey the call belongs to.
  test('the app’s code can change the account of a suspended user', async () => {
    const { id, email } = await person();
    await app.auth.suspension.suspend(id);
    await app.auth.users.update(id, { username: `renamed-${people}` });
    await app.auth.users.changeEmail(id, `new-${email}`, { verified: true });
    await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = :id', { id });
    await app.auth.credential.setPassword({ userId: id, newPassword: 'words that code has chosen' });
    await app.auth.users.setPassword(id, 'words that code has chosen again');
    const { key } = await app.auth.apiKeys.create(id, { name: 'another' });
    const use = () => app.http.get('/auth/me').set('X-Service-API-Key', key);
    expectProblem(await use(), 403, 'account_suspended');
    await app.auth.suspension.reinstate(id);
    await use().expect(200);
    await app.auth.suspension.suspend(id);
    await app.auth.users.delete(id);
    expect(await app.auth.users.get(id)).toBeNull();
  });

  test('throws for an unknown user', async () => {
    for (const id of ['x', '01900000-0000-7000-8000-000000000000'])
      for (const action of ['suspend', 'reinstate'] as const)
        await expect(app.auth.suspension[action](id)).rejects.toMatchObject({ code: 'user_not_found' });
  });
});

test('nobody can suspend, or reinstate, by fields of other routes', async () => {
  const ada = await person();
  const values = { suspended_at: null, suspended_until: null, suspension_reason: 'mine', suspendedAt: null };
  for (const [name, value] of Object.entries(values)) {
    for (const response of [
      await ada.client.patch('/auth/me').send({ [name]: value }),
      await browser.patch(`/auth/admin/users/${ada.id}`).send({ [name]: value }),
      await browser.post('/auth/admin/users').send({ email: 'new@example.com', [name]: value }),
      await app.http
        .post('/auth/signup/credential')
        .send({ email: 'new@example.com', password: ada.password, [name]: value }),
    ])
      expect([name, response.status === 422 || response.status === 405]).toEqual([name, true]);
  }
});

test('a session that another process is serving is refused at its next request', async () => {
  const ada = await person();
  const other = createAuth({ database: app.database.url, secret: SECRET, plugins, rateLimit: false });
  const { token } = await other.createSession(ada.id);
  const request = { headers: { cookie: `latchkey=${token}` } };
  expect((await other.getSession(request)).user.id).toBe(ada.id);
  await app.auth.suspension.suspend(ada.id);
  await expect(other.getSession(request)).rejects.toMatchObject({ code: 'invalid_session' });
  await expect(other.createSession(ada.id)).rejects.toMatchObject({ code: 'account_suspended' });
  await other.close();
});

test('its migration can be undone and applied again', async () => {
  const columns = async () => {
    const table = await app.database.sequelize.getQueryInterface().describeTable('users');
    return Object.keys(table).filter((name) => name.startsWith('suspen'));
  };
  const all = ['suspended_at', 'suspended_until', 'suspension_reason'];
  expect((await columns()).sort()).toEqual(all);
  expect(await app.auth.migrate({ undo: 1 })).toEqual(['0001-suspension']);
  expect(await columns()).toEqual([]);
  expect(await app.auth.migrate()).toEqual(['0001-suspension']);
  expect((await columns()).sort()).toEqual(all);
});

test('suspension() without admin() is refused, with the mend', () => {
  const open = () => createAuth({ database: 'sqlite:x.db', secret: SECRET, plugins: [suspension()] });
  expect(open).toThrow('latchkey: suspension: add admin({ … }) to plugins');
});
