import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import { admin, auditLog, type MailMessage } from '../../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { dialect, rows } from '../../support/database.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';

const root = { email: 'root@example.com', password: 'a root of all admins' };
const plugins = [password({ username: true }), admin({ adminEmails: [root.email] }), auditLog()] as const;
const fields = {
  name: { type: 'string', maxLength: 20 },
  plan: { type: 'string', enum: ['free', 'pro'], default: 'free', input: 'none' },
  note: { type: 'string', input: 'none', output: 'admin' },
  rating: { type: 'integer', input: 'none', output: 'none' },
} as const;

const mail = mailbox();
const created: unknown[] = [];
const updated: unknown[] = [];
const events: { name: string; userId: string | null; adminId?: string | null }[] = [];
let app: SpecApp<typeof plugins>;
let browser: ReturnType<typeof request.agent>;
let rootId: string;

async function administrator({ auth, ...started }: Pick<SpecApp<typeof plugins>, 'auth' | 'browser'>) {
  const client = await signedIn(started, root);
  const { id } = (await client.get('/auth/me').expect(200)).body.user;
  await auth.markEmailVerified(id);
  return { client, id: id as string };
}

beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      baseUrl: 'http://app.example.com',
      email: { send: mail.send, invitationUrl: '/welcome' },
      user: { fields },
      hooks: {
        beforeCreateUser: (user: unknown) => void created.push(user),
        afterUpdateUser: (_user: unknown, changed: unknown) => void updated.push(changed),
      },
    } as never,
  });
  ({ client: browser, id: rootId } = await administrator(app));
  for (const name of [
    'user.created',
    'user.updated',
    'user.deleted',
    'admin.user_created',
    'admin.user_updated',
    'admin.user_deleted',
    'admin.session_revoked',
    'admin.password_reset_sent',
  ] as const)
    app.auth.on(name, ({ ip: _, userAgent: __, ...event }) => events.push({ name, ...event }));
});
afterAll(() => app.stop());

let people = 0;
const newEmail = () => `person-${people++}@example.com`;
const make = (body: object) => browser.post('/auth/admin/users').send(body);
const eventsOf = (userId: string) => events.filter((event) => event.userId === userId);
const invite = async (email: string): Promise<{ id: string; invitation: MailMessage }> => {
  let id = '';
  const invitation = await mail.mailOf(email.toLowerCase(), 'invitation', async () => {
    id = (await make({ email }).expect(201)).body.user.id;
  });
  return { id, invitation };
};
const reset = (token: string, new_password = 'a difference engine') =>
  app.http.post('/auth/passwords/reset').send({ token, new_password });
const signIn = (credential: string, typed = 'a difference engine') =>
  app.http.post('/auth/signin/credential').send({ credential, password: typed });
async function person() {
  const account = { email: newEmail(), password: ada.password };
  const client = await signedIn(app, account);
  const { user, session } = (await client.get('/auth/me').expect(200)).body;
  return { ...account, client, id: user.id as string, sessionId: session.id as string };
}

