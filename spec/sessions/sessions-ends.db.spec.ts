import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { expectProblem } from '../support/problem.js';
import { ago, changeSession, DAY, HOUR, SECOND, settled, signIn as signInTo } from '../support/sessions.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp();
  await app.auth.credential.signUp(ada);
});
afterAll(() => app.stop());

const signIn = (rememberMe?: boolean) => signInTo(app, rememberMe);
const change = (id: string, values: object) => changeSession(app, id, values);
const lastActive = async (id: string) =>
  (await app.auth.models.Session.findByPk(id))?.get().lastActiveAt.getTime();

describe('the expiry of a session', () => {
  test.each([
    ['remembered', true, 30 * DAY],
    ['not remembered', false, DAY],
  ])('is fixed at the sign-in for a session that is %s', async (_name, rememberMe, lifetime) => {
    const { session } = await signIn(rememberMe);
    expect(session.expiresAt.getTime() - session.createdAt.getTime()).toBe(lifetime);
  });

  test.each([
    ['idle', { lastActiveAt: ago(7 * DAY + SECOND) }, { lastActiveAt: ago(7 * DAY - 60 * SECOND) }],
    ['absolute', { expiresAt: ago(SECOND) }, { expiresAt: ago(-60 * SECOND) }],
  ])('is enforced by the %s timeout, and not earlier', async (_name, over, live) => {
    const { id, headers } = await signIn(true);
    await change(id, live);
    await app.http.get('/auth/me').set(headers).expect(200);
    await settled(app.auth);
    await change(id, over);
    expectProblem(await app.http.get('/auth/me').set(headers), 401, 'invalid_session');
    expect((await app.auth.listSessions((await signIn()).session.userId)).map((it) => it.id)).not.toContain(
      id,
    );
  });

  test('has an absolute timeout that activity does not extend', async () => {
    const { id, headers, session } = await signIn();
    await change(id, { lastActiveAt: ago(2 * HOUR) });
    const { body } = await app.http.get('/auth/me').set(headers).expect(200);
    expect(body.session.expires_at).toBe(session.expiresAt.toISOString());
  });

  test('follows the configured times to the millisecond', async () => {
    const brief = createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      plugins: [password()],
      session: { shortLifetime: 160.5, lifetime: 6000, idleTimeout: 150.5, touchInterval: 30 },
    });
    const sign = (rememberMe: boolean) =>
      brief.credential.signIn({ credential: ada.email, password: ada.password, rememberMe });
    const [short, idle] = await Promise.all([sign(false), sign(true)]);
    expect(short.session.expiresAt.getTime() - short.session.createdAt.getTime()).toBe(160_500);
    const get = (token: string) => brief.getSession({ headers: { cookie: `latchkey=${token}` } });
    advance(brief, 100);
    await Promise.all([get(short.token), get(idle.token)]);
    await settled(brief);
    advance(brief, 60.5);
    await expect(get(short.token)).rejects.toMatchObject({ code: 'invalid_session' });
    await get(idle.token);
    await settled(brief);
    advance(brief, 150.5);
    await expect(get(idle.token)).rejects.toMatchObject({ code: 'invalid_session' });
    await brief.close();
  });

  test('has an idle timeout that spares a session in use, even if activity is rarely written', async () => {
    const brief = createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      plugins: [password()],
      session: { idleTimeout: 3 },
    });
    const { token } = await brief.credential.signIn({ credential: ada.email, password: ada.password });
    for (let time = 0; time < 4; time++) {
      advance(brief, 1.2);
      await brief.getSession({ headers: { cookie: `latchkey=${token}` } });
      await settled(brief);
    }
    await brief.close();
  });
});

describe('the last activity', () => {
  test('is written at most once per interval, even by concurrent requests', async () => {
    const { id, headers } = await signIn();
    const early = ago(30 * SECOND);
    await change(id, { lastActiveAt: early });
    await app.http.get('/auth/me').set(headers).expect(200);
    await settled(app.auth);
    expect(await lastActive(id)).toBe(early.getTime());
    await change(id, { lastActiveAt: ago(61 * SECOND) });
    await Promise.all(Array.from({ length: 10 }, () => app.http.get('/auth/me').set(headers).expect(200)));
    await settled(app.auth);
    const touched = await lastActive(id);
    expect(Date.now() - (touched ?? 0)).toBeLessThan(10 * SECOND);
    await app.http.get('/auth/me').set(headers).expect(200);
    await settled(app.auth);
    expect(await lastActive(id)).toBe(touched);
  });

  test('keeps a session alive beyond its idle timeout', async () => {
    const { id, headers } = await signIn(true);
    for (let day = 0; day < 3; day++) {
      await change(id, { lastActiveAt: ago(6 * DAY) });
      await app.http.get('/auth/me').set(headers).expect(200);
      await settled(app.auth);
    }
  });

  test('never restores a revoked session', async () => {
    for (let attempt = 0; attempt < 5; attempt++) {
      const { id, headers, token } = await signIn();
      await change(id, { lastActiveAt: ago(2 * HOUR) });
      const [, revoked] = await Promise.all([
        app.http.get('/auth/me').set(headers),
        app.auth.revokeSession(token),
      ]);
      await settled(app.auth);
      expect(revoked).toBe(true);
      expect(await app.auth.models.Session.findByPk(id)).toBeNull();
    }
  });
});
