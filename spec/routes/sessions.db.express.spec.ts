import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import { ada, type password, type SpecApp, sessionCookie, signedIn, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';

const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };
const CLEARED = ['Path=/', 'Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'HttpOnly', 'SameSite=Lax'];

let app: SpecApp<readonly [ReturnType<typeof password>]>;
let browser: ReturnType<typeof request.agent>;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  browser = await signedIn(app);
});

const tokenOf = async ({ email, password }: typeof ada) => {
  const issued = await app.auth.credential.signIn({ credential: email, password });
  return { ...issued, cookie: `latchkey=${issued.token}` };
};
const idsOf = async (client: typeof browser) =>
  ((await client.get('/auth/sessions').expect(200)).body.sessions as { id: string }[]).map(({ id }) => id);

describe('auth.getSession()', () => {
  test('accepts any object with headers', async () => {
    const { cookie, user } = await tokenOf(ada);
    for (const headers of [{ cookie }, { Cookie: cookie }, new Headers({ cookie })])
      expect((await app.auth.getSession({ headers: headers as { cookie: string } })).user).toEqual(user);
    await expect(app.auth.getSession({ headers: {} })).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(app.auth.getSession({} as never)).rejects.toThrow('pass a request');
    await expect(app.auth.getSession(undefined as never)).rejects.toThrow('pass a request');
  });
});

describe('GET /me', () => {
  test('returns the user and the session', async () => {
    const { token, user, session, cookie } = await tokenOf(ada);
    const { body, text } = await app.http.get('/auth/me').set('cookie', cookie).expect(200);
    expect(body.user).toMatchObject({ id: user.id, email: ada.email });
    expect(body.session).toMatchObject({
      id: session.id,
      user_id: user.id,
      user_agent: null,
      ip_address: null,
    });
    expect(Object.keys(body)).toEqual(['user', 'session']);
    expect(text).not.toContain(token);
  });
});

describe('GET /sessions', () => {
  test('lists the user’s active sessions, newest first, and marks the current one', async () => {
    const [current] = await idsOf(browser);
    const issued = [await tokenOf(ada), await tokenOf(ada), await tokenOf(ada)];
    await signedIn(app, eve);
    const at = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    // Sets different times, because the sessions were created within about a millisecond.
    for (const [index, { session }] of issued.entries())
      await app.auth.models.Session.update({ createdAt: at(index + 1) }, { where: { id: session.id } });
    await app.auth.models.Session.update(
      { expiresAt: at(1) },
      { where: { id: issued[1]?.session.id ?? '' } },
    );
    const { body } = await browser.get('/auth/sessions').expect(200);
    expect(body.sessions.map(({ id, current }: { id: string; current: boolean }) => [id, current])).toEqual([
      [current, true],
      [issued[0]?.session.id, false],
      [issued[2]?.session.id, false],
    ]);
    expect(Object.keys(body.sessions[0]).sort()).toEqual(
      [
        'id',
        'user_id',
        'created_at',
        'last_active_at',
        'expires_at',
        'ip_address',
        'user_agent',
        'current',
      ].sort(),
    );
    expect(JSON.stringify(body)).not.toMatch(/token|hash|lks_|epoch/);
  });
});

describe('DELETE /sessions/:id', () => {
  test('ends another session of the user and keeps the current one', async () => {
    const { session, cookie } = await tokenOf(ada);
    const answer = await browser.delete(`/auth/sessions/${session.id}`).expect(204);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.text).toBe('');
    expectProblem(await app.http.get('/auth/me').set('cookie', cookie), 401, 'invalid_session');
    expectProblem(await browser.delete(`/auth/sessions/${session.id}`), 404, 'session_not_found');
    await browser.get('/auth/me').expect(200);
  });

  test('ends the current session like a sign-out', async () => {
    const [id] = await idsOf(browser);
    const answer = await browser.delete(`/auth/sessions/${id}`).expect(204);
    expect(sessionCookie(answer)).toEqual({ value: '', attributes: CLEARED });
    expectProblem(await browser.get('/auth/me'), 401, 'unauthenticated');
  });

  test('responds with 404 to the ids of other users’ sessions and to invalid ids', async () => {
    const other = await signedIn(app, eve);
    const [theirs = ''] = await idsOf(other);
    const junk = [
      'junk',
      '1',
      '*',
      '%27%20OR%201%3D1',
      '%00',
      theirs.toUpperCase(),
      `${theirs} `,
      'x'.repeat(3000),
      '01900000-0000-7000-8000-000000000000',
    ];
    for (const id of [theirs, ...junk])
      expectProblem(await browser.delete(`/auth/sessions/${id}`), 404, 'session_not_found');
    expect(await idsOf(other)).toEqual([theirs]);
  });
});

