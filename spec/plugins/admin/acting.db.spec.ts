import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import { admin, apiKeys, auditLog, createAuth, suspension, twoFactor } from '../../../lib/index.js';
import { act, acting, cookieFor, ROOT, userWith } from '../../support/acting.js';
import {
  memoryLogger,
  password,
  SECRET as SECRET_OF_SPECS,
  type SpecApp,
  startApp,
} from '../../support/app.js';
import { rows } from '../../support/database.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';
import { HOUR, settled } from '../../support/sessions.js';

const OTHER_ROOT = 'other-root@example.com';
const ADA = 'ada@example.com';
const SECRET = 'a bird in a teapot';
const mail = mailbox();
const plugins = [
  password(),
  admin({ adminEmails: [ROOT, OTHER_ROOT], actAs: { minutes: 20 } }),
  apiKeys(),
  auditLog(),
  suspension(),
  twoFactor(),
] as const;

let app: SpecApp<typeof plugins>;
const events: { name: string; [detail: string]: unknown }[] = [];
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      baseUrl: 'http://app.example.com',
      bearerEnabled: true,
      session: { maxPerUser: 2 },
      email: { send: mail.send },
    },
  });
  for (const name of ['admin.acting_started', 'session.created', 'session.revoked'] as const)
    app.auth.on(name, (event) => void events.push({ name, ...event }));
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM sessions');
  await rows(app.database, 'DELETE FROM users');
  await settled(app.auth);
  events.length = 0;
  mail.mails.length = 0;
});
afterAll(() => app.stop());

const me = (cookie: string) => app.http.get('/auth/me').set({ cookie });
const stored = (userId: string) =>
  rows<{ id: string; actor_id: string | null }>(
    app.database,
    'SELECT id, actor_id FROM sessions WHERE user_id = :userId ORDER BY id',
    { userId },
  );
const named = (name: string) => events.filter((event) => event.name === name);

