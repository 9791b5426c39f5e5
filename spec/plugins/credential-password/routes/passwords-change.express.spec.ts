import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuth } from '../../../../lib/index.js';
import { ada, password, SECRET, sessionCookie, signedIn } from '../../../support/app.js';
import { type MailApp, startMailApp } from '../../../support/mail-app.js';
import { expectProblem } from '../../../support/problem.js';
import { settled } from '../../../support/sessions.js';

const CHANGE = '/auth/passwords/change';
const NEW_PASSWORD = 'a difference engine';

let app: MailApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startMailApp({
    plugins: [password({ username: true })],
    config: { rateLimit: { signIn: false, signUp: false, mail: false }, bearerEnabled: true },
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
});

const change = (new_password = NEW_PASSWORD, current_password = ada.password) =>
  browser.post(CHANGE).send({ current_password, new_password });
const signIn = (given: string, more: object = {}) =>
  app.http.post('/auth/signin/credential').send({ credential: email, password: given, ...more });
const withToken = (value = '') => app.http.get('/auth/me').set('cookie', `latchkey=${value}`);

describe('POST /passwords/change', () => {
  test('gives the current session a new token and ends all others', async () => {
    const old = sessionCookie(await signIn(ada.password))?.value;
    const before = (await browser.get('/auth/me')).body.session;
    const answer = await change();
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(['session', 'user']);
    expect(answer.body.user).toMatchObject({ id: userId, email });
    // The same session, with the same expiry time.
    expect(answer.body.session).toEqual({ ...before, last_active_at: expect.any(String) });
    const cookie = sessionCookie(answer);
    // The session was not remembered before, so it is not remembered now.
    expect(cookie?.attributes.join()).not.toMatch(/max-age|expires/i);
    expect(answer.headers['set-auth-token']).toBe(cookie?.value);
    expectProblem(await withToken(old), 401, 'invalid_session');
    expect((await browser.get('/auth/me').expect(200)).body).toEqual(answer.body);
    const { body } = await browser.get('/auth/sessions').expect(200);
    expect(body.sessions.map(({ id }: { id: string }) => id)).toEqual([answer.body.session.id]);
    expectProblem(await signIn(ada.password), 401, 'invalid_credentials');
    await signIn(NEW_PASSWORD).expect(200);
  });

  test('keeps a remembered session remembered', async () => {
    await browser
      .post('/auth/signin/credential')
      .send({ credential: email, password: ada.password, remember_me: true })
      .expect(200);
    const { id, expires_at } = (await browser.get('/auth/me')).body.session;
    const inAnHour = new Date(Math.floor(Date.now() / 1000) * 1000 + 3600_000);
    await app.auth.models.Session.update({ expiresAt: inAnHour }, { where: { id } });
    const answer = await change().expect(200);
    expect(Date.parse(answer.body.session.expires_at)).toBe(inAnHour.getTime());
    expect(inAnHour.getTime()).toBeLessThan(Date.parse(expires_at));
    const { attributes = [] } = sessionCookie(answer) ?? {};
    const maxAge = Number(attributes.find((one) => one.startsWith('Max-Age='))?.slice(8));
    expect(maxAge).toBeGreaterThan(3580);
    expect(maxAge).toBeLessThanOrEqual(3600);
  });

  test('rejects a wrong password and counts it as a failed sign-in', async () => {
    const events: unknown[] = [];
    const off = app.auth.on('sign_in.failed', (event) => events.push(event.userId));
    for (let index = 0; index < 5; index++)
      expectProblem(await change(NEW_PASSWORD, 'a wrong password'), 401, 'invalid_credentials');
    expectProblem(await change(), 429, 'rate_limited');
    const again = browser.post('/auth/signin/credential').send({ credential: email, password: ada.password });
    expectProblem(await again, 429, 'rate_limited');
    await browser.get('/auth/me').expect(200);
    await settled(app.auth);
    expect(events).toEqual(Array(5).fill(userId));
    off();
  });

  test.each([
    ['short', 'too_short'],
    ['x'.repeat(257), 'too_long'],
    ['Password1', 'password_too_common'],
    ['PERSON@example.com', 'password_is_identifier'],
    ['nul \0 in between', 'invalid'],
  ])('rejects %j as the new password', async (bad, code) => {
    const given = code === 'password_is_identifier' ? email.toUpperCase() : bad;
    const { errors } = expectProblem(await change(given), 422, 'validation_failed');
    expect(errors).toEqual([{ pointer: '/new_password', code, detail: expect.any(String) }]);
    await signIn(ada.password).expect(200);
  });

  test('succeeds for one of four concurrent requests', async () => {
    const { body, headers } = await signIn(ada.password);
    expect(body.user.id).toBe(userId);
    const cookie = String(headers['set-cookie']?.[0]).split(';')[0] as string;
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        app.http
          .post(CHANGE)
          .set('cookie', cookie)
          .send({ current_password: ada.password, new_password: `the password of try ${index}` }),
      ),
    );
    const won = answers.findIndex(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter((_, index) => index !== won))
      expect(['invalid_credentials', 'invalid_session', 'rate_limited']).toContain(answer.body.code);
    expect(await app.auth.listSessions(userId)).toHaveLength(1);
    await withToken(sessionCookie(answers[won]!)?.value).expect(200);
    await signIn(`the password of try ${won}`).expect(200);
  });

  test('invalidates reset links', async () => {
    const { token } = await app.mailOf(() => app.http.post('/auth/passwords/request-reset').send({ email }));
    await change().expect(200);
    const answer = await app.http.post('/auth/passwords/reset').send({ token, new_password: ada.password });
    expectProblem(answer, 400, 'invalid_token');
    await signIn(NEW_PASSWORD).expect(200);
  });

  test('ends all sign-ins with the old password that are in progress', async () => {
    // Attempts that are rate limited would not even start.
    const unlimited = createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      plugins: [password({ username: true })],
    });
    const signIns = () =>
      Array.from({ length: 8 }, () =>
        unlimited.credential.signIn({ credential: email, password: ada.password }),
      );
    // Before, during and after the change: none of these sessions may remain, whatever the timing.
    const before = Promise.allSettled(signIns());
    const changing = change();
    const during = Promise.allSettled(signIns());
    const { body } = await changing;
    await Promise.all([before, during]);
    const left = await app.auth.listSessions(userId);
    expect(left.map(({ id }) => id)).toEqual([body.session.id]);
    await unlimited.close();
  });

  test('creates a session if it is called from code without one', async () => {
    const issued = await app.auth.credential.changePassword({
      userId,
      currentPassword: ada.password,
      newPassword: NEW_PASSWORD,
    });
    await withToken(issued.token).expect(200);
    expect((await app.auth.listSessions(userId)).map(({ id }) => id)).toEqual([issued.session.id]);
  });

  test('changes nothing if the session has ended in the meantime', async () => {
    const { body } = await browser.get('/auth/me');
    const changing = app.auth.credential.changePassword({
      userId,
      sessionId: body.session.id,
      currentPassword: ada.password,
      newPassword: NEW_PASSWORD,
    });
    await app.auth.models.Session.destroy({ where: { id: body.session.id } });
    await expect(changing).rejects.toMatchObject({ code: 'invalid_session' });
    await signIn(ada.password).expect(200);
  });

  test('emits events without a password', async () => {
    const other = sessionCookie(await signIn(ada.password))?.value ?? '';
    const { session } = await app.auth.getSession({ headers: { cookie: `latchkey=${other}` } });
    const events: unknown[] = [];
    const offs = (['password.changed', 'session.created', 'session.revoked'] as const).map((name) =>
      app.auth.on(name, (event) => events.push([name, event])),
    );
    await change().set('user-agent', 'a browser').expect(200);
    await settled(app.auth);
    expect(events).toEqual([
      ['password.changed', { userId, ip: '127.0.0.1', userAgent: 'a browser' }],
      ['session.revoked', expect.objectContaining({ userId, sessionId: session?.id })],
    ]);
    for (const off of offs) off();
  });
});

describe('PUT /passwords', () => {
  const set = (new_password = NEW_PASSWORD) => browser.put('/auth/passwords').send({ new_password });

  test('does not replace an existing password', async () => {
    expectProblem(await set(), 409, 'password_already_set');
    await signIn(ada.password).expect(200);
  });

  test('sets the first password of an account once, and keeps the session', async () => {
    await app.auth.models.User.update({ passwordHash: null }, { where: { id: userId } });
    expectProblem(await set('short'), 422, 'validation_failed');
    expectProblem(await change(), 401, 'invalid_credentials');
    const { token } = await app.mailOf(() => app.http.post('/auth/passwords/request-reset').send({ email }));
    const answers = await Promise.all([set(), set(), set(), set()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409, 409, 409]);
    const reset = await app.http.post('/auth/passwords/reset').send({ token, new_password: ada.password });
    expectProblem(reset, 400, 'invalid_token');
    await browser.get('/auth/me').expect(200);
    await signIn(NEW_PASSWORD).expect(200);
  });
});
