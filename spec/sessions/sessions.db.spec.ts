import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { digestToken } from '../../lib/crypto/token.js';
import { createAuth } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, sessionCookie, signedIn, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';
import { ago, changeSession, DAY, SECOND, signIn as signInTo } from '../support/sessions.js';
import { loggingSequelize } from '../support/statements.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp();
  await app.auth.credential.signUp(ada);
});
afterAll(() => app.stop());

const signIn = (rememberMe?: boolean) => signInTo(app, rememberMe);
const change = (id: string, values: object) => changeSession(app, id, values);

describe('a session token', () => {
  test('is not stored, and neither its hash nor the public id opens the session', async () => {
    const { token, id } = await signIn();
    const dump = JSON.stringify(
      await Promise.all(['users', 'sessions'].map((table) => rows(app.database, `SELECT * FROM ${table}`))),
      (_key, value) => (value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value),
    );
    expect(dump).toContain(id);
    expect(dump).not.toContain(token);
    expect(dump).not.toContain(token.slice(4));
    for (const guess of [
      id,
      digestToken(token).toString('hex'),
      `lks_${id}`,
      token.toUpperCase(),
      token.slice(0, -1),
      `${token}A`,
      '*',
    ]) {
      const answer = await app.http.get('/auth/me').set('cookie', `latchkey=${guess}`);
      expectProblem(answer, 401, 'invalid_session');
    }
  });

  test('is different for every sign-in', async () => {
    const tokens = await Promise.all(Array.from({ length: 5 }, () => signIn()));
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(5);
    for (const { token } of tokens) expect(token).toMatch(/^lks_[A-Za-z0-9_-]{48}$/);
  });
});

describe('revoking sessions', () => {
  test('by token returns whether there was one', async () => {
    const { token, headers } = await signIn();
    expect(await app.auth.revokeSession(token)).toBe(true);
    expect(await app.auth.revokeSession(token)).toBe(false);
    expect(await app.auth.revokeSession('junk')).toBe(false);
    expectProblem(await app.http.get('/auth/me').set(headers), 401, 'invalid_session');
  });

  test('counts only active sessions', async () => {
    const { user } = (await app.auth.credential.signUp({ ...ada, email: 'ended@example.com' }))!;
    const sign = () =>
      app.auth.credential.signIn({ credential: 'ended@example.com', password: ada.password });
    const [expired, idle, live] = [await sign(), await sign(), await sign()];
    await change(expired.session.id, { expiresAt: ago(SECOND) });
    await change(idle.session.id, { lastActiveAt: ago(8 * DAY) });
    expect(await app.auth.revokeSession(expired.token)).toBe(false);
    const ended = `/auth/sessions/${idle.session.id}`;
    const cookie = `latchkey=${live.token}`;
    expectProblem(await app.http.delete(ended).set('cookie', cookie), 404, 'session_not_found');
    expect(await app.auth.revokeAllSessions(user.id)).toBe(1);
    expect(await rows(app.database, 'SELECT id FROM sessions WHERE user_id = :id', { id: user.id })).toEqual(
      [],
    );
  });

  test('also ends a sign-in that read the account just before', async () => {
    const { sequelize, statements } = loggingSequelize(app.database);
    const slow = createAuth({
      database: sequelize,
      secret: SECRET,
      rateLimit: false,
      plugins: [password({ bcryptCost: 12 })],
    });
    const person = { email: 'slow@example.com', password: ada.password };
    const { user } = (await slow.credential.signUp(person))!;
    let finished = false;
    const signingIn = slow.credential
      .signIn({ credential: person.email, password: person.password })
      .finally(() => {
        finished = true;
      });
    while (!statements.some((sql) => /^Executed.*SELECT.*password_hash/s.test(sql))) await sleep(1);
    await app.auth.revokeAllSessions(user.id);
    expect(finished).toBe(false);
    const { token } = await signingIn;
    await expect(slow.getSession({ headers: { cookie: `latchkey=${token}` } })).rejects.toMatchObject({
      code: 'invalid_session',
    });
    expect(await app.auth.listSessions(user.id)).toEqual([]);
    await sequelize.close();
  });

  test('takes effect in another process immediately', async () => {
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      plugins: [password()],
    });
    for (let attempt = 0; attempt < 5; attempt++) {
      const { token, headers } = await signIn();
      await other.getSession({ headers });
      await app.auth.revokeSession(token);
      await expect(other.getSession({ headers })).rejects.toMatchObject({
        status: 401,
        code: 'invalid_session',
      });
    }
    await other.close();
  });

  test('with an invalid id does nothing', async () => {
    for (const id of ['', 'junk', "' OR '1'='1", '01900000-0000-7000-8000-000000000000']) {
      expect(await app.auth.listSessions(id)).toEqual([]);
      expect(await app.auth.revokeAllSessions(id)).toBe(0);
    }
  });
});

describe('pruning', () => {
  let live: Awaited<ReturnType<typeof signIn>>;
  beforeEach(async () => {
    live = await signIn(true);
  });

  test('deletes expired and idle sessions and keeps the others', async () => {
    const [expired, idle] = await Promise.all([signIn(), signIn(true)]);
    await change(expired.id, { expiresAt: ago(SECOND) });
    await change(idle.id, { lastActiveAt: ago(8 * DAY) });
    await app.auth.prune();
    const left = await rows<{ id: string }>(app.database, 'SELECT id FROM sessions');
    expect(left.map(({ id }) => id)).toEqual(expect.arrayContaining([live.id]));
    expect(left.map(({ id }) => id)).not.toContain(expired.id);
    expect(left.map(({ id }) => id)).not.toContain(idle.id);
    expect(await app.auth.prune()).toBe(0);
    await app.auth.getSession({ headers: live.headers });
  });

  test('continues after the first batch', async () => {
    const { session } = live;
    const tokenHash = (index: number) => digestToken(`row ${index}`);
    await app.auth.models.Session.bulkCreate(
      Array.from({ length: 1100 }, (_, index) => ({
        ...session,
        id: `01900000-0000-7000-8000-${String(index).padStart(12, '0')}`,
        tokenHash: tokenHash(index),
        authEpoch: 0,
        remembered: false,
        amr: 'pwd',
        expiresAt: ago(SECOND),
      })),
      { logging: false },
    );
    expect(await app.auth.prune()).toBe(1100);
    await app.auth.getSession({ headers: live.headers });
  });
});

test('user agents and addresses are truncated to the length of their columns', async () => {
  const { session } = await app.auth.credential.signIn({
    credential: ada.email,
    password: ada.password,
    userAgent: `\0${'😀'.repeat(300)}`,
    ip: '1'.repeat(100),
  });
  expect(session.userAgent?.length).toBe(255);
  expect(session.userAgent?.isWellFormed()).toBe(true);
  expect(session.ipAddress).toBe('1'.repeat(45));
  const browser = await signedIn(app, { email: 'ua@example.com', password: ada.password });
  const longest = 'Mozilla/5.0 <script>'.padEnd(2000, 'x');
  const answer = await browser
    .post('/auth/signin/credential')
    .set('user-agent', longest)
    .send({ credential: 'ua@example.com', password: ada.password })
    .expect(200);
  expect(answer.body.session.user_agent).toBe(longest.slice(0, 255));
  expect(answer.body.session.ip_address).toBe('127.0.0.1');
  expect(sessionCookie(answer)).toBeDefined();
});