describe('an acting session', () => {
  test('replaces the session of the administrator in the browser', async () => {
    const { answer, adminId, userId, own, cookie, sessionId } = await acting(app);
    expect(answer.body).toEqual({
      user: expect.objectContaining({ id: userId, email: ADA }),
      session: {
        ...answer.body.session,
        user_id: userId,
        ip_address: null,
        user_agent: null,
        aal: 1,
        amr: [],
        acting: true,
      },
    });
    const cookies = [answer.headers['set-cookie']].flat();
    expect(cookies.map((line) => String(line).split('=')[0])).toEqual(['latchkey']);
    expect(cookies[0]).not.toMatch(/expires|max-age/i);
    expect(answer.headers['set-auth-token']).toBeUndefined();
    expectProblem(await me(own), 401, 'invalid_session');
    expect(await stored(adminId)).toEqual([]);
    expect(await stored(userId)).toEqual([{ id: sessionId, actor_id: adminId }]);
    const { body } = await me(cookie).expect(200);
    expect(body.session).toEqual({ ...answer.body.session, last_active_at: body.session.last_active_at });
    const minutes = (Date.parse(body.session.expires_at) - Date.parse(body.session.created_at)) / 60_000;
    expect(minutes).toBeCloseTo(20, 1);
    expect(await rows(app.database, 'SELECT authenticated_at, remembered FROM sessions')).toHaveLength(1);
  });

  test('is not a bearer token', async () => {
    const { token } = await acting(app);
    const answer = await app.http.get('/auth/me').set('authorization', `Bearer ${token}`);
    expectProblem(answer, 401, 'invalid_session');
  });

  test('reports its start and its end, and nothing of a sign-in', async () => {
    const { adminId, userId, sessionId, own: _, cookie, answer } = await acting(app);
    const [created] = named('session.created');
    expect(created).toMatchObject({ userId: adminId });
    await app.http.post('/auth/signout').set({ cookie }).expect(204);
    await settled(app.auth);
    expect(named('session.created')).toHaveLength(1);
    expect(named('admin.acting_started')).toEqual([
      expect.objectContaining({
        userId,
        adminId,
        sessionId,
        reason: 'ticket 7',
        expiresAt: new Date(answer.body.session.expires_at),
      }),
    ]);
    const [ofAdmin, ofActing] = named('session.revoked');
    expect(ofAdmin).toMatchObject({ userId: adminId });
    expect(ofAdmin).not.toHaveProperty('actorId');
    expect(ofActing).toMatchObject({ userId, sessionId, actorId: adminId });
    const { events: recorded } = await app.auth.auditLog.listEvents({ kind: 'admin.acting_started' });
    expect(recorded[0]?.details).toMatchObject({ adminId, reason: 'ticket 7' });
  });

  test('makes no browser known, and tells the user only that it has happened', async () => {
    const sent = await mail.mailOf(ADA, 'administrator-acted', () => acting(app));
    expect(sent.text).not.toMatch(/ticket 7|https?:|root@|127\.0\.0\.1/);
    expect(sent.text).toMatch(/\d{4}/);
    expect(mail.mails.filter(({ to }) => to === ADA)).toHaveLength(1);
    expect(await rows(app.database, 'SELECT id FROM known_devices')).toEqual([]);
    expect(await rows(app.database, 'SELECT id FROM recent_browsers')).toEqual([]);
  });

  test('does not count for maxPerUser', async () => {
    const { userId } = await acting(app);
    const own = [await cookieFor(app, userId), await cookieFor(app, userId)];
    await acting(app);
    for (const cookie of own) await me(cookie).expect(200);
    expect(await stored(userId)).toHaveLength(4);
  });

  test('is in the lists of the user and of administrators, and in no export', async () => {
    const { adminId, userId, sessionId } = await acting(app);
    const own = await cookieFor(app, userId);
    const { body: list } = await app.http.get('/auth/sessions').set({ cookie: own }).expect(200);
    const of = (all: { id: string }[]) => all.find(({ id }) => id === sessionId);
    expect(of(list.sessions)).toMatchObject({ acting: true, ip_address: null, user_agent: null });
    expect(JSON.stringify(list)).not.toContain(adminId);
    expect(list.sessions.filter((one: object) => 'acting' in one)).toHaveLength(1);
    const root = await cookieFor(app, adminId);
    const { body } = await app.http.get(`/auth/admin/users/${userId}/sessions`).set({ cookie: root });
    expect(of(body.sessions)).toMatchObject({ acting: true, actor_id: adminId });
    expect(body.sessions.filter((one: object) => 'actor_id' in one)).toHaveLength(1);
    await settled(app.auth);
    const exported = JSON.stringify(await app.auth.exportUser(userId));
    expect(exported).toContain(sessionId);
    expect(exported).not.toMatch(new RegExp(`${adminId}|ticket 7`));
    await app.http.delete(`/auth/sessions/${sessionId}`).set({ cookie: own }).expect(204);
  });

  test('ends after its minutes, whatever is requested', async () => {
    const { sessionId, cookie } = await acting(app);
    const expires = async () =>
      (await rows(app.database, 'SELECT expires_at FROM sessions WHERE id = :sessionId', { sessionId }))[0];
    const before = await expires();
    await rows(app.database, 'UPDATE sessions SET last_active_at = :at', { at: new Date(Date.now() - HOUR) });
    const answer = await me(cookie).expect(200);
    await settled(app.auth);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(await expires()).toEqual(before);
    await rows(app.database, 'UPDATE sessions SET expires_at = :at', { at: new Date(Date.now() - 1000) });
    expectProblem(await me(cookie), 401, 'invalid_session');
  });
});

describe('a call from code with the request of an acting session', () => {
  const JUNK = Array.from({ length: 4 }, (_, number) => `latchkey=junk${number}; `).join('');

  test.each(['', JUNK])('is rejected, with the cookies %p in front', async (junk) => {
    const { userId, cookie } = await acting(app);
    const request = { headers: { cookie: junk + cookie } };
    const create = () => app.auth.apiKeys.create(userId, { name: 'program', request });
    await expect(create()).rejects.toMatchObject({ code: 'acting_session' });
    await expect(app.auth.createSession(userId, { request })).rejects.toMatchObject({
      code: 'acting_session',
    });
  });

  test('a sign-in ends it, with junk in front of its cookie', async () => {
    const { cookie } = await acting(app);
    const id = await userWith(app, 'grace@example.com');
    await app.auth.users.setPassword(id, SECRET);
    const body = { credential: 'grace@example.com', password: SECRET };
    await app.http
      .post('/auth/signin/credential')
      .set({ cookie: JUNK + cookie })
      .send(body)
      .expect(200);
    expectProblem(await me(cookie), 401, 'invalid_session');
  });
});