describe('POST /admin/users', () => {
  test('creates a user without a password, and mails a link with which they choose one', async () => {
    const email = newEmail();
    const { id, invitation } = await invite(email.toUpperCase());
    expect(invitation).toMatchObject({ to: email, user: { id, email } });
    expect(invitation.url).toBe(`http://app.example.com/welcome?token=${invitation.token}`);
    expectProblem(await signIn(email, ''), 422, 'validation_failed');
    expectProblem(await signIn(email), 401, 'invalid_credentials');

    await reset(invitation.token).expect(204);
    const { user } = (await signIn(email).expect(200)).body;
    expect(user).toMatchObject({ id, email_verified_at: expect.any(String) });
    expectProblem(await reset(invitation.token), 400, 'invalid_token');
    expect(eventsOf(id)).toEqual([
      { name: 'user.created', userId: id },
      { name: 'admin.user_created', userId: id, adminId: rootId },
    ]);
    expect(created.at(-1)).toMatchObject({ email, via: 'admin' });
  });

  test('the link works for 7 days, for nothing else, and until there is a password', async () => {
    const email = newEmail();
    const { id, invitation } = await invite(email);
    const [row] = await rows<{ expires_at: string | Date }>(
      app.database,
      'SELECT expires_at FROM one_time_tokens WHERE user_id = :id',
      { id },
    );
    const text = row?.expires_at;
    const end = text instanceof Date ? text : new Date(String(text).replace(' +00:00', 'Z'));
    const week = 7 * 24 * 3600 * 1000;
    expect(Math.abs(end.getTime() - Date.now() - week)).toBeLessThan(60_000);
    expectProblem(
      await app.http.post('/auth/verify-email').send({ token: invitation.token, password: 'x' }),
      400,
      'invalid_token',
    );
    const later = await mail.mailOf(email, 'reset-password', () =>
      app.http.post('/auth/passwords/request-reset').send({ email }).expect(202),
    );
    await reset(later.token).expect(204);
    expectProblem(await reset(invitation.token), 400, 'invalid_token');
  });

  test('takes fields that users cannot set, and answers those that only administrators see', async () => {
    const { body } = await make({ email: newEmail(), name: 'Ada', plan: 'pro', note: 'of note', rating: 5 });
    expect(body.user).toMatchObject({ name: 'Ada', plan: 'pro', note: 'of note' });
    expect(Object.keys(body.user)).not.toContain('rating');
    const [row] = await rows(app.database, 'SELECT rating FROM users WHERE id = :id', { id: body.user.id });
    expect(row).toEqual({ rating: 5 });
    const { user } = (await browser.get(`/auth/admin/users/${body.user.id}`).expect(200)).body;
    expect(user).toEqual(body.user);
    const { users } = (await browser.get(`/auth/admin/users?search=${body.user.email}`).expect(200)).body;
    expect(users).toEqual([body.user]);
  });

  test('takes a username without an email, and sends nothing then', async () => {
    const { body } = await make({ username: 'Grace_Hopper' }).expect(201);
    expect(body.user).toMatchObject({ email: null, username: 'grace_hopper' });
    // A mail to this user would have been sent before this one.
    await invite(newEmail());
    expect(mail.mails.filter(({ user }) => user?.id === body.user.id)).toEqual([]);
    expectProblem(await make({ username: 'grace_hopper' }), 409, 'username_taken');
  });

  test.each([
    [{}, '/email', 'required'],
    [{ email: 'no address' }, '/email', 'invalid_email'],
    [{ email: null }, '/email', 'wrong_type'],
    [{ email: { $ne: '' } }, '/email', 'wrong_type'],
    [{ username: 'a@b' }, '/username', 'invalid_username'],
    [{ email: 'x@example.com', plan: 'gold' }, '/plan', 'invalid'],
    [{ email: 'x@example.com', password: 'an analytical engine' }, '/password', 'unknown_key'],
    [{ email: 'x@example.com', id: 'x' }, '/id', 'unknown_key'],
    [{ email: 'x@example.com', auth_epoch: 5 }, '/auth_epoch', 'unknown_key'],
    [
      { email: 'x@example.com', email_verified_at: '2020-01-01T00:00:00Z' },
      '/email_verified_at',
      'unknown_key',
    ],
    [{ email: 'x@example.com', constructor: 'x' }, '/constructor', 'unknown_key'],
  ])('refuses %j, and makes nobody', async (body, pointer, code) => {
    const count = () => rows(app.database, 'SELECT COUNT(*) AS n FROM users');
    const before = await count();
    const { errors } = expectProblem(await make(body), 422, 'validation_failed');
    expect(errors).toEqual([{ pointer, code, detail: expect.any(String) }]);
    expect(await count()).toEqual(before);
  });

  test('refuses a taken email', async () => {
    expectProblem(await make({ email: root.email }), 409, 'email_taken');
  });

  test('16 equal ones at once make one user', async () => {
    const email = newEmail();
    const answers = await Promise.all(Array.from({ length: 16 }, () => make({ email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(15).fill(409)]);
  });
});

describe('PATCH /admin/users/:id', () => {
  const patch = (id: string, body: object) => browser.patch(`/auth/admin/users/${id}`).send(body);

  test('changes fields and the username', async () => {
    const { id, client } = await person();
    const { body } = await patch(id, { plan: 'pro', note: 'late payer', username: `User_${people}` }).expect(
      200,
    );
    expect(body.user).toMatchObject({ id, plan: 'pro', note: 'late payer', username: `user_${people}` });
    const me = (await client.get('/auth/me').expect(200)).body.user;
    expect(me).toMatchObject({ plan: 'pro', username: `user_${people}` });
    expect(Object.keys(me)).not.toContain('note');
    const changed = ['username', 'plan', 'note'];
    expect([...(updated.at(-1) as string[])].sort()).toEqual([...changed].sort());
    expect(eventsOf(id).slice(-2)).toEqual([
      { name: 'user.updated', userId: id, changed: expect.arrayContaining(changed) },
      { name: 'admin.user_updated', userId: id, adminId: rootId },
    ]);
    const seen = eventsOf(id).length;
    await patch(id, { plan: 'pro' }).expect(200);
    await patch(id, {}).expect(200);
    expect(eventsOf(id)).toHaveLength(seen);
  });

  test('refuses what is not for it, and changes nothing then', async () => {
    const [one, other] = [await person(), await person()];
    await patch(other.id, { username: 'taken_name' }).expect(200);
    expectProblem(await patch(one.id, { username: 'taken_name', plan: 'pro' }), 409, 'username_taken');
    for (const [body, pointer] of [
      [{ email: 'other@example.com' }, '/email'],
      [{ password: 'an analytical engine' }, '/password'],
      [{ email_verified_at: null }, '/email_verified_at'],
      [{ plan: 'gold' }, '/plan'],
      [{ plan: ['pro'] }, '/plan'],
      [{ username: 'x' }, '/username'],
      [{ username: null }, '/username'],
    ] as const) {
      const { errors } = expectProblem(await patch(one.id, { note: 'x', ...body }), 422, 'validation_failed');
      expect(errors?.map((error) => error.pointer)).toEqual([pointer]);
    }
    const { user } = (await browser.get(`/auth/admin/users/${one.id}`)).body;
    expect(user).toMatchObject({ email: one.email, username: null, plan: 'free', note: null });
    for (const id of ['x', '01900000-0000-7000-8000-000000000000'])
      expectProblem(await patch(id, { plan: 'pro' }), 404, 'user_not_found');
  });
});

describe('DELETE /admin/users/:id', () => {
  const remove = (id: string) => browser.delete(`/auth/admin/users/${id}`);

  test('deletes the user and their sessions', async () => {
    const { id, client, email } = await person();
    await remove(id).expect(204);
    expectProblem(await client.get('/auth/me'), 401, 'invalid_session');
    expectProblem(await signIn(email, ada.password), 401, 'invalid_credentials');
    expectProblem(await remove(id), 404, 'user_not_found');
    expect(eventsOf(id).slice(-2)).toEqual([
      { name: 'user.deleted', userId: id },
      { name: 'admin.user_deleted', userId: id, adminId: rootId },
    ]);
  });

  test('refuses oneself', async () => {
    expectProblem(await remove(rootId), 409, 'own_account');
    await browser.get('/auth/me').expect(200);
  });

  test('requires a recent sign-in', async () => {
    const { id } = await person();
    const at = async (time: Date) =>
      rows(app.database, 'UPDATE sessions SET authenticated_at = :time WHERE user_id = :rootId', {
        time,
        rootId,
      });
    await at(new Date(Date.now() - 11 * 60_000));
    expectProblem(await remove(id), 403, 'reauthentication_required');
    await at(new Date());
    await remove(id).expect(204);
  });

  test('refuses a user to whom a row of the app refers, and deletes nothing', async () => {
    const { id, client } = await person();
    const type = {
      mysql: 'CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
      postgres: 'UUID',
      sqlite: 'CHAR(36)',
    }[dialect];
    await rows(
      app.database,
      `CREATE TABLE invoices (user_id ${type} NOT NULL, FOREIGN KEY (user_id) REFERENCES users (id))`,
    );
    await rows(app.database, 'INSERT INTO invoices (user_id) VALUES (:id)', { id });
    expectProblem(await remove(id), 409, 'account_in_use');
    await client.get('/auth/me').expect(200);
    await rows(app.database, 'DROP TABLE invoices');
    await remove(id).expect(204);
  });
});

describe('POST /admin/users/:id/send-password-reset', () => {
  const send = (id: string) => browser.post(`/auth/admin/users/${id}/send-password-reset`);

  test('mails a reset link; the password stays until it is used', async () => {
    const { id, email } = await person();
    const { token } = await mail.mailOf(email, 'reset-password', () => send(id).expect(202));
    await signIn(email, ada.password).expect(200);
    await reset(token).expect(204);
    await signIn(email).expect(200);
    expect(eventsOf(id).at(-1)).toEqual({ name: 'admin.password_reset_sent', userId: id, adminId: rootId });
  });

  test('says if there is no address, or no such user', async () => {
    const { body } = await make({ username: 'without_email' }).expect(201);
    expectProblem(await send(body.user.id), 409, 'email_missing');
    for (const id of ['x', '01900000-0000-7000-8000-000000000000'])
      expectProblem(await send(id), 404, 'user_not_found');
  });
});

describe('the sessions of a user', () => {
  test('are listed, and can be ended one by one', async () => {
    const { id, client, sessionId, email } = await person();
    const second = (await signIn(email, ada.password).expect(200)).body.session;
    const list = async () =>
      (await browser.get(`/auth/admin/users/${id}/sessions`).expect(200)).body.sessions;
    const sessions = await list();
    expect(sessions.map((one: { id: string }) => one.id)).toEqual([second.id, sessionId]);
    expect(sessions[0]).toEqual({ ...second, last_active_at: expect.any(String) });

    const end = (session: string, of = id) => browser.delete(`/auth/admin/users/${of}/sessions/${session}`);
    await end(sessionId).expect(204);
    expectProblem(await client.get('/auth/me'), 401, 'invalid_session');
    expect(await list()).toHaveLength(1);
    for (const [session, of] of [
      [sessionId, id],
      ['x', id],
      [second.id, rootId],
      [second.id, 'x'],
    ] as const)
      expectProblem(await end(session, of), 404, 'session_not_found');
    expect(await list()).toHaveLength(1);
    expect(eventsOf(id).at(-1)).toEqual({
      name: 'admin.session_revoked',
      userId: id,
      sessionId,
      adminId: rootId,
    });
    for (const unknown of ['x', '01900000-0000-7000-8000-000000000000'])
      expectProblem(await browser.get(`/auth/admin/users/${unknown}/sessions`), 404, 'user_not_found');
  });
});

test('the audit log tells which administrator it was', async () => {
  const { body } = await make({ email: newEmail() }).expect(201);
  await settled(app.auth);
  const { events } = await app.auth.auditLog.listEvents({ userId: body.user.id, kind: 'admin.user_created' });
  expect(events[0]?.details.adminId).toBe(rootId);
});

test('the audit log forgets from where a deleted user was deleted, too', async () => {
  const { body } = await make({ email: newEmail() }).expect(201);
  const { id: userId } = body.user;
  await browser.delete(`/auth/admin/users/${userId}`).expect(204);
  await settled(app.auth);
  const { events } = await app.auth.auditLog.listEvents({ userId });
  expect(events.map(({ kind }) => kind)).toContain('admin.user_deleted');
  for (const { ipAddress, userAgent } of events) expect([ipAddress, userAgent]).toEqual([null, null]);
});

describe('in code', () => {
  test('does the same', async () => {
    const email = newEmail();
    const user = await app.auth.admin.createUser({ email, fields: { plan: 'pro' } });
    expect(user).toMatchObject({ email, plan: 'pro', note: null });
    expect(await app.auth.admin.updateUser(user.id, { fields: { note: 'x' } })).toMatchObject({ note: 'x' });
    await mail.mailOf(email, 'reset-password', () => app.auth.admin.sendPasswordReset(user.id));
    const { session } = await app.auth.createSession(user.id);
    expect((await app.auth.admin.listUserSessions(user.id)).map(({ id }) => id)).toEqual([session.id]);
    await app.auth.admin.revokeUserSession(user.id, session.id);
    await app.auth.admin.deleteUser(user.id);
    await expect(app.auth.admin.deleteUser(user.id)).rejects.toMatchObject({ code: 'user_not_found' });
    expect(new Set(eventsOf(user.id).map(({ adminId }) => adminId))).toEqual(new Set([undefined, null]));
  });
});

describe('with other options', () => {
  test('manageUsers: false takes away the routes that make, change or delete users', async () => {
    const options = { adminEmails: [root.email], manageUsers: false };
    const other = await startApp({ plugins: [password(), admin(options), auditLog()] as never });
    const { client, id } = await administrator(other as never);
    for (const response of [
      await client.post('/auth/admin/users').send({ email: 'x@example.com' }),
      await client.patch(`/auth/admin/users/${id}`).send({}),
      await client.delete(`/auth/admin/users/${id}`),
    ])
      expectProblem(response, 405, 'method_not_allowed');
    await client.get('/auth/admin/users').expect(200);
    await client.get(`/auth/admin/users/${id}/sessions`).expect(200);
    // And without mail, there is nothing to send.
    await client.post(`/auth/admin/users/${id}/send-password-reset`).expect(404);
    await other.stop();
  });

  test('signUp: closed does not keep administrators from making users, and hooks can refuse them', async () => {
    const refuse = (user: { via: string; email: string | null }) => {
      if (user.email === 'refused@example.com') throw new Error('as the app likes');
    };
    const other = await startApp({
      plugins,
      config: { signUp: 'closed', hooks: { beforeCreateUser: refuse } } as never,
    });
    const { id } = await other.auth.users.create({ ...root, emailVerified: true });
    const client = other.browser();
    await client.post('/auth/signin/credential').send({ credential: root.email, password: root.password });
    // Without `email` in the config, nothing is sent.
    await client.post('/auth/admin/users').send({ email: 'x@example.com' }).expect(201);
    await client.post('/auth/admin/users').send({ email: 'refused@example.com' }).expect(500);
    const { users } = await other.auth.admin.listUsers();
    expect(users.map(({ email }) => email).sort()).toEqual([root.email, 'x@example.com']);
    expect(users.some((user) => user.id === id)).toBe(true);
    await other.stop();
  });
});