describe('POST /signout', () => {
  test('ends the current session and clears its cookie', async () => {
    const { cookie } = await tokenOf(ada);
    const answer = await app.http.post('/auth/signout').set('cookie', cookie).expect(204);
    expect(sessionCookie(answer)).toEqual({ value: '', attributes: CLEARED });
    for (const path of ['/auth/me', '/auth/sessions'])
      expectProblem(await app.http.get(path).set('cookie', cookie), 401, 'invalid_session');
    await browser.get('/auth/me').expect(200);
  });

  test('is 204 without an active session too, and clears its cookie', async () => {
    const { cookie, session, user } = await tokenOf(ada);
    await app.auth.revokeSessionById(user.id, session.id);
    for (const dead of [cookie, 'latchkey=x', 'latchkey=x; latchkey=y', '']) {
      const answer = await app.http.post('/auth/signout').set('cookie', dead).expect(204);
      expect(sessionCookie(answer)).toEqual({ value: '', attributes: CLEARED });
    }
    await browser.get('/auth/me').expect(200);
  });

  test('without an active session is refused from another site, which could clear the cookie', async () => {
    for (const cookie of [`latchkey=lks_${'A'.repeat(48)}`, '']) {
      const answer = await app.http.post('/auth/signout').set({ cookie, 'sec-fetch-site': 'cross-site' });
      expectProblem(answer, 403, 'origin_not_allowed');
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });
});

describe('POST /revoke-sessions', () => {
  test('ends all sessions of the user, including the current one, and no others', async () => {
    const others = [await tokenOf(ada), await tokenOf(ada)];
    const eves = await signedIn(app, eve);
    const answer = await browser.post('/auth/revoke-sessions').expect(200, { revoked: 3 });
    expect(sessionCookie(answer)).toEqual({ value: '', attributes: CLEARED });
    for (const { cookie } of others)
      expectProblem(await app.http.get('/auth/me').set('cookie', cookie), 401, 'invalid_session');
    expectProblem(await browser.get('/auth/me'), 401, 'unauthenticated');
    await eves.get('/auth/me').expect(200);
    // The user can sign in again.
    const { cookie } = await tokenOf(ada);
    await app.http.get('/auth/me').set('cookie', cookie).expect(200);
  });

  test('keeps the current session with others, and what hangs on the epoch ends too', async () => {
    const others = [await tokenOf(ada), await tokenOf(ada)];
    const eves = await signedIn(app, eve);
    const [{ id }] = (await browser.get('/auth/sessions')).body.sessions.slice(-1);
    const [before] = await rows<{ auth_epoch: number }>(app.database, 'SELECT auth_epoch FROM users');
    const answer = await browser.post('/auth/revoke-sessions').send({ others: true }).expect(200);
    expect([answer.body, sessionCookie(answer)]).toEqual([{ revoked: 2 }, undefined]);
    for (const { cookie } of others)
      expectProblem(await app.http.get('/auth/me').set('cookie', cookie), 401, 'invalid_session');
    expect(await idsOf(browser)).toEqual([id]);
    await eves.get('/auth/me').expect(200);
    const [after] = await rows<{ auth_epoch: number }>(
      app.database,
      'SELECT auth_epoch FROM users WHERE email = :email',
      { email: ada.email },
    );
    expect(after?.auth_epoch).toBe(Number(before?.auth_epoch) + 1);
    const form = browser
      .post('/auth/revoke-sessions')
      .type('form')
      .send({ others: 'true', redirect_to: '/x' });
    expect((await form.expect(303)).headers.location).toBe('/x');
    await browser.get('/auth/me').expect(200);
    expectProblem(
      await browser.post('/auth/revoke-sessions').send({ other: true }),
      422,
      'validation_failed',
    );
  });

  test('keeps the one that code names, if it is an active session of this user', async () => {
    const { user, session: kept } = await tokenOf(ada);
    const revoke = (except?: string) => app.auth.revokeAllSessions(user.id, { except });
    expect(await revoke(kept.id)).toBe(1);
    expect((await app.auth.listSessions(user.id)).map(({ id }) => id)).toEqual([kept.id]);
    const eves = await signedIn(app, eve);
    const [evesId = ''] = await idsOf(eves);
    const { session: expired } = await tokenOf(ada);
    await app.auth.models.Session.update({ expiresAt: new Date(0) }, { where: { id: expired.id } });
    for (const other of [evesId, expired.id, 'x', '00000000-0000-4000-8000-000000000000']) {
      await tokenOf(ada);
      expect(await revoke(other)).toBeGreaterThan(0);
      expect(await app.auth.listSessions(user.id)).toEqual([]);
    }
    await eves.get('/auth/me').expect(200);
    await expect(app.auth.revokeAllSessions(user.id, { but: kept.id } as never)).rejects.toThrow(
      'auth.revokeAllSessions does not accept but',
    );
  });

  test('is limited with others for a session that is not fresh, and not at all for a fresh one', async () => {
    const limited = await startApp({ config: { rateLimit: {} } });
    const { id } = await limited.auth.users.create(ada);
    const as = async (agoMs: number) => {
      const authenticatedAt = new Date(Date.now() - agoMs);
      const { token } = await limited.auth.createSession(id, { authenticatedAt });
      const others = (body: object) =>
        limited.http.post('/auth/revoke-sessions').set('cookie', `latchkey=${token}`).send(body);
      return others;
    };
    const stale = await as(11 * 60_000);
    for (let time = 0; time < 6; time++) await stale({ others: true }).expect(200);
    expectProblem(await stale({ others: true }), 429, 'rate_limited');
    const fresh = await as(0);
    for (let time = 0; time < 8; time++) await fresh({ others: true }).expect(200);
    await (await as(11 * 60_000))({}).expect(200);
    await limited.stop();
  });

  test('increments the epoch, so that a session row that is left over is not accepted', async () => {
    const { session, cookie, user } = await tokenOf(ada);
    const row = (await app.auth.models.Session.unscoped().findByPk(session.id))!.get();
    await browser.post('/auth/revoke-sessions').expect(200);
    const [after] = await rows<{ auth_epoch: number }>(
      app.database,
      'SELECT auth_epoch FROM users WHERE id = :id',
      { id: user.id },
    );
    expect(after?.auth_epoch).toBe(row.authEpoch + 1);
    await app.auth.models.Session.create({ ...row });
    expectProblem(await app.http.get('/auth/me').set('cookie', cookie), 401, 'invalid_session');
    expect(await app.auth.listSessions(user.id)).toEqual([]);
  });

  test('ends each session once if it is called by ten requests at the same time', async () => {
    const sessions = await Promise.all(Array.from({ length: 10 }, () => tokenOf(ada)));
    const answers = await Promise.all(
      sessions.map(({ cookie }) => app.http.post('/auth/revoke-sessions').set('cookie', cookie)),
    );
    const revoked = answers.map(({ status, body }) => (status === 200 ? body.revoked : 0));
    expect(revoked.reduce((sum, one) => sum + one, 0)).toBe(11);
    for (const answer of answers) if (answer.status !== 200) expectProblem(answer, 401, 'invalid_session');
  });
});

test('the sessions of a deleted user end immediately', async () => {
  await rows(app.database, 'DELETE FROM users');
  expectProblem(await browser.get('/auth/me'), 401, 'invalid_session');
  expect(await rows(app.database, 'SELECT id FROM sessions')).toEqual([]);
});