describe('POST /admin/users/:id/act', () => {
  const start = async (userId: string, body?: object) =>
    act(app, await cookieFor(app, await userWith(app, ROOT)), userId, body);

  test('rejects targets as whom no one can act, and keeps the session of the administrator', async () => {
    const adminId = await userWith(app, ROOT);
    const cookie = await cookieFor(app, adminId);
    const suspended = await userWith(app, 'suspended@example.com');
    await app.auth.suspension.suspend(suspended);
    const targets: [string, number, string][] = [
      ['01890a5d-ac96-774b-bcce-b302099a8057', 404, 'user_not_found'],
      ['not-an-id', 404, 'user_not_found'],
      [adminId, 409, 'own_account'],
      [await userWith(app, OTHER_ROOT), 403, 'target_is_administrator'],
      [suspended, 403, 'account_suspended'],
    ];
    for (const [id, status, code] of targets) expectProblem(await act(app, cookie, id), status, code);
    await me(cookie).expect(200);
    expect(await rows(app.database, 'SELECT id FROM sessions WHERE actor_id IS NOT NULL')).toEqual([]);
    await settled(app.auth);
    expect(named('admin.acting_started')).toEqual([]);
  });

  test.each([
    ['none', {}],
    ['an empty one', { reason: '' }],
    ['one of spaces', { reason: '   ' }],
    ['an invisible one', { reason: '\u200b' }],
    ['one on two lines', { reason: 'a\nb' }],
    ['a long one', { reason: 'x'.repeat(256) }],
  ])('requires a reason: %s', async (_name, body) => {
    expectProblem(await start(await userWith(app, ADA), body), 422, 'validation_failed');
  });

  test('requires the cookie of an administrator who has signed in recently', async () => {
    const [adminId, userId] = [await userWith(app, ROOT), await userWith(app, ADA)];
    const send = (headers: Record<string, string>) =>
      app.http.post(`/auth/admin/users/${userId}/act`).set(headers).send({ reason: 'x' });
    const { token } = await app.auth.createSession(adminId);
    expectProblem(await send({ authorization: `Bearer ${token}` }), 401, 'unauthenticated');
    expectProblem(await send({}), 401, 'unauthenticated');
    expectProblem(await send({ cookie: await cookieFor(app, userId) }), 403, 'admin_required');
    const { key } = await app.auth.apiKeys.create(adminId, { name: 'a program' });
    expectProblem(await send({ 'x-service-api-key': key }), 403, 'session_required');
    const { token: old } = await app.auth.createSession(adminId, {
      authenticatedAt: new Date(Date.now() - 601_000),
    });
    expectProblem(await send({ cookie: `latchkey=${old}` }), 403, 'reauthentication_required');
    await rows(app.database, 'UPDATE users SET second_factor_at = created_at WHERE id = :adminId', {
      adminId,
    });
    const cookie = await cookieFor(app, adminId);
    expectProblem(await send({ cookie }), 403, 'second_factor_required');
  });

  test('needs every permission of the user', async () => {
    const { core } = internalsOf(app.auth);
    const [adminId, userId] = [await userWith(app, ROOT), await userWith(app, ADA)];
    core.permissionsOf = ({ id }) => (id === adminId ? ['posts:*'] : ['billing:read']);
    expectProblem(await start(userId), 403, 'permission_required');
    core.permissionsOf = ({ id }) => (id === adminId ? ['posts:*'] : ['posts:write']);
    expect((await start(userId)).status).toBe(200);
    Reflect.deleteProperty(core, 'permissionsOf');
  });
});

/** What ends an acting session, and whether it says so itself. */
type Scene = Awaited<ReturnType<typeof acting>>;
const ENDINGS: Record<string, (scene: Scene) => Promise<unknown>> = {
  'all sessions of the user end': ({ userId }) => app.auth.revokeAllSessions(userId),
  'all sessions of the administrator end': ({ adminId }) => app.auth.revokeAllSessions(adminId),
  'the user is suspended': ({ userId }) => app.auth.suspension.suspend(userId),
  'the administrator is suspended': ({ adminId }) => app.auth.suspension.suspend(adminId),
  'the user is deleted': ({ userId }) => app.auth.users.delete(userId),
  'the administrator is deleted': ({ adminId }) => app.auth.users.delete(adminId),
  'the password of the administrator changes': ({ adminId }) => app.auth.users.setPassword(adminId, SECRET),
  'the email of the administrator changes': ({ adminId }) =>
    app.auth.users.changeEmail(adminId, 'new-root@example.com', { verified: true }),
  'the proof of that email changes': ({ adminId }) =>
    app.auth.users.changeEmail(adminId, 'new-root@example.com'),
  'the email of the user changes': ({ userId }) =>
    app.auth.users.changeEmail(userId, 'new-ada@example.com', { verified: true }),
  'roles of the user change': ({ userId }) => changeRoles(userId),
  'roles of the administrator change': ({ adminId }) => changeRoles(adminId),
  'code ends it': ({ userId, sessionId }) => app.auth.revokeSessionById(userId, sessionId),
  'its token is revoked': ({ token }) => app.auth.revokeSession(token),
  'an administrator ends it': ({ userId, sessionId }) => app.auth.admin.revokeUserSession(userId, sessionId),
  'the administrator signs out': ({ cookie }) =>
    app.http.post('/auth/signout').set({ cookie }).expect(204).then(),
  'the browser signs in': async ({ adminId, cookie }) => {
    await app.auth.users.setPassword(adminId, SECRET, { keepSessions: true });
    const body = { credential: ROOT, password: SECRET };
    await app.http.post('/auth/signin/credential').set({ cookie }).send(body).expect(200);
  },
};
const changeRoles = (userId: string) => {
  const { core } = internalsOf(app.auth);
  return core.database.transaction(async (transaction) => {
    await core.users.lock(userId, transaction);
    await core.sessions.endActing([userId], transaction);
  });
};

