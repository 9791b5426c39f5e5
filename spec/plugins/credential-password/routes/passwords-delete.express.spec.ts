import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { passkeys } from '../../../../lib/index.js';
import { ada, password, sessionCookie, signedIn } from '../../../support/app.js';
import { type MailApp, startMailApp } from '../../../support/mail-app.js';
import { addPasskey, authenticator, PAGE } from '../../../support/passkeys.js';
import { expectProblem } from '../../../support/problem.js';

const plugins = [password(), passkeys()] as const;

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({
    plugins,
    config: { baseUrl: PAGE, rateLimit: { signIn: false, signUp: false, mail: false }, bearerEnabled: true },
  });
});
afterAll(() => app.stop());

let people = 0;
let email: string;
let userId: string;
let browser: Awaited<ReturnType<typeof signedIn>>;
beforeEach(async () => {
  email = `person-${++people}@example.com`;
  browser = await signedIn(app, { email, password: ada.password });
  userId = (await browser.get('/auth/me')).body.user.id;
  await app.auth.markEmailVerified(userId);
});

const signIn = (given = ada.password) =>
  app.http.post('/auth/signin/credential').send({ credential: email, password: given });
const remove = () => browser.delete('/auth/passwords');
const stale = () => app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: { userId } });

describe('DELETE /passwords', () => {
  test('removes the password, gives this session a new token and ends all others', async () => {
    await addPasskey(browser, authenticator());
    const other = sessionCookie(await signIn())?.value;
    const before = (await browser.get('/auth/me')).body.session;
    const answer = await remove();
    expect(answer.status).toBe(204);
    const token = sessionCookie(answer)?.value;
    expect(answer.headers['set-auth-token']).toBe(token);
    expectProblem(await app.http.get('/auth/me').set('cookie', `latchkey=${other}`), 401, 'invalid_session');
    expect((await browser.get('/auth/me').expect(200)).body.session).toEqual({
      ...before,
      last_active_at: expect.any(String),
    });
    expectProblem(await signIn(), 401, 'invalid_credentials');
    expect((await browser.get('/auth/sign-in-methods')).body).toMatchObject({ password: false, passkeys: 1 });
    expectProblem(await remove(), 404, 'password_not_set');
  });

  test('does not make the session fresh', async () => {
    await addPasskey(browser, authenticator());
    await stale();
    expectProblem(await remove(), 403, 'reauthentication_required');
    expectProblem(await remove().send({ password: 'a guess of mine' }), 401, 'invalid_credentials');
    await remove().send({ password: ada.password }).expect(204);
    expectProblem(await browser.post('/auth/passkeys/options'), 403, 'reauthentication_required');
  });

  test('is refused for the last way to sign in, also of 8 at once with another removal', async () => {
    expectProblem(await remove(), 409, 'last_sign_in_method');
    await signIn().expect(200);
    const { id } = await addPasskey(browser, authenticator());
    const removals = Array.from({ length: 4 }, () => [
      app.auth.credential.removePassword({ userId }),
      app.auth.passkeys.remove(userId, id),
    ]);
    const outcomes = await Promise.allSettled(removals.flat());
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const record = await app.auth.models.User.unscoped().findByPk(userId);
    const left = [record?.get('passwordHash') !== null, (await app.auth.passkeys.list(userId)).length > 0];
    expect(left.filter(Boolean)).toHaveLength(1);
  });

  test('ends the links that set another password, and a new one can be asked for', async () => {
    await addPasskey(browser, authenticator());
    const ask = () => app.mailOf(() => app.http.post('/auth/passwords/request-reset').send({ email }));
    const reset = (token: string) =>
      app.http.post('/auth/passwords/reset').send({ token, new_password: 'a difference engine' });
    const before = await ask();
    await remove().expect(204);
    expectProblem(await reset(before.token), 400, 'invalid_token');
    await reset((await ask()).token).expect(204);
    await signIn('a difference engine').expect(200);
  });

  test('has a form, an event, and a call from code that ends every session', async () => {
    const events: unknown[] = [];
    const off = app.auth.on('password.removed', (event) => events.push(event));
    await addPasskey(browser, authenticator());
    const form = { password: ada.password, redirect_to: '/account' };
    const { status, headers } = await browser.post('/auth/passwords/delete').type('form').send(form);
    expect([status, headers.location]).toEqual([303, '/account']);
    await app.auth.credential.setPassword({ userId, newPassword: ada.password });
    expect(await app.auth.credential.removePassword({ userId })).toBeNull();
    expect(await app.auth.listSessions(userId)).toEqual([]);
    expect(events).toEqual([expect.objectContaining({ userId }), expect.objectContaining({ userId })]);
    off();
  });
});