test.each(Object.entries(ENDINGS))('it ends when %s, and its row is deleted', async (_name, end) => {
  const scene = await acting(app);
  const other = await acting(app, 'grace@example.com');
  await end(scene);
  expectProblem(await me(scene.cookie), 401, 'invalid_session');
  const left = await rows(app.database, 'SELECT id FROM sessions WHERE id = :sessionId', scene);
  expect(left).toEqual([]);
  await settled(app.auth);
  const own = named('session.revoked').filter(({ sessionId }) => sessionId === scene.sessionId);
  expect(own).toEqual([expect.objectContaining({ userId: scene.userId, actorId: scene.adminId })]);
  // Only what concerns the administrator ends the other one.
  const hasOther = (await me(other.cookie)).status === 200;
  const isOfBoth = /the administrator is|of the administrator|that email/.test(_name);
  expect([_name, hasOther]).toEqual([_name, !isOfBoth]);
});

describe('without actAs', () => {
  test('nothing is left of it', async () => {
    const without = await startApp({ plugins: [password(), admin({ adminEmails: [ROOT] })] as const });
    const { core } = internalsOf(without.auth);
    const adminId = await userWith(without, ROOT);
    const cookie = await cookieFor(without, adminId);
    const answer = await act(without, cookie, await userWith(without, ADA));
    expect([answer.status, answer.body.code]).toEqual([404, undefined]);
    expect(Object.keys(core.sessions.declaration.columns)).not.toContain('actorId');
    await expect(rows(without.database, 'SELECT actor_id FROM sessions')).rejects.toThrow(/actor_id/);
    expect(JSON.stringify(without.auth.openapi())).not.toMatch(/acting|\bactor|\/act\b/i);
    expect((await without.auth.listSessions(adminId))[0]).not.toHaveProperty('actorId');
    await without.stop();
  });

  test('a session from before is not one of the user', async () => {
    const { cookie, token, userId } = await acting(app);
    const later = createAuth({
      database: app.database.url,
      secret: SECRET_OF_SPECS,
      plugins: [password()],
      logger: memoryLogger(),
    });
    const headers = { cookie };
    await expect(later.getSession({ headers, method: 'GET' })).rejects.toMatchObject({
      code: 'invalid_session',
    });
    expect(await later.revokeSession(token)).toBe(false);
    expect(await later.revokeAllSessions(userId)).toBe(1);
    await later.close();
  });
});

describe('at the same time', () => {
  const AT_ONCE = 16;

  test('of many starts with one session of the administrator, one succeeds', async () => {
    const [adminId, userId] = [await userWith(app, ROOT), await userWith(app, ADA)];
    const cookie = await cookieFor(app, adminId);
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => act(app, cookie, userId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(AT_ONCE - 1).fill(401)]);
    expect(await stored(userId)).toHaveLength(1);
  });

  test.each([
    'the user is suspended',
    'the administrator is suspended',
    'the user is deleted',
    'all sessions of the administrator end',
    'the email of the administrator changes',
  ])('no start survives if %s', async (what) => {
    const [adminId, userId] = [await userWith(app, ROOT), await userWith(app, ADA)];
    const own = [await cookieFor(app, adminId), await cookieFor(app, adminId)];
    const end = ENDINGS[what] as (who: Pick<Scene, 'adminId' | 'userId'>) => Promise<unknown>;
    const starts = Array.from({ length: AT_ONCE }, (_, turn) => act(app, `${own[turn % 2]}`, userId).then());
    await Promise.all([...starts, end({ adminId, userId })]);
    expect(await rows(app.database, 'SELECT id FROM sessions WHERE actor_id IS NOT NULL')).toEqual([]);
  });

  test('of many ends, one is reported', async () => {
    const scene = await acting(app);
    const ends = [ENDINGS['the user is suspended'], ENDINGS['the administrator is suspended']];
    const { userId, sessionId } = scene;
    const revoke = () => app.auth.revokeSessionById(userId, sessionId);
    await Promise.all([...ends.map((end) => end?.(scene)), ...Array.from({ length: AT_ONCE }, revoke)]);
    await settled(app.auth);
    expect(named('session.revoked').filter((event) => event.sessionId === sessionId)).toHaveLength(1);
  });
});
